//! Constraints in the extended trader constraint language, by which events are filtered.
//!
//! ```
//! use zorb::Any;
//! use zorb_events::etcl::Constraint;
//!
//! let constraint: Constraint = "$ > 3 and $ < 10 or 'x' ~ 'text'".parse()?;
//! assert!(constraint.matches(&Any::new(&4_i32)?));
//! let wrong = "$ >".parse::<Constraint>().unwrap_err();
//! assert_eq!(wrong.to_string(), "expected a value at octet 3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | text | meaning |
//! |---|---|
//! | `a or b`, `a and b`, `not a`, `(a)` | as they say |
//! | `==`, `!=`, `<`, `<=`, `>`, `>=` | comparisons of numbers, texts or booleans; an enumerator is its name |
//! | `a ~ b` | whether `a` is part of the text `b` |
//! | `a in b` | whether the sequence or array `b` has an element `a` |
//! | `+`, `-`, `*`, `/` | numbers |
//! | `exist $.a` | whether there is such a part |
//! | `default $.u` | whether the union `u` has a member by its default label |
//! | `'text'`, `TRUE`, `FALSE`, `1.5e3` | literals; `\'` and `\\` in text |
//! | `$` | the event |
//! | `.member`, `.3`, `[2]`, `.(4)`, `(name)` | a member by name or place, an element, the member of a union by label, the value of a name |
//! | `._length`, `._d`, `._type_id`, `._repos_id` | length of a sequence, discriminator, name and id of the type |
//! | `$domain_name`, `$type_name`, `$event_name` | the fixed header of a structured event |
//! | `$name`, `name` | a property of a structured event, in its variable header or its filterable data, or of an event that is a list of properties; else a member of the event |
//! | `$curtime` | now, in units of 100 ns since 15 October 1582 |
//!
//! A part that is not there, or of a type that an operator does not take, makes the constraint false, except under `exist`. Evaluation
//! costs no more than [`MAX_STEPS`] steps, of which a large part counts as several.
//!
//! Source: OMG Notification Service Specification 1.1, Default Filter Constraint Language; Trading Object Service 1.0, appendix B.

use core::cell::Cell;
use core::cmp::Ordering;
use core::str::FromStr;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, multispace0};
use nom::combinator::{not, opt, peek, recognize, value};
use nom::error::{Error, ErrorKind};
use nom::multi::many0;
use nom::sequence::{delimited, pair, preceded};
use nom::{IResult, Parser};
use std::time::{SystemTime, UNIX_EPOCH};
use zorb::{Any, Char, TcKind};

/// Octets of a constraint.
pub const MAX_CONSTRAINT_OCTETS: usize = 16 * 1024;
/// Constraints within each other.
pub const MAX_NESTING: u32 = 64;
/// Operators of a constraint in all.
pub const MAX_OPERATORS: u32 = 1_000;
/// Steps of an evaluation: operators, members that are passed, elements that are compared. Where a part of an event is copied or
/// passed, [`OCTETS_OF_A_STEP`] of its octets are one more.
pub const MAX_STEPS: u32 = 10_000;
/// Octets of a part of an event that cost as much as a step.
pub const OCTETS_OF_A_STEP: usize = 4_096;

/// Units of 100 ns between 15 October 1582 and 1970.
const UNITS_BEFORE_1970: i128 = 0x01b2_1dd2_1381_4000;

/// A constraint, ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint(Node);

/// Why a text is no constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// It is none from there on.
    #[error("expected a value at octet {at}")]
    Malformed {
        /// The place, from 0.
        at: usize,
    },
    /// It goes on behind its end.
    #[error("expected the end at octet {at}")]
    GoesOn {
        /// The place, from 0.
        at: usize,
    },
    /// It is longer than [`MAX_CONSTRAINT_OCTETS`].
    #[error("expected at most {MAX_CONSTRAINT_OCTETS} octets")]
    TooLong,
    /// It has more than [`MAX_NESTING`] constraints within each other, or more than [`MAX_OPERATORS`].
    #[error("expected at most {MAX_NESTING} levels and {MAX_OPERATORS} operators")]
    TooComplex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    IsPart,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Binary(Operator, Box<Self>, Box<Self>),
    Not(Box<Self>),
    Negative(Box<Self>),
    Exist(Path),
    Default(Path),
    Literal(Value),
    Path(Path),
}

/// What a path begins with.
#[derive(Clone, Debug, PartialEq)]
enum Start {
    Event,
    Named(String),
}

#[derive(Clone, Debug, PartialEq)]
struct Path {
    start: Start,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(String),
    Place(usize),
    Element(usize),
    /// The member of a union by the label; `None` for the default.
    Label(Option<Value>),
    Property(String),
    Length,
    Discriminator,
    TypeName,
    TypeId,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Truth(bool),
    Whole(i128),
    Real(f64),
    Text(String),
}

