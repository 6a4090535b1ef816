//! The declarations of `#include <orb.idl>` (or `import ::CORBA`) where no file of that name is found: the part of
//! module `CORBA` that other IDL refers to. Source: CORBA 3.3 Part 1.
//!
//! `CORBA::TypeCode` is [`TypeCode`](crate::TypeCode), `CORBA::Object` [`ObjectRef`](crate::ObjectRef).
//!
//! ```
//! zorb::idl! {
//!     #include <orb.idl>
//!     module Shop {
//!         interface Till {
//!             void set_up(in CORBA::StringSeq names, in CORBA::PolicyList policies);
//!         };
//!     };
//! }
//!
//! async fn call(till: &shop::TillRef) -> Result<(), zorb::SystemException> {
//!     let names: zorb::corba::StringSeq = vec!["Ada".to_owned()];
//!     till.set_up(&names, &[]).await
//! }
//! ```

pub use generated::all::corba::*;

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specification"
)]
mod generated {
    #[zorb_idl_macros::idl_file("idl/corba.idl", crate = "crate")]
    pub mod all {}
}
