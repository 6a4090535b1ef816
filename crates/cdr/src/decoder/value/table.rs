//! A list that only grows, in pieces, so that growth copies nothing and leaves little unused.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Elements of a piece. The first piece grows as a `Vec` does, since most messages have few values.
const PIECE: usize = 256;

/// A list in pieces of [`PIECE`] elements.
#[derive(Clone)]
pub(super) struct Table<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

impl<T> Table<T> {
    pub(super) const fn new() -> Self {
        Self {
            pieces: Vec::new(),
            len: 0,
        }
    }

    /// Appends an element and returns its index.
    pub(super) fn push(&mut self, element: T) -> usize {
        let index = self.len;
        match self.pieces.last_mut() {
            Some(last) if last.len() < PIECE => last.push(element),
            Some(_) => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(element);
                self.pieces.push(piece);
            }
            None => self.pieces.push(Vec::from([element])),
        }
        self.len = index.saturating_add(1);
        index
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.pieces.get(index / PIECE)?.get(index % PIECE)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.pieces.get_mut(index / PIECE)?.get_mut(index % PIECE)
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.pieces.last()?.last()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.pieces.iter_mut().flatten()
    }

    /// Returns the index of the element that compares equal. The elements are in ascending order.
    pub(super) fn find(&self, compare: impl Fn(&T) -> Ordering) -> Option<usize> {
        let is_not_behind = |piece: &Vec<T>| {
            let first = piece.first().map(&compare);
            first.is_some_and(|first| first != Ordering::Greater)
        };
        let piece = self.pieces.partition_point(is_not_behind).checked_sub(1)?;
        let within = self.pieces.get(piece)?.binary_search_by(compare).ok()?;
        piece.checked_mul(PIECE)?.checked_add(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_found_and_no_other() {
        let mut table = Table::<usize>::new();
        for n in 0..1_000_usize {
            assert_eq!(table.find(|other| other.cmp(&(2 * n))), None);
            assert_eq!(table.push(2 * n), n);
        }
        for n in 0..1_000_usize {
            assert_eq!(table.find(|other| other.cmp(&(2 * n))), Some(n));
            assert_eq!(table.find(|other| other.cmp(&(2 * n + 1))), None);
            assert_eq!(table.get(n), Some(&(2 * n)));
        }
        assert_eq!((table.last(), table.get(1_000)), (Some(&1_998), None));
        assert_eq!(table.iter_mut().count(), 1_000);
    }
}