type Parsed<'t, T> = IResult<&'t str, T>;

/// The parser. It knows how deep it is.
struct Grammar {
    depth: Cell<u32>,
    operators: Cell<u32>,
    is_too_complex: Cell<bool>,
}

/// Whether a character may be in an identifier.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn space(text: &str) -> Parsed<'_, &str> {
    multispace0(text)
}

/// A word that is no part of a longer one.
fn keyword<'t>(word: &'static str) -> impl Parser<&'t str, Output = (), Error = Error<&'t str>> {
    let behind = not(peek(take_while1(is_part)));
    delimited(space, value((), (tag(word), behind)), space)
}

fn symbol<'t>(
    text: &'static str,
) -> impl Parser<&'t str, Output = &'t str, Error = Error<&'t str>> {
    delimited(space, tag(text), space)
}

fn identifier(text: &str) -> Parsed<'_, String> {
    let escaped = opt(char('\\'));
    let first = take_while1(|c: char| c.is_alphabetic() || c == '_');
    let (rest, name) = preceded(escaped, recognize((first, take_while(is_part)))).parse(text)?;
    Ok((rest, name.to_owned()))
}

fn text_literal(text: &str) -> Parsed<'_, String> {
    let (mut rest, _) = char('\'')(text)?;
    let mut literal = String::new();
    loop {
        let mut characters = rest.chars();
        match characters.next() {
            Some('\'') => return Ok((characters.as_str(), literal)),
            Some('\\') => match characters.next() {
                Some(c @ ('\'' | '\\')) => literal.push(c),
                Some(c) => literal.extend(['\\', c]),
                None => return Err(nom::Err::Error(Error::new(text, ErrorKind::Escaped))),
            },
            Some(c) => literal.push(c),
            None => return Err(nom::Err::Error(Error::new(text, ErrorKind::Char))),
        }
        rest = characters.as_str();
    }
}

fn number(text: &str) -> Parsed<'_, Value> {
    let exponent = (
        alt((char('e'), char('E'))),
        opt(alt((char('+'), char('-')))),
        digit1,
    );
    let fraction = pair(char('.'), take_while(|c: char| c.is_ascii_digit()));
    let begun = recognize((digit1, opt(fraction), opt(exponent)));
    let exponent = (
        alt((char('e'), char('E'))),
        opt(alt((char('+'), char('-')))),
        digit1,
    );
    let point_first = recognize((char('.'), digit1, opt(exponent)));
    let (rest, digits) = alt((begun, point_first)).parse(text)?;
    let failed = || nom::Err::Error(Error::new(text, ErrorKind::Digit));
    let number = match digits.parse::<i128>() {
        Ok(whole) => Value::Whole(whole),
        Err(_) => Value::Real(digits.parse().map_err(|_| failed())?),
    };
    Ok((rest, number))
}

fn place(text: &str) -> Parsed<'_, usize> {
    let (rest, digits) = digit1(text)?;
    let failed = |_| nom::Err::Error(Error::new(text, ErrorKind::Digit));
    Ok((rest, digits.parse().map_err(failed)?))
}

fn label(text: &str) -> Parsed<'_, Option<Value>> {
    let negative = preceded(char('-'), number).map(|number| match number {
        Value::Whole(whole) => Value::Whole(whole.saturating_neg()),
        other => other,
    });
    let word = |text| {
        let (rest, word) = identifier(text)?;
        let label = match word.as_str() {
            "TRUE" => Value::Truth(true),
            "FALSE" => Value::Truth(false),
            _ => Value::Text(word),
        };
        Ok((rest, label))
    };
    opt(alt((number, negative, text_literal.map(Value::Text), word))).parse(text)
}

fn step(text: &str) -> Parsed<'_, Step> {
    let named = |text| {
        let (rest, name) = identifier(text)?;
        let step = match name.as_str() {
            "_length" => Step::Length,
            "_d" => Step::Discriminator,
            "_type_id" => Step::TypeName,
            "_repos_id" => Step::TypeId,
            _ => Step::Member(name),
        };
        Ok((rest, step))
    };
    let label = delimited(char('('), label, char(')')).map(Step::Label);
    alt((
        preceded(char('.'), alt((named, place.map(Step::Place), label))),
        delimited(char('['), place, char(']')).map(Step::Element),
        delimited(char('('), identifier, char(')')).map(Step::Property),
    ))
    .parse(text)
}

fn path(text: &str) -> Parsed<'_, Path> {
    let start = preceded(char('$'), opt(identifier));
    let (rest, (start, steps)) = delimited(space, pair(start, many0(step)), space).parse(text)?;
    let start = start.map_or(Start::Event, Start::Named);
    Ok((rest, Path { start, steps }))
}

