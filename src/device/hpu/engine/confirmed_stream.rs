//! The stream of a device, and data that is trusted only once it is seen to have arrived.
//!
//! A stream that reports its work as done may still be about to write the results, to the device's memory and to the
//! host's. So nothing is taken from a report alone: buffers hold something that cannot be the data before, and are looked
//! at until they hold the data. And no copy is left on its way: one that arrives late would overwrite what comes next, so
//! each is followed by one of a token, as copies of a stream are in order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use half::bf16;

use crate::device::hpu::error::HpuError;
use crate::device::hpu::synapse::{AcquiredDevice, DeviceMemory, Event, HostMemory, Stream};

/// The marks in device memory before a bfloat16 result is computed, and in host memory before it is copied: NaNs that no
/// conversion gives, which is `0x7FFF`.
const DEVICE_SENTINEL: u16 = 0x7FC1;
const HOST_SENTINEL: u16 = 0x7FC2;

/// The marks of a result that is not there yet, on the device and in host memory.
pub(crate) const SENTINELS: [u16; 2] = [DEVICE_SENTINEL, HOST_SENTINEL];

/// The fills of host memory before each of two copies of bytes that may have any value.
const FILLS: [u16; 2] = [0x3CA5, !0x3CA5];

/// Bytes of the token.
const TOKEN_BYTES: usize = 4096;

/// Work may take this many times as long as its data may be late.
const WORK_FACTOR: u32 = 20;

/// A stream, and how long it is waited for.
#[derive(Debug)]
pub(crate) struct ConfirmedStream {
    // Fields are dropped in order: the stream, which waits for its work, before the memory that the work uses.
    pub(super) raw: Stream,
    event: Event,
    token: Token,
    timeout: Duration,
}

/// A token: a word, over and over, that goes to the device and comes back.
#[derive(Debug)]
struct Token {
    word: u32,
    up: HostMemory,
    memory: DeviceMemory,
    down: HostMemory,
}

impl Token {
    fn new(device: &Arc<AcquiredDevice>) -> Result<Self, HpuError> {
        let failed = |failure| HpuError::of_allocation("the token of a stream", TOKEN_BYTES, failure);
        let host = || HostMemory::allocate(device, TOKEN_BYTES).map_err(failed);
        let memory = DeviceMemory::allocate(device, TOKEN_BYTES).map_err(failed)?;
        Ok(Self { word: 0, up: host()?, memory, down: host()? })
    }
}

/// Waits that begin short and double.
struct Backoff(Duration);

impl Backoff {
    const fn new() -> Self {
        Self(Duration::from_micros(5))
    }

    fn take(&mut self) {
        std::thread::sleep(self.0);
        self.0 = (self.0 * 2).min(Duration::from_millis(2));
    }
}

/// How often a 16-bit word occurs.
fn count_of(bytes: &[u8], word: u16) -> usize {
    bytes.as_chunks::<2>().0.iter().filter(|bytes| u16::from_le_bytes(**bytes) == word).count()
}

impl ConfirmedStream {
    pub(crate) fn new(device: &Arc<AcquiredDevice>, timeout: Duration) -> Result<Self, HpuError> {
        let (raw, event) = (Stream::create(device)?, Event::create(device)?);
        let mut confirmed = Self { raw, event, token: Token::new(device)?, timeout };
        confirmed.raw.fill(&confirmed.token.memory, 0, TOKEN_BYTES / 4)?;
        confirmed.fence()?;
        Ok(confirmed)
    }

    /// Waits until everything that was uploaded is on the device: it is followed by a new token, which has to come back.
    pub(crate) fn fence(&mut self) -> Result<(), HpuError> {
        self.token.word = self.token.word.wrapping_add(1);
        self.token.up.write(0, &self.token.word.to_le_bytes().repeat(TOKEN_BYTES / 4));
        self.raw.upload(&self.token.up, TOKEN_BYTES, (&self.token.memory, 0))?;
        let (start, mut pause) = (Instant::now(), Backoff::new());
        while !self.copies_have_landed("an upload")? {
            self.pause(start, &mut pause, "an upload")?;
        }
        Ok(())
    }

    /// Waits until every copy to the host has arrived, by way of one more, of the token. Returns whether the device's is
    /// the newest.
    fn copies_have_landed(&mut self, what: &str) -> Result<bool, HpuError> {
        // Neither this token nor the one before.
        let other = !self.token.word;
        self.token.down.write(0, &other.to_le_bytes().repeat(TOKEN_BYTES / 4));
        self.raw.download((&self.token.memory, 0), TOKEN_BYTES, &self.token.down)?;
        self.wait(what)?;
        let mut bytes = vec![0; TOKEN_BYTES];
        self.until_arrived(what, || {
            self.token.down.read(&mut bytes);
            let words = bytes.as_chunks::<4>().0;
            let has_landed = words.iter().all(|word| u32::from_le_bytes(*word) != other);
            Ok(has_landed.then(|| words.iter().all(|word| u32::from_le_bytes(*word) == self.token.word)))
        })
    }

