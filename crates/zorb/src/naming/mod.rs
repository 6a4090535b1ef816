//! The client side of the OMG Naming Service.
//!
//! [`NamingClient`] finds the service, binds a path with its missing contexts, resolves to a typed reference and lists
//! a context; its errors name the component at fault. [`Name`] reads and writes stringified names without a server.
//! [`cos_naming`] is the code that the IDL compiler generates from the OMG's `CosNaming`. It has the operations
//! themselves, to be called on [`NamingClient::context`], and the traits and skeletons for implementing a naming
//! context.
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
//! Older servers with `NamingContext` alone suffice: only [`NamingClient::ext`] needs a `NamingContextExt`.
//!
//! Source: OMG Naming Service Specification 1.3.

mod client;
mod list;
mod name;
mod naming_error;

pub use client::NamingClient;
pub use generated::cos::cos_naming;
pub use list::{Bindings, Entry};
pub use name::{IntoName, Name, NameError};
pub use naming_error::NamingError;
use naming_error::Quoted;

use crate::error::Error;
use crate::object::ObjectRef;
use zorb_giop::{CompletionStatus, Fault};

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specification"
)]
mod generated {
    #[zorb_idl_macros::idl_file("idl/CosNaming.idl", crate = "crate")]
    pub mod cos {}
}

/// Resolves the name of a `corbaname:` URL in the URL's context.
pub(crate) async fn resolve_url(context: &ObjectRef, name: &str) -> Result<ObjectRef, Error> {
    // Unchecked: an object that is not a naming context replies with BAD_OPERATION.
    let names = NamingClient::new(context.unchecked_narrow());
    match names.resolve(name).await {
        Ok(object) => Ok(object),
        Err(NamingError::System { exception, .. }) => Err(exception.into()),
        Err(error) => {
            let bad = Fault::BadUrlName(format!("corbaname {}: {error}", Quoted(name)))
                .raise(CompletionStatus::No);
            Err(match core::error::Error::source(&error).is_some() {
                true => bad.with_source_of(error).into(),
                false => bad.into(),
            })
        }
    }
}