/// Words that are no names.
const KEYWORDS: [&str; 8] = [
    "and", "default", "exist", "in", "not", "or", "FALSE", "TRUE",
];

/// A name without a `$`, as the trader's language has it.
fn plain_name(text: &str) -> Parsed<'_, Path> {
    let (begin, _) = space(text)?;
    let (rest, name) = identifier(begin)?;
    if !begin.starts_with('\\') && KEYWORDS.contains(&&*name) {
        return Err(nom::Err::Error(Error::new(begin, ErrorKind::Alpha)));
    }
    let (rest, _) = space(rest)?;
    let (start, steps) = (Start::Named(name), Vec::new());
    Ok((rest, Path { start, steps }))
}

impl Grammar {
    /// Operators of one level, from left to right.
    fn chain<'t>(
        &self,
        text: &'t str,
        operator: impl Fn(&'t str) -> Parsed<'t, Operator>,
        operand: impl Fn(&Self, &'t str) -> Parsed<'t, Node>,
    ) -> Parsed<'t, Node> {
        let (mut rest, mut left) = operand(self, text)?;
        while let Ok((behind, operator)) = operator(rest) {
            let operators = self.operators.get().saturating_add(1);
            self.operators.set(operators);
            self.check(rest, operators <= MAX_OPERATORS)?;
            let (behind, right) = operand(self, behind)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
            rest = behind;
        }
        Ok((rest, left))
    }

    fn check<'t>(&self, text: &'t str, is_within: bool) -> Result<(), nom::Err<Error<&'t str>>> {
        if !is_within {
            self.is_too_complex.set(true);
            return Err(nom::Err::Failure(Error::new(text, ErrorKind::TooLarge)));
        }
        Ok(())
    }

    /// Parses what is within.
    fn within<'t, T>(
        &self,
        text: &'t str,
        parse: impl Fn(&Self, &'t str) -> Parsed<'t, T>,
    ) -> Parsed<'t, T> {
        self.depth.set(self.depth.get().saturating_add(1));
        self.check(text, self.depth.get() <= MAX_NESTING)?;
        let parsed = parse(self, text);
        self.depth.set(self.depth.get().saturating_sub(1));
        parsed
    }

    fn or<'t>(&self, text: &'t str) -> Parsed<'t, Node> {
        let operator = |text| value(Operator::Or, keyword("or")).parse(text);
        self.chain(text, operator, Self::and)
    }

    fn and<'t>(&self, text: &'t str) -> Parsed<'t, Node> {
        let operator = |text| value(Operator::And, keyword("and")).parse(text);
        self.chain(text, operator, Self::comparison)
    }

    fn comparison<'t>(&self, text: &'t str) -> Parsed<'t, Node> {
        let operator = |text| {
            alt((
                value(Operator::Equal, symbol("==")),
                value(Operator::Unequal, symbol("!=")),
                value(Operator::AtMost, symbol("<=")),
                value(Operator::AtLeast, symbol(">=")),
                value(Operator::Less, symbol("<")),
                value(Operator::Greater, symbol(">")),
                value(Operator::In, keyword("in")),
                value(Operator::IsPart, symbol("~")),
            ))
            .parse(text)
        };
        let (rest, left) = self.sum(text)?;
        let Ok((rest, operator)) = operator(rest) else {
            return Ok((rest, left));
        };
        let (rest, right) = self.sum(rest)?;
        Ok((
            rest,
            Node::Binary(operator, Box::new(left), Box::new(right)),
        ))
    }

    fn sum<'t>(&self, text: &'t str) -> Parsed<'t, Node> {
        let operator = |text| {
            alt((
                value(Operator::Add, symbol("+")),
                value(Operator::Subtract, symbol("-")),
            ))
            .parse(text)
        };
        self.chain(text, operator, Self::product)
    }

    fn product<'t>(&self, text: &'t str) -> Parsed<'t, Node> {
        let operator = |text| {
            alt((
                value(Operator::Multiply, symbol("*")),
                value(Operator::Divide, symbol("/")),
            ))
            .parse(text)
        };
        self.chain(text, operator, Self::factor)
    }

    fn factor<'t>(&self, text: &'t str) -> Parsed<'t, Node> {
        if let Ok((rest, ())) = keyword("not").parse(text) {
            let (rest, node) = self.within(rest, Self::factor)?;
            return Ok((rest, Node::Not(Box::new(node))));
        }
        if let Ok((rest, ())) = keyword("exist").parse(text) {
            let (rest, path) = alt((path, plain_name)).parse(rest)?;
            return Ok((rest, Node::Exist(path)));
        }
        if let Ok((rest, ())) = keyword("default").parse(text) {
            let (rest, path) = path(rest)?;
            return Ok((rest, Node::Default(path)));
        }
        if let Ok((rest, _)) = symbol("-").parse(text) {
            let (rest, node) = self.within(rest, Self::factor)?;
            return Ok((rest, Node::Negative(Box::new(node))));
        }
        if let Ok((rest, _)) = symbol("+").parse(text) {
            return self.within(rest, Self::factor);
        }
        if let Ok((rest, _)) = symbol("(").parse(text) {
            let (rest, node) = self.within(rest, Self::or)?;
            let (rest, _) = symbol(")").parse(rest)?;
            return Ok((rest, node));
        }
        let literal = alt((
            value(Value::Truth(true), keyword("TRUE")),
            value(Value::Truth(false), keyword("FALSE")),
            delimited(space, text_literal, space).map(Value::Text),
            delimited(space, number, space),
        ));
        let path = alt((path, plain_name));
        alt((literal.map(Node::Literal), path.map(Node::Path))).parse(text)
    }
}

