//! The stream of a device, and data that is trusted only once it is seen to have arrived.
//!
//! A stream that reports its work as done may still be about to write the results, to the device's memory and to the
//! host's. So nothing is taken from a report alone: buffers hold something that cannot be the data before, and are looked
//! at until they hold the data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use half::bf16;

use super::error::HpuError;
use super::synapse::{Device, DeviceMemory, Event, HostMemory, Stream};

/// In device memory before a bfloat16 result is computed, and in host memory before it is copied: NaNs that no
/// conversion gives, which is `0x7FFF`.
const DEVICE_SENTINEL: u16 = 0x7FC1;
const HOST_SENTINEL: u16 = 0x7FC2;

/// In host memory before each of two copies of bytes that may have any value.
const FILLS: [u16; 2] = [0x3CA5, !0x3CA5];

/// Work may take this many times as long as its data may be late.
const WORK_FACTOR: u32 = 20;

/// A stream, and how long it is waited for.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) stream: Stream,
    event: Event,
    timeout: Duration,
}

/// Waiting that begins short.
struct Pause(Duration);

impl Pause {
    const fn new() -> Self {
        Self(Duration::from_micros(5))
    }

    fn take(&mut self) {
        std::thread::sleep(self.0);
        self.0 = (self.0 * 2).min(Duration::from_millis(2));
    }
}

impl Link {
    pub(super) fn new(device: &Arc<Device>, timeout: Duration) -> Result<Self, HpuError> {
        Ok(Self { stream: Stream::create(device)?, event: Event::create(device)?, timeout })
    }

    /// Waits until the stream reports that all its work is done.
    pub(super) fn wait(&self, what: &str) -> Result<(), HpuError> {
        self.event.record(&self.stream)?;
        let (start, limit) = (Instant::now(), self.timeout * WORK_FACTOR);
        let mut pause = Pause::new();
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
        let (start, mut pause) = (Instant::now(), Pause::new());
        loop {
            if let Some(value) = attempt()? {
                return Ok(value);
            }
            if start.elapsed() > self.timeout {
                return Err(HpuError::NotArrived { what: what.to_owned(), waited: self.timeout });
            }
            pause.take();
        }
    }

    /// Makes the memory of a bfloat16 result ready for [`result`](Self::result).
    pub(super) fn expect_result(&self, memory: &DeviceMemory, elements: usize) -> Result<(), HpuError> {
        let word = u32::from(DEVICE_SENTINEL) << 16 | u32::from(DEVICE_SENTINEL);
        Ok(self.stream.fill(memory, word, elements.div_ceil(2))?)
    }

    /// A computed bfloat16 result, once all of it is there.
    pub(super) fn result(
        &self,
        memory: &DeviceMemory,
        elements: usize,
        host: &mut HostMemory,
        what: &str,
    ) -> Result<Vec<bf16>, HpuError> {
        let mut bytes = vec![0; elements * 2];
        self.until_arrived(what, || {
            host.fill(HOST_SENTINEL, bytes.len());
            self.stream.download((memory, 0), bytes.len(), host)?;
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

    /// Bytes that are at rest on the device, whatever they are: what two copies over complementary fills agree on.
    pub(super) fn bytes_at_rest(
        &self,
        (memory, offset): (&DeviceMemory, usize),
        len: usize,
        host: &mut HostMemory,
        what: &str,
    ) -> Result<Vec<u8>, HpuError> {
        self.until_arrived(what, || {
            let mut copies = [vec![0; len], vec![0; len]];
            for (copy, fill) in copies.iter_mut().zip(FILLS) {
                host.fill(fill, len);
                self.stream.download((memory, offset), len, host)?;
                self.wait(what)?;
                host.read(copy);
            }
            let [first, second] = copies;
            Ok((first == second).then_some(first))
        })
    }

    /// Waits until device memory holds these bytes.
    pub(super) fn until_holds(
        &self,
        (memory, offset): (&DeviceMemory, usize),
        expected: &[u8],
        host: &mut HostMemory,
        what: &str,
    ) -> Result<(), HpuError> {
        let others: Vec<u8> = expected.iter().map(|byte| !byte).collect();
        let mut found = vec![0; expected.len()];
        self.until_arrived(what, || {
            host.write(0, &others);
            self.stream.download((memory, offset), expected.len(), host)?;
            self.wait(what)?;
            host.read(&mut found);
            Ok((found == expected).then_some(()))
        })
    }
}
