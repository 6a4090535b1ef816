//! One claim of documents, or one aim, and what was measured of it.

/// One claim.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) measured: f64,
    pub(crate) aim: Aim,
    /// A note for readers; empty, or shown in parentheses.
    pub(crate) note: String,
}

/// The aim of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    AtLeast(f64),
    AtMost(f64),
}

impl Row {
    /// Three digits behind the point are more than is known.
    pub(crate) fn new(
        name: impl Into<String>,
        measured: f64,
        aim: Aim,
        note: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            measured: (measured * 1000.0).round() / 1000.0,
            aim,
            note: note.into(),
        }
    }

    pub(crate) fn holds(&self) -> bool {
        match self.aim {
            Aim::AtLeast(aim) => self.measured >= aim,
            Aim::AtMost(aim) => self.measured <= aim,
        }
    }

    pub(crate) fn line(&self) -> String {
        let aim = match self.aim {
            Aim::AtLeast(aim) => format!(">={aim}"),
            Aim::AtMost(aim) => format!("<={aim}"),
        };
        let verdict = if self.holds() { "ok" } else { "short" };
        let note = match self.note.as_str() {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        format!("{} {} {aim} {verdict}{note}", self.name, self.measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whether_its_aim_is_reached() {
        let row = |measured, aim| Row {
            name: "x".to_owned(),
            measured,
            aim,
            note: String::new(),
        };
        assert_eq!(row(3.0, Aim::AtLeast(3.0)).line(), "x 3 >=3 ok");
        assert_eq!(row(2.0, Aim::AtLeast(3.0)).line(), "x 2 >=3 short");
        assert_eq!(row(0.5, Aim::AtMost(0.6)).line(), "x 0.5 <=0.6 ok");
        assert_eq!(row(0.7, Aim::AtMost(0.6)).line(), "x 0.7 <=0.6 short");
    }

    #[test]
    fn what_could_not_be_counted_never_holds() {
        let row = Row {
            name: "x".to_owned(),
            measured: f64::NAN,
            aim: Aim::AtLeast(0.0),
            note: "not there yet".to_owned(),
        };
        assert!(!row.holds());
        assert_eq!(row.line(), "x NaN >=0 short (not there yet)");
    }
}