impl FromStr for Constraint {
    type Err = ConstraintError;

    /// Parses a constraint. An empty one is true for all events.
    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        if text.len() > MAX_CONSTRAINT_OCTETS {
            return Err(ConstraintError::TooLong);
        }
        if text.trim().is_empty() {
            return Ok(Self(Node::Literal(Value::Truth(true))));
        }
        let grammar = Grammar {
            depth: Cell::new(0),
            operators: Cell::new(0),
            is_too_complex: Cell::new(false),
        };
        let place = |rest: &str| text.len().saturating_sub(rest.len());
        match grammar.or(text) {
            Ok(("", node)) => Ok(Self(node)),
            Ok((rest, _)) => Err(ConstraintError::GoesOn { at: place(rest) }),
            Err(_) if grammar.is_too_complex.get() => Err(ConstraintError::TooComplex),
            Err(nom::Err::Error(error) | nom::Err::Failure(error)) => {
                Err(ConstraintError::Malformed {
                    at: place(error.input),
                })
            }
            Err(nom::Err::Incomplete(_)) => Err(ConstraintError::Malformed { at: text.len() }),
        }
    }
}

impl Constraint {
    /// Whether an event meets the constraint.
    #[must_use]
    pub fn matches(&self, event: &Any) -> bool {
        self.matches_within(event, &Budget::default())
    }

    /// The same where several constraints share the steps that there are.
    pub(crate) fn matches_within(&self, event: &Any, budget: &Budget) -> bool {
        let evaluation = Evaluation { event, budget };
        matches!(evaluation.value(&self.0), Some(Value::Truth(true)))
    }
}

/// The steps that were taken of those that there are.
#[derive(Debug, Default)]
pub(crate) struct Budget(Cell<u32>);

impl Budget {
    /// Takes a step, and those that octets cost; `None` if there are none left.
    pub(crate) fn take(&self, octets: usize) -> Option<()> {
        let more = u32::try_from(octets / OCTETS_OF_A_STEP).unwrap_or(u32::MAX);
        let steps = self.0.get().saturating_add(1).saturating_add(more);
        self.0.set(steps);
        (steps <= MAX_STEPS).then_some(())
    }

    #[cfg(test)]
    pub(crate) fn taken(&self) -> u32 {
        self.0.get()
    }
}

/// The evaluation of a constraint. `None` is what is not there, or has no meaning.
struct Evaluation<'a> {
    event: &'a Any,
    budget: &'a Budget,
}

/// What a path leads to.
enum Part {
    Any(Any),
    Value(Value),
}

