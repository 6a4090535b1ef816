//! Properties of transports, which policies set.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    error::Error,
    fmt,
    sync::Arc,
};

/// Properties of transports, at most one value of each type: `TcpOptions` for TCP, `UnixOptions` for UNIX sockets, and
/// the types of further transports. A policy has them, and
/// [`Registry::with_properties`](crate::Registry::with_properties) applies them.
///
/// ```
/// # mod zorb { pub extern crate zorb_transport as transport; }
/// use zorb::transport::{Properties, TcpOptions};
///
/// let properties = Properties::default().with(TcpOptions::default().nodelay(false));
/// assert!(properties.get::<TcpOptions>().is_some());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Properties(HashMap<TypeId, Arc<dyn Value>>);

trait Value: Any + fmt::Debug + Send + Sync {}
impl<T: Any + fmt::Debug + Send + Sync> Value for T {}

impl Properties {
    /// Returns the properties with this value, in place of one of its type.
    #[must_use]
    pub fn with<P: fmt::Debug + Send + Sync + 'static>(mut self, properties: P) -> Self {
        self.0.insert(TypeId::of::<P>(), Arc::new(properties));
        self
    }

    /// Returns the value of this type; `None` if none has been set.
    #[must_use]
    pub fn get<P: 'static>(&self) -> Option<&P> {
        let value: &dyn Any = &**self.0.get(&TypeId::of::<P>())?;
        value.downcast_ref()
    }

    /// Whether no value of any type has been set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The name of a transport's property in text, and the form of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Property {
    /// The name of the property in text, such as `nodelay`.
    pub name: &'static str,
    /// The form of the values, for messages, such as `0 or 1`.
    pub values: &'static str,
    /// The value in text that applies unless the property is set.
    pub default: &'static str,
}

/// The error of a property that a transport does not have, or not with this value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyError {
    name: Box<str>,
    value: Box<str>,
    expected: String,
}

impl PropertyError {
    /// Makes the error of a name that is none of the `known` ones.
    #[must_use]
    pub fn unknown(name: &str, value: &str, known: &[Property]) -> Self {
        let names: Vec<_> = known.iter().map(|property| property.name).collect();
        let expected = match names.is_empty() {
            true => "no property, as this transport has none".to_owned(),
            false => format!("one of the properties {}", names.join(", ")),
        };
        let (name, value) = (name.into(), value.into());
        Self {
            name,
            value,
            expected,
        }
    }

    /// Makes the error of a value that the property cannot have.
    #[must_use]
    pub fn value(property: Property, value: &str) -> Self {
        Self {
            name: property.name.into(),
            value: value.into(),
            expected: format!("{}={}", property.name, property.values),
        }
    }
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = format!("{}={}", self.name, self.value);
        write!(f, "expected {}, found {found:?}", self.expected)
    }
}

impl Error for PropertyError {}

/// Reads a truth value: `0` or `1`, as in TAO's options.
pub(crate) fn flag(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}
