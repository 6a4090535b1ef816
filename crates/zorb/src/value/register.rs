//! Which value types an ORB knows: what the builder and the ORB register.

use super::types::Concrete;
use crate::builder::Builder;
use crate::orb::Orb;

impl Builder {
    /// Has the ORB read values of type `T` from the beginning, as [`Orb::register_value`] does later.
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

    /// Whether the ORB reads values of those types alone that were registered with it, by [`value`](Self::value) or
    /// [`Orb::register_value`]; `false` unless set: it also reads those of the IDL that was compiled together with what is
    /// expected.
    ///
    /// A value of an unregistered type is truncated to its first registered base, where its type permits that, and is MARSHAL
    /// (minor code 1) otherwise: a program decides which of its types may come from a peer. Boxes are value types, too.
    pub fn registered_values_only(mut self, only: bool) -> Self {
        self.settings.values.set_registered_only(only);
        self
    }
}

impl Orb {
    /// Has this ORB read values of type `T`.
    ///
    /// Needed for types with operations or custom marshalling, whose values are MARSHAL (minor code 1) otherwise, and
    /// for types whose values come where their IDL does not show that they may: as a `ValueBase`, through an abstract
    /// interface, or as a base that is declared in IDL which was compiled elsewhere. And for all types where
    /// [`Builder::registered_values_only`] says so.
    #[doc(alias = "register_value_factory")]
    pub fn register_value<T: Concrete>(&self) {
        self.inner().values().register::<T>();
    }
}