impl Evaluation<'_> {
    fn count(&self) -> Option<()> {
        self.budget.take(0)
    }

    /// Counts the copy of a part.
    fn weigh(&self, part: &Any) -> Option<()> {
        self.budget.take(part.value_octets())
    }

    fn value(&self, node: &Node) -> Option<Value> {
        self.count()?;
        match node {
            Node::Literal(value) => {
                if let Value::Text(text) = value {
                    self.budget.take(text.len())?;
                }
                Some(value.clone())
            }
            Node::Path(path) => match self.find(path)? {
                Part::Any(any) => {
                    self.weigh(&any)?;
                    basic(&any)
                }
                Part::Value(value) => Some(value),
            },
            Node::Exist(path) => Some(Value::Truth(self.find(path).is_some())),
            Node::Default(path) => {
                let Part::Any(any) = self.find(path)? else {
                    return None;
                };
                Some(Value::Truth(is_default(&any)?))
            }
            Node::Not(node) => Some(Value::Truth(!truth(&self.value(node)?)?)),
            Node::Negative(node) => match self.value(node)? {
                Value::Whole(whole) => whole.checked_neg().map(Value::Whole),
                Value::Real(real) => Some(Value::Real(-real)),
                _ => None,
            },
            Node::Binary(..) => self.chain(node),
        }
    }

    /// Operators from left to right, without a level of the stack for each.
    fn chain(&self, mut node: &Node) -> Option<Value> {
        let mut chain = Vec::new();
        while let Node::Binary(operator, left, right) = node {
            chain.push((*operator, &**right));
            node = left;
        }
        let mut left = self.value(node);
        while let Some((operator, right)) = chain.pop() {
            self.count()?;
            left = self.apply(operator, left, right);
        }
        left
    }

    fn apply(&self, operator: Operator, left: Option<Value>, right: &Node) -> Option<Value> {
        match operator {
            // A missing part makes its own side false, and no more.
            Operator::Or => {
                let is_met = |value: Option<Value>| value.as_ref().and_then(truth) == Some(true);
                Some(Value::Truth(is_met(left) || is_met(self.value(right))))
            }
            Operator::And => match truth(&left?)? {
                false => Some(Value::Truth(false)),
                true => Some(Value::Truth(truth(&self.value(right)?)?)),
            },
            Operator::In => {
                let left = left?;
                let Node::Path(path) = right else {
                    return None;
                };
                let Part::Any(any) = self.find(path)? else {
                    return None;
                };
                for element in any.elements() {
                    self.weigh(&element)?;
                    let order = basic(&element).and_then(|element| compare(&left, &element));
                    if order == Some(Ordering::Equal) {
                        return Some(Value::Truth(true));
                    }
                }
                Some(Value::Truth(false))
            }
            _ => binary(operator, &left?, &self.value(right)?),
        }
    }

    /// What a path leads to.
    fn find(&self, path: &Path) -> Option<Part> {
        let mut part = match &path.start {
            Start::Event => Part::Any(inner(self.event.clone())),
            Start::Named(name) => self.named(name)?,
        };
        for step in &path.steps {
            let Part::Any(any) = part else { return None };
            self.weigh(&any)?;
            part = self.step(&any, step)?;
        }
        Some(part)
    }

    fn named(&self, name: &str) -> Option<Part> {
        self.count()?;
        if name == "curtime" {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let units = i128::try_from(now.as_nanos()).ok()? / 100;
            let units = units.checked_add(UNITS_BEFORE_1970)?;
            return Some(Part::Value(Value::Whole(units)));
        }
        self.weigh(self.event)?;
        let event = inner(self.event.clone());
        let fixed = || event.member("header")?.member("fixed_header");
        let found = match name {
            "domain_name" | "type_name" => {
                fixed().and_then(|it| it.member("event_type")?.member(name))
            }
            "event_name" => fixed().and_then(|it| it.member(name)),
            _ => None,
        };
        let property = |list: Option<Any>| self.property(&list?, name);
        let found = found
            .or_else(|| {
                property(
                    event
                        .member("header")
                        .and_then(|it| it.member("variable_header")),
                )
            })
            .or_else(|| property(event.member("filterable_data")))
            .or_else(|| property(Some(event.clone())))
            .or_else(|| event.member(name));
        found.map(|any| Part::Any(inner(any)))
    }

    /// The value of a name in a sequence of names and values.
    fn property(&self, list: &Any, name: &str) -> Option<Any> {
        for element in list.elements() {
            self.weigh(&element)?;
            let members = element.members();
            let [(_, key), (_, value)] = &members[..] else {
                return None;
            };
            if key.extract::<String>().is_ok_and(|key| key == name) {
                return Some(value.clone());
            }
        }
        None
    }

    fn step(&self, any: &Any, step: &Step) -> Option<Part> {
        let found = match step {
            Step::Member(name) => match any.type_code().unaliased().kind() {
                TcKind::Union => {
                    let (selected, value) = any.selected()?;
                    (selected == name).then_some(value)?
                }
                _ => any.member(name)?,
            },
            Step::Place(place) => match any.type_code().unaliased().kind() {
                TcKind::Sequence | TcKind::Array => self.element(any, *place)?,
                _ => any.members().into_iter().nth(*place)?.1,
            },
            Step::Element(place) => self.element(any, *place)?,
            Step::Property(name) => self.property(any, name)?,
            Step::Label(label) => {
                let is_selected = match label {
                    None => is_default(any)?,
                    Some(label) => has_label(any, label)?,
                };
                is_selected.then(|| any.selected())??.1
            }
            Step::Length => {
                let ty = any.type_code().unaliased();
                let length = match ty.kind() {
                    TcKind::Array => i128::from(ty.length()?),
                    TcKind::Sequence => {
                        let mut length: i128 = 0;
                        for _ in any.elements() {
                            self.count()?;
                            length = length.saturating_add(1);
                        }
                        length
                    }
                    _ => return None,
                };
                return Some(Part::Value(Value::Whole(length)));
            }
            Step::Discriminator => {
                return Some(Part::Value(Value::Whole(any.discriminator()?)));
            }
            Step::TypeName => {
                let name = any.type_code().name()?.to_owned();
                return Some(Part::Value(Value::Text(name)));
            }
            Step::TypeId => {
                let id = any.type_code().id()?.to_owned();
                return Some(Part::Value(Value::Text(id)));
            }
        };
        Some(Part::Any(inner(found)))
    }

    fn element(&self, any: &Any, place: usize) -> Option<Any> {
        let mut elements = any.elements();
        for _ in 0..place {
            self.count()?;
            elements.next()?;
        }
        elements.next()
    }
}

