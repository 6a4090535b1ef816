//! The naming service, from a client's side.
//!
//! [`NamingClient`] does what programs want of it: find the service, bind a path with the contexts
//! on the way, resolve to a typed reference, list, and errors that say what was in the way.
//! [`Name`] reads and writes stringified names without asking a server. [`cos_naming`] is what the
//! IDL compiler makes of the OMG's `CosNaming`: the operations themselves, to be called on
//! [`NamingClient::context`] wherever the client does more than is wanted, and the traits and skeletons of a naming
//! context of one's own.
//!
//! ```no_run
//! # zorb::idl! { module Bank { interface Account { readonly attribute double balance; }; }; }
//! # use bank::AccountRef;
//! # async fn example(account: AccountRef) -> Result<(), Box<dyn std::error::Error>> {
//! use zorb::{Orb, naming::NamingClient};
//!
//! let orb = Orb::builder()
//!     .initial_reference("NameService", "corbaloc::localhost:2809/NameService")
//!     .build()
//!     .await?;
//! let names = NamingClient::find(&orb).await?;
//!
//! // A server: the contexts `bank` and `bank/accounts` are made if they are not there.
//! names.rebind("bank/accounts/savings.account", &account).await?;
//!
//! // A client.
//! let account: AccountRef = names.resolve("bank/accounts/savings.account").await?;
//! println!("{}", account.balance().await?);
//!
//! // What else is there, however much it is.
//! let mut bindings = names.subcontext("bank/accounts").await?.list();
//! while let Some(binding) = bindings.next().await? {
//!     println!("{}{}", binding.name, if binding.is_context() { "/" } else { "" });
//! }
//! # Ok(()) }
//! ```
//!
//! Servers that know `NamingContext` only (the older ones) serve all of this: of
//! `NamingContextExt`, which [`NamingClient::ext`] gives, nothing here makes use.
//!
//! Source: OMG Naming Service Specification 1.3.

mod client;
mod error;
mod list;
mod name;

pub use client::NamingClient;
pub use error::NamingError;
pub use generated::cos::cos_naming;
pub use list::{Bindings, Entry};
pub use name::{IntoName, Name, NameError};

use crate::error::Error;
use crate::object::ObjectRef;
use zorb_giop::{CompletionStatus, SystemException, SystemExceptionKind, minor};

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specification"
)]
mod generated {
    #[zorb_idl_macros::idl_file("idl/CosNaming.idl", crate = "crate")]
    pub mod cos {}
}

/// Resolves the name of a `corbaname:` URL in the context it names.
pub(crate) async fn resolve_url(context: &ObjectRef, name: &str) -> Result<ObjectRef, Error> {
    // An object that is not a naming context answers BAD_OPERATION.
    let names = NamingClient::new(context.unchecked_narrow());
    match names.resolve(name).await {
        Ok(object) => Ok(object),
        Err(NamingError::System { exception, .. }) => Err(exception.into()),
        Err(error) => {
            let bad = SystemException::new(
                SystemExceptionKind::BadParam,
                minor::BAD_SCHEME_SPECIFIC_PART,
                CompletionStatus::No,
            );
            Err(bad
                .with_detail(format_args!("corbaname {name:?}: {error}"))
                .into())
        }
    }
}
