//! What an object has said of the layouts of its operations.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

/// Answers that a binding keeps. One that takes the place of another is no fault: the object is asked again.
const MAX_LAYOUTS: usize = 64;

/// The answers by the hash of the layout; allocated by the first. They hold for the connection of their binding alone: a server that is
/// restarted as something else is asked anew.
#[derive(Debug, Default)]
pub(crate) struct Layouts(OnceLock<Box<[AtomicU64; MAX_LAYOUTS]>>);

impl Layouts {
    /// Whether the object has an operation of this layout; `None` if it was not asked.
    pub(crate) fn get(&self, layout: u64) -> Option<bool> {
        let kept = self.0.get()?.get(place(layout))?.load(Ordering::Relaxed);
        match kept {
            _ if kept == entry(layout, true) => Some(true),
            _ if kept == entry(layout, false) => Some(false),
            _ => None,
        }
    }

    pub(crate) fn set(&self, layout: u64, answer: bool) {
        let all = self
            .0
            .get_or_init(|| Box::new([const { AtomicU64::new(0) }; MAX_LAYOUTS]));
        if let Some(kept) = all.get(place(layout)) {
            kept.store(entry(layout, answer), Ordering::Relaxed);
        }
    }
}

/// Another binding has answers of its own.
impl Clone for Layouts {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The highest bits, which [`entry`] does not need.
fn place(layout: u64) -> usize {
    usize::try_from(layout >> 58).unwrap_or_default()
}

/// A layout with the answer in place of its highest bit, by which it is found.
const fn entry(layout: u64, answer: bool) -> u64 {
    (layout << 1) | answer as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_by_layout_and_another_binding_has_none() {
        let layouts = Layouts::default();
        assert_eq!(layouts.get(7), None);
        for (layout, answer) in [(7, true), (u64::MAX, false), (1 << 60, true)] {
            layouts.set(layout, answer);
        }
        assert_eq!(
            (layouts.get(7), layouts.get(u64::MAX)),
            (Some(true), Some(false))
        );
        assert_eq!((layouts.get(1 << 60), layouts.get(9)), (Some(true), None));
        layouts.set(7, false);
        assert_eq!(layouts.get(7), Some(false));
        // It takes the place of the other one.
        layouts.set(9, true);
        assert_eq!((layouts.get(7), layouts.get(9)), (None, Some(true)));
        assert_eq!(layouts.clone().get(9), None);
    }
}