/// What is in an any that is in an any. One level: peers choose how many there are.
fn inner(any: Any) -> Any {
    match any.type_code().unaliased().kind() {
        TcKind::Any => any.extract::<Any>().unwrap_or(any),
        _ => any,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Truth(truth) => Some(*truth),
        _ => None,
    }
}

/// A value of a basic type.
fn basic(any: &Any) -> Option<Value> {
    let any = inner(any.clone());
    let whole = |whole| Some(Value::Whole(whole));
    match any.type_code().unaliased().kind() {
        TcKind::Boolean => any.extract().ok().map(Value::Truth),
        TcKind::Octet => whole(any.extract::<u8>().ok()?.into()),
        TcKind::Short => whole(any.extract::<i16>().ok()?.into()),
        TcKind::UShort => whole(any.extract::<u16>().ok()?.into()),
        TcKind::Long => whole(any.extract::<i32>().ok()?.into()),
        TcKind::ULong => whole(any.extract::<u32>().ok()?.into()),
        TcKind::LongLong => whole(any.extract::<i64>().ok()?.into()),
        TcKind::ULongLong => whole(any.extract::<u64>().ok()?.into()),
        TcKind::Float => Some(Value::Real(any.extract::<f32>().ok()?.into())),
        TcKind::Double => any.extract().ok().map(Value::Real),
        TcKind::Char => {
            let Char(code) = any.extract().ok()?;
            Some(Value::Text(char::from(code).to_string()))
        }
        TcKind::String | TcKind::WString => any.extract().ok().map(Value::Text),
        TcKind::Enum => any.enumerator().map(|name| Value::Text(name.to_owned())),
        TcKind::Fixed => any.decimal()?.parse().ok().map(Value::Real),
        _ => None,
    }
}

/// Whether a union's member is there by its default label.
fn is_default(any: &Any) -> Option<bool> {
    let ty = any.type_code().unaliased();
    let discriminator = any.discriminator()?;
    let default = ty.default_index();
    let named = (0..ty.member_count())
        .filter(|index| Some(*index) != default)
        .any(|index| ty.member_label(index) == Some(discriminator));
    Some(default.is_some() && !named)
}

fn has_label(any: &Any, label: &Value) -> Option<bool> {
    let discriminator = any.discriminator()?;
    Some(match label {
        Value::Whole(whole) => discriminator == *whole,
        Value::Truth(truth) => discriminator == i128::from(*truth),
        Value::Text(text) => {
            let ty = any
                .type_code()
                .unaliased()
                .discriminator_type()?
                .unaliased();
            match ty.kind() {
                TcKind::Enum => {
                    let place = usize::try_from(discriminator).ok()?;
                    ty.member_name(place)? == text
                }
                _ => {
                    let mut characters = text.chars();
                    let first = characters.next()?;
                    characters.next().is_none() && discriminator == i128::from(u32::from(first))
                }
            }
        }
        Value::Real(_) => return None,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a number that is compared with one that has a fraction"
)]
fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Whole(whole) => Some(*whole as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}

fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Whole(left), Value::Whole(right)) => Some(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (Value::Truth(left), Value::Truth(right)) => Some(left.cmp(right)),
        _ => real(left)?.partial_cmp(&real(right)?),
    }
}

