//! A cache of the service context RTCorbaPriority, for the priorities that a thread uses.

use core::cell::RefCell;
use zorb_cdr::EncodeError;
use zorb_giop::ServiceContext;

/// The contexts that a thread caches, indexed by priority modulo this number: more than the lanes of most pools.
const KEPT: usize = 16;

thread_local! {
    static CONTEXTS: RefCell<[Option<(i16, ServiceContext)>; KEPT]> =
        const { RefCell::new([const { None }; KEPT]) };
}

/// The context of a request or reply at a priority. Allocates on a cache miss.
///
/// # Errors
/// The error of encoding it.
pub(crate) fn priority_context(priority: i16) -> Result<ServiceContext, EncodeError> {
    let at = usize::from(priority.cast_unsigned()) % KEPT;
    let kept = CONTEXTS.try_with(|contexts| {
        let mut contexts = contexts.borrow_mut();
        let Some(kept) = contexts.get_mut(at) else {
            return zorb_giop::priority_context(priority);
        };
        match kept {
            Some((of, context)) if *of == priority => Ok(context.clone()),
            _ => {
                let context = zorb_giop::priority_context(priority)?;
                *kept = Some((priority, context.clone()));
                Ok(context)
            }
        }
    });
    // The thread is ending, and its cache is gone.
    kept.unwrap_or_else(|_| zorb_giop::priority_context(priority))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_those_of_their_priorities_wherever_they_are_kept() {
        let beside = i16::try_from(KEPT).unwrap();
        for _ in 0..2 {
            for priority in [0, beside, 2 * beside, 1, i16::MAX, -1, 0] {
                let plain = zorb_giop::priority_context(priority);
                assert_eq!(priority_context(priority), plain, "{priority}");
            }
        }
    }
}
