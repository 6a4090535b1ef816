//! The error behind an exception.

use core::error::Error;
use core::fmt;
use std::sync::Arc;

/// The error of a transport or of the system behind a [`Fault`](crate::Fault), shared by all calls that it fails. It becomes
/// the [`source`](Error::source) of the exception, so its text is not part of the exception's.
#[derive(Debug, Clone)]
pub struct Cause {
    error: Arc<dyn Error + Send + Sync>,
    /// Whether the text of `error` is part of the fault's, so that the cause is the source of `error`.
    is_shown: bool,
}

impl Cause {
    /// Takes an error, or a text if nothing but a text is known.
    #[must_use]
    #[cold]
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error: Box<dyn Error + Send + Sync> = error.into();
        Self {
            error: Arc::from(error),
            is_shown: false,
        }
    }

    /// Takes the source of an error whose own text is part of the fault's.
    #[must_use]
    #[cold]
    pub fn behind(error: Arc<dyn Error + Send + Sync>) -> Self {
        Self {
            error,
            is_shown: true,
        }
    }

    /// Returns the error, to be downcast; `None` if its text is part of the fault's and it has no source.
    #[must_use]
    pub fn error(&self) -> Option<&(dyn Error + 'static)> {
        match self.is_shown {
            true => self.error.source(),
            false => Some(&*self.error),
        }
    }
}

/// Two causes are equal if they are one and the same error.
impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.error, &other.error)
    }
}

impl Eq for Cause {}

/// Writes the text of the error; the alternate form (`{:#}`) writes its [`Chain`].
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error() {
            Some(error) if f.alternate() => write!(f, "{}", Chain(error)),
            Some(error) => write!(f, "{error}"),
            None => Ok(()),
        }
    }
}

/// Most sources of an error that a [`Chain`] shows. Errors of this project have three at most; the bound ends a source
/// that leads back to its error.
const MAX_SOURCES: usize = 16;

/// The text of an error and those of its sources in one line, joined by `: `, and ` …` in place of the sources beyond the
/// sixteenth.
///
/// ```
/// # extern crate zorb_giop as zorb;
/// use std::io;
/// use zorb::{Chain, CompletionStatus, SystemException, SystemExceptionKind};
///
/// let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
/// let lost = SystemException::new(SystemExceptionKind::Transient, 0, CompletionStatus::No)
///     .with_source(refused);
/// assert_eq!(lost.to_string(), "TRANSIENT (minor 0x0, COMPLETED_NO)");
/// assert_eq!(Chain(&lost).to_string(), "TRANSIENT (minor 0x0, COMPLETED_NO): connection refused");
/// ```
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "the error is all that there is")]
pub struct Chain<'a>(pub &'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        for _ in 0..MAX_SOURCES {
            let Some(error) = source else {
                return Ok(());
            };
            write!(f, ": {error}")?;
            source = error.source();
        }
        match source {
            Some(_) => f.write_str(" …"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Cyclic;

    impl fmt::Display for Cyclic {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("again")
        }
    }

    impl Error for Cyclic {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    #[test]
    fn a_source_that_leads_back_to_its_error_is_shown_a_bounded_number_of_times() {
        let expected = format!("again{} …", ": again".repeat(MAX_SOURCES));
        assert_eq!(Chain(&Cyclic).to_string(), expected);
        assert_eq!(format!("{:#}", Cause::new(Cyclic)), expected);
        assert_eq!(Cause::new(Cyclic).to_string(), "again");
    }
}