fn binary(operator: Operator, left: &Value, right: &Value) -> Option<Value> {
    let compared = |is: fn(Ordering) -> bool| Some(Value::Truth(is(compare(left, right)?)));
    match operator {
        Operator::Equal => compared(Ordering::is_eq),
        Operator::Unequal => compared(Ordering::is_ne),
        Operator::Less => compared(Ordering::is_lt),
        Operator::AtMost => compared(Ordering::is_le),
        Operator::Greater => compared(Ordering::is_gt),
        Operator::AtLeast => compared(Ordering::is_ge),
        Operator::IsPart => match (left, right) {
            (Value::Text(part), Value::Text(whole)) => {
                Some(Value::Truth(whole.contains(part.as_str())))
            }
            _ => None,
        },
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide => {
            if let (Value::Whole(left), Value::Whole(right)) = (left, right) {
                let whole = match operator {
                    Operator::Add => left.checked_add(*right),
                    Operator::Subtract => left.checked_sub(*right),
                    Operator::Multiply => left.checked_mul(*right),
                    _ => left.checked_div(*right),
                };
                return whole.map(Value::Whole);
            }
            let (left, right) = (real(left)?, real(right)?);
            Some(Value::Real(match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                _ => left / right,
            }))
        }
        Operator::Or | Operator::And | Operator::In => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb::TypeCode;

    zorb::idl! {
        #![idl(lenient)]
        module CosNotification {
            struct Property { string name; any value; };
            typedef sequence<Property> PropertySeq;
            struct _EventType { string domain_name; string type_name; };
            struct FixedEventHeader { _EventType event_type; string event_name; };
            struct EventHeader { FixedEventHeader fixed_header; PropertySeq variable_header; };
            struct StructuredEvent {
                EventHeader header;
                PropertySeq filterable_data;
                any remainder_of_body;
            };
        };
        module Plant {
            enum Level { low, high };
            union Reading switch (Level) { case low: long count; default: string text; };
            union Code switch (long) { case 1: long one; case 2: long two; };
            typedef double Corner[2];
            struct Report {
                Level level;
                sequence<long> counts;
                Reading reading;
                Code code;
                boolean is_final;
                char unit;
                Corner corner;
                fixed<5, 2> price;
                unsigned long long large;
            };
        };
    }
    use cos_notification::{EventHeader, EventType, FixedEventHeader, Property, StructuredEvent};
    use plant::{Code, Level, Reading, Report};

    fn property<T: zorb::IdlType>(name: &str, value: &T) -> Property {
        Property {
            name: name.to_owned(),
            value: Any::new(value).unwrap(),
        }
    }

    fn report() -> Report {
        Report {
            level: Level::High,
            counts: vec![3, 5, 8],
            reading: Reading::Text("warm".to_owned()),
            code: Code::Two(22),
            is_final: true,
            unit: Char(b'K'),
            corner: [1.5, -2.5],
            price: "19.99".parse().unwrap(),
            large: u64::MAX,
        }
    }

    fn event() -> Any {
        let event = StructuredEvent {
            header: EventHeader {
                fixed_header: FixedEventHeader {
                    event_type: EventType {
                        domain_name: "Telecom".to_owned(),
                        type_name: "Alarm".to_owned(),
                    },
                    event_name: "link down".to_owned(),
                },
                variable_header: vec![
                    property("Priority", &7_i16),
                    property("who", &"header".to_owned()),
                ],
            },
            filterable_data: vec![
                property("severity", &3_i32),
                property("who", &"body".to_owned()),
                property("report", &report()),
            ],
            remainder_of_body: Any::new(&report()).unwrap(),
        };
        Any::new(&event).unwrap()
    }

    fn is_met(text: &str) -> bool {
        let constraint: Constraint = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        constraint.matches(&event())
    }

    #[test]
    fn each_form_of_the_language_means_what_the_specification_says() {
        for text in [
            "",
            "TRUE",
            "not FALSE",
            "$domain_name == 'Telecom' and $type_name == 'Alarm'",
            "$event_name == 'link down'",
            "$.header.fixed_header.event_type.type_name == 'Alarm'",
            "$severity >= 3 and $severity < 4",
            // The variable header comes first.
            "$who == 'header' and $.filterable_data(who) == 'body'",
            "$Priority == 7",
            "$curtime > 137000000000000000",
            "$report.level == 'high'",
            "$report._type_id == 'Report'",
            "$report._repos_id == 'IDL:Plant/Report:1.0'",
            "$.remainder_of_body.counts[1] == 5",
            "$.remainder_of_body.counts._length == 3",
            "$.remainder_of_body.1.2 == 8",
            "8 in $.remainder_of_body.counts",
            "not (9 in $.remainder_of_body.counts)",
            "$report.reading._d == 1",
            "$report.reading.text == 'warm'",
            "$report.reading.() == 'warm'",
            "default $report.reading",
            "not (default $report.code)",
            "$report.code.(2) == 22",
            "exist $report.code.(2) and not exist $report.code.(1)",
            "$report.is_final",
            "$report.unit == 'K'",
            "$report.corner[0] - $report.corner[1] == 4",
            "$report.price > 19.98 and $report.price < 20",
            "$report.large == 18446744073709551615",
            "'down' ~ $event_name",
            "1 + 2 * 3 == 7 and (1 + 2) * 3 == 9 and -3 + 4 == 1 and 7 / 2 == 3",
            "1.5e1 == 15 and .5 < 1",
            r"'it\'s' == 'it\'s' and 'a\\b' ~ 'a\\b'",
            // What is missing is false on its own side.
            "$absent == 1 or TRUE",
            "not exist $absent",
            "exist $severity",
            // Without a dollar, as in the trader's language.
            "severity == 3 and type_name == 'Alarm' and not exist absent",
            r"\severity == 3 and android == 1 or TRUE",
        ] {
            assert!(is_met(text), "{text}");
        }
        for text in [
            "FALSE",
            "$absent == 1",
            "not ($absent == 1)",
            "$severity == 'three'",
            "$severity",
            "1 / 0 == 0",
            "170141183460469231731687303715884105727 + 1 > 0",
            "$report.counts[3] == 0",
            "$report.reading.count == 0",
            "'x' in $severity",
            "$severity ~ 'a'",
            "-'a' == 1",
        ] {
            assert!(!is_met(text), "{text}");
        }
    }

    #[test]
    fn an_event_that_is_no_structured_one_has_its_own_members() {
        let any = Any::new(&report()).unwrap();
        let met = |text: &str| text.parse::<Constraint>().unwrap().matches(&any);
        assert!(met(
            "$.level == 'high' and $level == 'high' and $.counts[0] == 3"
        ));
        assert!(!met("$domain_name == ''"));
        let long = TypeCode::of_kind(TcKind::Long).unwrap();
        assert_eq!(Any::new(&3_i32).unwrap().type_code(), &long);
        assert!(
            "$ == 3"
                .parse::<Constraint>()
                .unwrap()
                .matches(&Any::new(&3_i32).unwrap())
        );
    }

    #[test]
    fn what_is_no_constraint_is_refused_at_its_place() {
        for (text, expected) in [
            ("$severity >", "expected a value at octet 11"),
            ("(1 == 1", "expected a value at octet 7"),
            ("1 == 1 2", "expected the end at octet 7"),
            ("'open", "expected a value at octet 0"),
            ("1 < 2 < 3", "expected the end at octet 6"),
            ("$a.", "expected the end at octet 2"),
            ("and == 1", "expected a value at octet 0"),
            ("1 == in", "expected a value at octet 5"),
            ("a.b == 1", "expected the end at octet 1"),
            ("$a[x]", "expected the end at octet 2"),
            (
                "99999999999999999999999999999999999999999999 > $a[99999999999999999999999]",
                "expected the end at octet 49",
            ),
        ] {
            let error = text.parse::<Constraint>().unwrap_err();
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }

    #[test]
    fn depth_length_and_steps_are_bounded() {
        let deep = |levels: usize| format!("{}TRUE{}", "(".repeat(levels), ")".repeat(levels));
        assert!(deep(60).parse::<Constraint>().is_ok());
        let long = vec!["TRUE"; 1_000].join(" and ");
        assert!(long.parse::<Constraint>().unwrap().matches(&Any::default()));
        for text in [
            deep(5_000),
            format!("{}TRUE", "not ".repeat(3_000)),
            format!("{}1 == 1", "- ".repeat(3_000)),
            vec!["TRUE"; 1_002].join(" and "),
            vec!["1"; 4_000].join("+"),
        ] {
            let error = text.parse::<Constraint>().unwrap_err();
            assert_eq!(error, ConstraintError::TooComplex);
        }
        let long = "x".repeat(MAX_CONSTRAINT_OCTETS + 1);
        let error = long.parse::<Constraint>().unwrap_err();
        assert_eq!(error, ConstraintError::TooLong);

        // A sequence of many elements ends the evaluation, which is then false.
        let many = Any::new(&vec![0_i32; 1_000_000]).unwrap();
        let steps = |text: &str| {
            let Constraint(node) = text.parse().unwrap();
            let budget = Budget::default();
            let evaluation = Evaluation {
                event: &many,
                budget: &budget,
            };
            (evaluation.value(&node), budget.taken())
        };
        let (found, taken) = steps("1 in $");
        assert_eq!((found, taken), (None, MAX_STEPS + 1));
        let (found, taken) = steps("1 in $ or 1 in $ or 1 in $");
        assert_eq!(found, None);
        assert!(taken < MAX_STEPS + 10, "{taken}");
    }

    #[test]
    fn what_large_parts_cost_is_counted() {
        let large = Any::new(&"x".repeat(1 << 20)).unwrap();
        let constraint: Constraint = "$ == 'x'".parse().unwrap();
        let budget = Budget::default();
        assert!(!constraint.matches_within(&large, &budget));
        assert!((256..600).contains(&budget.taken()), "{}", budget.taken());
        let long: Constraint = vec!["'x' ~ $"; 200].join(" and ").parse().unwrap();
        let budget = Budget::default();
        assert!(!long.matches_within(&large, &budget));
        assert!(budget.taken() < MAX_STEPS + 600, "{}", budget.taken());
        let short = Any::new(&"x").unwrap();
        assert!(long.matches_within(&short, &Budget::default()));
    }
}
