//! Registering value types with the builder and the ORB.

use super::types::Concrete;
use crate::builder::Builder;
use crate::orb::Orb;
use zorb_cdr::TypeCode;

impl Builder {
    /// Registers the value type `T` before the ORB starts: see [`Orb::register_value`].
    ///
    /// ```
    /// zorb::idl! {
    ///     valuetype Person { public string name; };
    ///     valuetype Manager : truncatable Person { public long staff; };
    /// }
    ///
    /// # async fn example() -> Result<(), zorb::Error> {
    /// // A manager arrives as a person.
    /// let orb = zorb::Orb::builder()
    ///     .value::<Person>()
    ///     .registered_values_only(true)
    ///     .build()
    ///     .await?;
    /// # Ok(()) }
    /// ```
    #[doc(alias = "register_value_factory")]
    pub fn value<T: Concrete>(self) -> Self {
        self.settings.values.register::<T>();
        self
    }

    /// Whether the ORB decodes values of registered types alone ([`value`](Self::value), [`Orb::register_value`]);
    /// `false` unless set. With `false` it also decodes types of the IDL that was compiled together with the expected
    /// type.
    ///
    /// A value of an unregistered type is truncated to its first registered base, where its type permits that, and is
    /// MARSHAL (minor code 1) otherwise. So a program restricts the types that a peer may send. Value boxes count as
    /// value types, too.
    pub fn registered_values_only(mut self, only: bool) -> Self {
        self.settings.values.set_registered_only(only);
        self
    }
}

impl Orb {
    /// Registers the value type `T`, so that this ORB decodes its values.
    ///
    /// Needed for types with operations or custom marshalling, whose values are MARSHAL (minor code 1) otherwise.
    /// Needed also for types whose values arrive as a `ValueBase`, as an abstract interface, or as a base type of IDL
    /// that was compiled separately, and for all types with [`Builder::registered_values_only`].
    #[doc(alias = "register_value_factory")]
    pub fn register_value<T: Concrete>(&self) {
        self.inner().values().register::<T>();
    }

    /// Registers a value type or a value box that the program has no Rust type for, so that anys, dynamic calls and dynamic
    /// servants of this ORB have its values where the IDL states a base of it, a `ValueBase` or an abstract interface. A Rust type
    /// of the same repository id goes first. `zorb_dynamic::IdlTypes` registers all types of some IDL.
    ///
    /// Returns `false`, and registers nothing, for other types, and for those whose state a TypeCode does not show: abstract
    /// ones, and those with custom marshalling, for which the program needs a Rust type.
    pub fn register_value_type(&self, ty: &TypeCode) -> bool {
        self.inner().values().describe(ty)
    }
}
