//! How often each magnitude of bfloat16 occurs, exactly.

use half::bf16;

/// Magnitudes of one octave.
const OCTAVE: usize = 128;
/// Octaves of bfloat16 without its sign; the last one is not finite.
const OCTAVES: usize = 256;

/// The magnitudes of any number of bfloat16 values. What a scale does to the values is known from it to the last one.
///
/// An octave takes its kilobyte when its first value comes. Values of a model lie in thirty of them.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    octaves: Vec<Option<Box<[u64; OCTAVE]>>>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { octaves: vec![None; OCTAVES] }
    }
}

impl Histogram {
    /// Counts finite values.
    pub(super) fn add(&mut self, values: &[bf16]) {
        for value in values {
            let bits = usize::from(value.to_bits() & 0x7FFF);
            let octave = self.octaves[bits / OCTAVE].get_or_insert_with(|| Box::new([0; OCTAVE]));
            octave[bits % OCTAVE] += 1;
        }
    }

    /// Adds what another one has counted.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.octaves.iter_mut().zip(&other.octaves) {
            let Some(other) = other else { continue };
            let own = own.get_or_insert_with(|| Box::new([0; OCTAVE]));
            own.iter_mut().zip(other.iter()).for_each(|(own, other)| *own += other);
        }
    }

    /// The magnitudes that occur, ascending, with how often each does.
    pub(super) fn magnitudes(&self) -> impl Iterator<Item = (bf16, u64)> {
        self.octaves.iter().enumerate().flat_map(|(at, octave)| {
            let counts = octave.iter().flat_map(|octave| octave.iter()).enumerate();
            counts
                .filter(|(_, count)| **count > 0)
                .map(move |(step, count)| (bf16::from_bits((at * OCTAVE + step) as u16), *count))
        })
    }

    /// All values.
    pub(super) fn elements(&self) -> u64 {
        self.magnitudes().map(|(_, count)| count).sum()
    }

    /// The largest magnitude, 0 where there are no values.
    pub(super) fn amax(&self) -> f32 {
        self.magnitudes().last().map_or(0.0, |(magnitude, _)| magnitude.to_f32())
    }

    /// The smallest magnitude that at least `percent` of the values do not exceed; 0 where there are no values.
    pub(super) fn percentile(&self, percent: f64) -> f32 {
        let needed = (percent / 100.0 * self.elements() as f64).ceil() as u64;
        let mut seen = 0;
        for (magnitude, count) in self.magnitudes() {
            seen += count;
            if seen >= needed {
                return magnitude.to_f32();
            }
        }
        self.amax()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f32]) -> Histogram {
        let values: Vec<bf16> = values.iter().map(|x| bf16::from_f32(*x)).collect();
        let mut histogram = Histogram::default();
        histogram.add(&values);
        histogram
    }

    #[test]
    fn counts_magnitudes_without_their_sign() {
        let mut histogram = of(&[1.0, -1.0, 0.0, -0.0, 2.5, 1e-40, -3.0e38]);
        histogram.merge(&of(&[2.5, 7.0]));
        let found: Vec<(f32, u64)> = histogram.magnitudes().map(|(x, n)| (x.to_f32(), n)).collect();
        let denormal = bf16::from_f32(1e-40).to_f32();
        let large = bf16::from_f32(3.0e38).to_f32();
        assert_eq!(found, [(0.0, 2), (denormal, 1), (1.0, 2), (2.5, 2), (7.0, 1), (large, 1)]);
        assert_eq!((histogram.elements(), histogram.amax()), (9, large));
        assert_eq!((of(&[]).elements(), of(&[]).amax()), (0, 0.0));
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        // 1 to 200, all exact in bfloat16.
        let histogram = of(&(1..=200).map(|x| x as f32).collect::<Vec<_>>());
        for (percent, expected) in [(100.0, 200.0), (99.5, 199.0), (99.4, 199.0), (50.0, 100.0), (0.1, 1.0)] {
            assert_eq!(histogram.percentile(percent), expected, "{percent}");
        }
    }
}
