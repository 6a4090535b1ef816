//! The context of a caller: names and values that requests of operations with a `context` clause carry.

use std::collections::BTreeMap;
use zorb_cdr::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, EncodeErrorKind,
    Encoder,
};
use zorb_poa::signature::Parameter;

/// Names and values of the caller. A request carries those that the operation's `context` clause names: the counterpart
/// of `CORBA::Context`.
///
/// ```
/// let context: zorb::Context = [("user", "ada"), ("app.tty", "4")].into_iter().collect();
/// assert_eq!(context.get("user"), Some("ada"));
/// assert_eq!(context.get("home"), None);
/// assert_eq!(context.iter().count(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    values: BTreeMap<String, String>,
}

impl Context {
    /// Makes a context without values. Allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of `name`, replacing a former one.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// Returns the value of `name`; `None` if it has not been set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns the values whose names match one of `patterns`: exact names, or prefixes of names that end in `*`.
    #[must_use]
    pub fn selected<P: AsRef<str>>(&self, patterns: &[P]) -> Self {
        let named = self.iter().filter(|(name, _)| is_selected(name, patterns));
        named.collect()
    }

    /// Returns the names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.values.iter();
        values.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Context {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        let values = values.into_iter();
        Self {
            values: values.map(|(n, v)| (n.into(), v.into())).collect(),
        }
    }
}

/// Decodes a sequence of strings: a name, its value, a name, …
impl<'de> Decode<'de> for Context {
    const MIN_SIZE: usize = 4;

    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let count = d.read_count(4)?;
        if count & 1 == 1 {
            return Err(d.error(DecodeErrorKind::Expected(
                "a value for each name of a context",
            )));
        }
        let mut context = Self::new();
        for _ in 0..count / 2 {
            let name: String = d.get()?;
            context.values.insert(name, d.get()?);
        }
        Ok(context)
    }
}

/// The caller's context, of an operation with a `context` clause.
impl Parameter for Context {
    type Decoded<'m> = Self;
    type Owned = Self;
    type Passed<'a> = &'a Self;

    #[inline(always)]
    fn decode<'m, O: ByteOrder>(decoder: &mut Decoder<'m, O>) -> Result<Self, DecodeError> {
        Decode::decode(decoder)
    }

    #[inline(always)]
    fn pass<'a, 'm: 'a>(decoded: &'a mut Self) -> &'a Self {
        decoded
    }

    #[inline(always)]
    fn lend(owned: &mut Self) -> &Self {
        owned
    }
}

/// The part of a context that a request carries.
#[derive(Debug, Clone, Copy)]
pub struct ContextArgument<'a> {
    context: &'a Context,
    /// Names, or prefixes of names that end in `*`.
    patterns: &'static [&'static str],
}

impl<'a> ContextArgument<'a> {
    /// Selects the values of `context` that match `patterns`: exact names, or prefixes of names that end in `*`.
    #[must_use]
    pub fn new(context: &'a Context, patterns: &'static [&'static str]) -> Self {
        Self { context, patterns }
    }

    fn named(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let patterns = self.patterns;
        (self.context.iter()).filter(move |(name, _)| is_selected(name, patterns))
    }
}

fn is_selected<P: AsRef<str>>(name: &str, patterns: &[P]) -> bool {
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    patterns.iter().any(|pattern| matches(pattern.as_ref()))
}

impl Encode for ContextArgument<'_> {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        let found = self.named().count();
        let strings = found
            .checked_mul(2)
            .ok_or(EncodeErrorKind::TooLong { found })?;
        e.write_count(strings)?;
        self.named()
            .try_for_each(|(name, value)| e.put(name).and_then(|()| e.put(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::{BigEndian, WireFormat};

    fn octets(texts: &[&str]) -> Vec<u8> {
        let mut e = Encoder::<BigEndian>::new(WireFormat::default());
        e.put(texts).unwrap();
        e.finish().to_vec()
    }

    #[test]
    fn a_context_is_names_and_values_by_turns() {
        let context: Context = [("b", "2"), ("a", "1"), ("ab", "")].into_iter().collect();
        let mut e = Encoder::<BigEndian>::new(WireFormat::default());
        e.put(&ContextArgument::new(&context, &["a*", "c"]))
            .unwrap();
        assert_eq!(e.finish().to_vec(), octets(&["a", "1", "ab", ""]));
        let octets = octets(&["z", "1", "a", "", "z", "2"]);
        let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
        let read: Context = d.get().unwrap();
        assert_eq!(read, [("a", ""), ("z", "2")].into_iter().collect());
    }

    #[test]
    fn a_name_without_a_value_is_refused() {
        let octets = octets(&["a", "1", "b"]);
        let mut d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
        let error = d.get::<Context>().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("expected a value for each name"),
            "{error}"
        );
        let mut d = Decoder::<BigEndian>::from_slice(&[0xff; 40], WireFormat::default());
        assert!(d.get::<Context>().is_err());
    }
}
