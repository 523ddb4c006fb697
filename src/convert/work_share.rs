//! Splitting the work over machines.

use std::fmt;
use std::str::FromStr;

/// One of several equal shares: `I/N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkShare {
    index: usize,
    count: usize,
}

impl WorkShare {
    /// The share `index` of `count`, from 1. `None` where it does not exist.
    #[must_use]
    pub const fn new(index: usize, count: usize) -> Option<Self> {
        if index >= 1 && index <= count { Some(Self { index, count }) } else { None }
    }

    /// Its number, from 1.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index
    }

    /// How many there are.
    #[must_use]
    pub const fn count(self) -> usize {
        self.count
    }

    /// Which of the pieces of these sizes are its own: each goes to the share with the least work, the largest first,
    /// so that every machine comes to the same division.
    pub(super) fn own(self, sizes: &[u64]) -> Vec<bool> {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|piece| std::cmp::Reverse(sizes[*piece]));
        let mut loads = std::collections::BTreeSet::new();
        // No share beyond the pieces gets any, and a count from a command line may be anything.
        loads.extend((0..self.count.min(sizes.len())).map(|share| (0u64, share)));
        let mut is_own = vec![false; sizes.len()];
        for piece in order {
            if let Some((load, share)) = loads.pop_first() {
                is_own[piece] = share + 1 == self.index;
                loads.insert((load.saturating_add(sizes[piece]), share));
            }
        }
        is_own
    }
}

impl fmt::Display for WorkShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for WorkShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(index, count)| Self::new(index.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| "not a share such as 1/4; the first number counts from 1 to the second".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_one_owner_and_loads_are_even() {
        let sizes = [5, 1, 9, 4, 4, 7, 0];
        let shares: Vec<Vec<bool>> = (1..=3).map(|i| WorkShare::new(i, 3).unwrap().own(&sizes)).collect();
        for piece in 0..sizes.len() {
            assert_eq!(shares.iter().filter(|own| own[piece]).count(), 1);
        }
        for own in &shares {
            let load: u64 = sizes.iter().zip(own).filter(|(_, own)| **own).map(|(size, _)| size).sum();
            assert!((9..=11).contains(&load), "{load}");
        }
    }

    #[test]
    fn only_real_shares_parse() {
        assert_eq!("2/3".parse(), Ok(WorkShare { index: 2, count: 3 }));
        for text in ["0/3", "4/3", "1", "1/", "/2", "-1/2", "1/2/3", "1/0"] {
            assert!(text.parse::<WorkShare>().is_err(), "{text}");
        }
        let many: WorkShare = format!("{0}/{0}", usize::MAX).parse().unwrap();
        assert_eq!(many.own(&[1, 2]), [false, false]);
    }
}
