//! Claims about the speed of calls, and the ways to measure them.

use crate::compare::{Cell, Stat};
use crate::measure::statistics::three_digits;
use crate::row::{Aim, Row};
use crate::speed::speed_session::SpeedSession;

/// A number and how it came about.
#[derive(Clone, Debug)]
pub(crate) struct SpeedNumber {
    pub(crate) value: f64,
    /// A note for readers.
    pub(crate) note: String,
}

/// A measurement of any kind.
type Measure = dyn Fn(&mut SpeedSession) -> Result<SpeedNumber, String>;

/// How a claim is measured.
pub(crate) enum How {
    /// The ratio of one cell to another, in the same round.
    Ratio { of: Cell, to: Cell, stat: Stat },
    /// In any other way.
    By(Box<Measure>),
}

/// Something that is said of our speed.
pub(crate) struct Claim {
    pub(crate) name: String,
    pub(crate) aim: Aim,
    /// The abilities that our programs need.
    pub(crate) needs: &'static [&'static str],
    pub(crate) how: How,
}

impl Claim {
    pub(crate) fn new(
        name: impl Into<String>,
        aim: Aim,
        needs: &'static [&'static str],
        how: impl Fn(&mut SpeedSession) -> Result<SpeedNumber, String> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            aim,
            needs,
            how: How::By(Box::new(how)),
        }
    }

    /// The verdict so far. A claim that cannot be measured is short, and says why.
    pub(crate) fn row(&self, session: &mut SpeedSession) -> Row {
        let lacks = session.abilities().lack(self.needs);
        let measured = if lacks.is_empty() {
            self.measure(session)
        } else {
            Err(not_there(&lacks))
        };
        let (value, note) = match measured {
            Ok(SpeedNumber { value, note }) => (value, note),
            Err(why) => (f64::NAN, why),
        };
        Row {
            name: format!("speed:{}", self.name),
            measured: rounded(value),
            aim: self.aim,
            note,
        }
    }

    fn measure(&self, session: &mut SpeedSession) -> Result<SpeedNumber, String> {
        match &self.how {
            How::By(measure) => measure(session),
            How::Ratio { of, to, stat } => ratio(session, of, to, *stat),
        }
    }
}

fn ratio(session: &SpeedSession, of: &Cell, to: &Cell, stat: Stat) -> Result<SpeedNumber, String> {
    let results = session.results();
    let find = |cell| results.and_then(|results| results.find(cell));
    let (Some(one), Some(other)) = (find(of), find(to)) else {
        return Err("was not compared".to_owned());
    };
    if let Some(lacks) = [one, other]
        .map(|asked| &asked.lacks)
        .into_iter()
        .find(|lacks| !lacks.is_empty())
    {
        return Err(not_there(lacks));
    }
    let value = one.over(other, stat).ok_or("was not measured")?;
    let number = |stat, asked: &crate::compare::Asked| {
        asked.median(stat).map_or_else(String::new, three_digits)
    };
    let unit = stat.unit();
    let mut note = format!(
        "{} {}, {} {} {unit}",
        of.peer.name,
        number(stat, one),
        to.peer.name,
        number(stat, other)
    );
    let floor = to.without_an_orb();
    if let Some(floor) = floor.as_ref().and_then(find)
        && let Some(floor) = floor.over(other, stat)
    {
        note += &format!("; sockets that block {}", three_digits(floor));
    }
    if stat == Stat::P50 {
        let ratio = one.over(other, Stat::P99);
        let ratio = ratio.map_or_else(String::new, three_digits);
        note += &format!(
            "; p99 {} and {}, ratio {ratio}",
            number(Stat::P99, one),
            number(Stat::P99, other)
        );
    }
    Ok(SpeedNumber { value, note })
}

fn not_there(lacks: &[&str]) -> String {
    format!("not there: {}", lacks.join(", "))
}

/// Rounds to thousandths: further digits are noise.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