    /// Waits until the stream reports that all its work is done.
    pub(crate) fn wait(&self, what: &str) -> Result<(), HpuError> {
        self.event.record(&self.raw)?;
        let (start, limit) = (Instant::now(), self.timeout * WORK_FACTOR);
        let mut pause = Backoff::new();
        while !self.event.is_reached()? {
            if start.elapsed() > limit {
                return Err(HpuError::NotDone { what: what.to_owned(), waited: limit });
            }
            pause.take();
        }
        Ok(())
    }

    /// Repeats `attempt` until it gives something, as long as data may be late.
    fn until_arrived<T>(
        &self,
        what: &str,
        mut attempt: impl FnMut() -> Result<Option<T>, HpuError>,
    ) -> Result<T, HpuError> {
        let (start, mut pause) = (Instant::now(), Backoff::new());
        loop {
            if let Some(value) = attempt()? {
                return Ok(value);
            }
            self.pause(start, &mut pause, what)?;
        }
    }

    /// Makes the memory of a bfloat16 result ready for [`result`](Self::result).
    pub(crate) fn expect_result(&self, memory: &DeviceMemory, elements: usize) -> Result<(), HpuError> {
        let word = u32::from(DEVICE_SENTINEL) << 16 | u32::from(DEVICE_SENTINEL);
        Ok(self.raw.fill(memory, word, elements.div_ceil(2))?)
    }

    /// A computed bfloat16 result, once all of it is there.
    pub(crate) fn result(
        &self,
        memory: &DeviceMemory,
        elements: usize,
        host: &mut HostMemory,
        what: &str,
    ) -> Result<Vec<bf16>, HpuError> {
        let mut bytes = vec![0; elements * 2];
        self.until_arrived(what, || {
            host.fill(HOST_SENTINEL, bytes.len());
            self.raw.download((memory, 0), bytes.len(), host)?;
            self.wait(what)?;
            // The copy has been made, so it arrives; what it took may have been too early.
            let values = self.until_arrived(what, || {
                host.read(&mut bytes);
                let words = bytes.as_chunks::<2>().0.iter();
                let values: Vec<u16> = words.map(|word| u16::from_le_bytes(*word)).collect();
                Ok((!values.contains(&HOST_SENTINEL)).then_some(values))
            })?;
            let is_whole = !values.contains(&DEVICE_SENTINEL);
            Ok(is_whole.then(|| values.into_iter().map(bf16::from_bits).collect()))
        })
    }

    /// What one copy gives of a bfloat16 result as soon as the stream reports the launch, and then the copy, as done: how
    /// many elements had not been computed, and how many had not been copied.
    pub(crate) fn missing_at_report(
        &mut self,
        memory: &DeviceMemory,
        elements: usize,
        host: &mut HostMemory,
        what: &str,
    ) -> Result<(usize, usize), HpuError> {
        let mut bytes = vec![0; elements * 2];
        host.fill(HOST_SENTINEL, bytes.len());
        self.wait(what)?;
        self.raw.download((memory, 0), bytes.len(), host)?;
        self.wait(what)?;
        host.read(&mut bytes);
        let not_copied = count_of(&bytes, HOST_SENTINEL);
        // The copy is not left on its way; what it takes was there when it began.
        self.copies_have_landed(what)?;
        host.read(&mut bytes);
        Ok((count_of(&bytes, DEVICE_SENTINEL), not_copied))
    }

    /// Bytes that are at rest on the device, whatever they are: what two copies over complementary fills agree on.
    pub(crate) fn bytes_at_rest(
        &mut self,
        from: (&DeviceMemory, usize),
        len: usize,
        host: &mut HostMemory,
        what: &str,
    ) -> Result<Vec<u8>, HpuError> {
        let (start, mut pause) = (Instant::now(), Backoff::new());
        loop {
            let mut copies = [vec![0; len], vec![0; len]];
            for (copy, fill) in copies.iter_mut().zip(FILLS) {
                host.fill(fill, len);
                self.copy(from, copy, host, what)?;
            }
            let [first, second] = copies;
            if first == second {
                return Ok(first);
            }
            self.pause(start, &mut pause, what)?;
        }
    }

    /// Waits until device memory holds these bytes.
    pub(crate) fn until_holds(
        &mut self,
        from: (&DeviceMemory, usize),
        expected: &[u8],
        host: &mut HostMemory,
        what: &str,
    ) -> Result<(), HpuError> {
        let others: Vec<u8> = expected.iter().map(|byte| !byte).collect();
        let mut found = vec![0; expected.len()];
        let (start, mut pause) = (Instant::now(), Backoff::new());
        loop {
            host.write(0, &others);
            self.copy(from, &mut found, host, what)?;
            if found == expected {
                return Ok(());
            }
            self.pause(start, &mut pause, what)?;
        }
    }

    /// One copy to the host, after which none is on its way.
    fn copy(
        &mut self,
        from: (&DeviceMemory, usize),
        to: &mut [u8],
        host: &HostMemory,
        what: &str,
    ) -> Result<(), HpuError> {
        self.raw.download(from, to.len(), host)?;
        self.copies_have_landed(what)?;
        host.read(to);
        Ok(())
    }

    /// Waits a little, as long as data may be late.
    fn pause(&self, start: Instant, pause: &mut Backoff, what: &str) -> Result<(), HpuError> {
        if start.elapsed() > self.timeout {
            return Err(HpuError::NotArrived { what: what.to_owned(), waited: self.timeout });
        }
        pause.take();
        Ok(())
    }
}
