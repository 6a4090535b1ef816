//! The members of a union that the values of its discriminator select.

use std::collections::HashSet;

use crate::model::{Basic, Case, DefId, DefKind, Model, Type, Union, Value};

/// The selections of a union.
#[derive(Debug)]
pub(crate) struct Selection<'a> {
    /// The members with their selectors, in the order of the text.
    pub(crate) members: Vec<(&'a Case, Selector)>,
    /// The values that select no member, if there are any.
    pub(crate) unset: Option<Unset>,
}

/// The values that select a member.
#[derive(Debug)]
pub(crate) enum Selector {
    /// This value alone.
    One(Value),
    /// Several values, at least two.
    Several(Vec<Value>),
    /// Every value that selects no other member.
    Others,
}

/// The values that select no member.
#[derive(Debug)]
pub(crate) enum Unset {
    /// This value alone.
    One(Value),
    /// Several values.
    Others,
}

impl<'a> Selection<'a> {
    pub(crate) fn of(model: &Model, union: &'a Union) -> Self {
        let mut left = Left::of(model, &union.discriminator);
        let cases = union.cases.iter().filter(|case| !case.default);
        left.take(cases.flat_map(|case| &case.labels));
        let members = union.cases.iter().map(|case| {
            let selector = match (case.default, &case.labels[..]) {
                (true, _) => match left.only() {
                    Some(value) => Selector::One(value),
                    None => Selector::Others,
                },
                (false, [one]) => Selector::One(one.clone()),
                (false, several) => Selector::Several(several.to_vec()),
            };
            (case, selector)
        });
        let members = members.collect();
        let unset = if left.is_empty() || union.cases.iter().any(|case| case.default) {
            None
        } else {
            Some(left.only().map_or(Unset::Others, Unset::One))
        };
        Self { members, unset }
    }

    /// The lowest value of the discriminator that no member but the default one has as a label.
    pub(crate) fn unlabelled(&self, model: &Model, discriminator: &Type) -> Option<Value> {
        let mut left = Left::of(model, discriminator);
        let members = self.members.iter().filter(|(case, _)| !case.default);
        left.take(members.flat_map(|(case, _)| &case.labels));
        match left {
            Left::Named(values) => values.into_iter().next(),
            Left::Counted(count, taken) => {
                let mut free = (0..i128::try_from(count).ok()?).filter(|it| !taken.contains(it));
                let value = free.next()?;
                Some(match model.unaliased(discriminator) {
                    Type::Basic(Basic::Char) => Value::Char(char::from(u8::try_from(value).ok()?)),
                    Type::Basic(Basic::WideChar) => Value::WideChar(u32::try_from(value).ok()?),
                    _ => Value::Integer(value),
                })
            }
        }
    }
}

/// The values of a discriminator without a label.
enum Left {
    /// The values of a boolean or an enum.
    Named(Vec<Value>),
    /// For a number or character: the number of all values, and the values with labels.
    Counted(u128, HashSet<i128>),
}

impl Left {
    fn of(model: &Model, discriminator: &Type) -> Self {
        match model.unaliased(discriminator) {
            Type::Basic(Basic::Boolean) => {
                Self::Named(vec![Value::Boolean(false), Value::Boolean(true)])
            }
            Type::Named(id) => Self::Named(enumerators(model, *id)),
            Type::Basic(basic) => {
                let bits = match basic {
                    Basic::Octet | Basic::Int8 | Basic::Char => 8,
                    Basic::Short | Basic::UShort | Basic::WideChar => 16,
                    Basic::Long | Basic::ULong => 32,
                    _ => 64,
                };
                Self::Counted(1 << bits, HashSet::new())
            }
            // Reported already.
            _ => Self::Named(Vec::new()),
        }
    }

    fn take<'l>(&mut self, labels: impl Iterator<Item = &'l Value>) {
        match self {
            Self::Named(values) => {
                let named = |value: &Value| match value {
                    Value::Enumerator(id) => Some(id.0),
                    Value::Boolean(value) => Some(usize::from(*value)),
                    _ => None,
                };
                // Removed in one pass, as an enum may have many thousands of enumerators.
                let taken: HashSet<usize> = labels.filter_map(named).collect();
                values.retain(|value| named(value).is_none_or(|value| !taken.contains(&value)));
            }
            Self::Counted(_, taken) => {
                taken.extend(labels.filter_map(|label| match label {
                    Value::Integer(number) => Some(*number),
                    Value::Char(c) => Some(i128::from(u32::from(*c))),
                    Value::WideChar(c) => Some(i128::from(*c)),
                    _ => None,
                }));
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Named(values) => values.is_empty(),
            Self::Counted(count, taken) => taken.len() as u128 >= *count,
        }
    }

    /// The only value without a label, if there is exactly one and it has a name.
    fn only(&self) -> Option<Value> {
        match self {
            Self::Named(values) => match &values[..] {
                [one] => Some(one.clone()),
                _ => None,
            },
            Self::Counted(..) => None,
        }
    }
}

fn enumerators(model: &Model, id: DefId) -> Vec<Value> {
    match &model.def(id).kind {
        DefKind::Enum(enumerators) => enumerators
            .iter()
            .map(|&it| Value::Enumerator(it))
            .collect(),
        _ => Vec::new(),
    }
}
