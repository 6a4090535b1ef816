//! Rules of operations: which client may call what, and a record of each request.
//!
//! [`OperationRules`] is a ready-made [`ServerRequestInterceptor`]. It judges by the identity that the transport reports,
//! or a login with the request proves ([`Rule`]), the interface, the operation and the POA; the first rule that fits decides, and what no rule speaks of is
//! refused with NO_PERMISSION, COMPLETED_NO, which says nothing of the rules. Calls of this process are not judged.
//!
//! ```
//! use zorb::permissions::{OperationRule, OperationRules};
//! use zorb::transport::Rule;
//!
//! let rules = OperationRules::new([
//!     OperationRule::allow().operations(["balance", "history"]),
//!     OperationRule::allow().of(Rule::allow().certificate("CN=teller")).interface("IDL:Bank/Account:1.0"),
//! ]);
//! let rules = rules.audit(|record| println!("{record}"));
//! let builder = zorb::Orb::builder().server_interceptor(rules);
//! ```
//!
//! Who has logged in ([`csi`](crate::csi)) is known to interceptors that the builder gets after [`Builder::csi`](crate::Builder::csi):
//!
//! ```
//! # use zorb::csi::Csi;
//! # use zorb::permissions::{OperationRule, OperationRules};
//! # use zorb::transport::Rule;
//! let front = || Rule::allow().certificate("DNS:front.example");
//! let rules = OperationRules::new([
//!     // By a password of her own, or by the front in her name.
//!     OperationRule::allow().of(Rule::allow().principal("alice")),
//!     OperationRule::allow().of(front().asserted_principal("alice")),
//! ]);
//! let builder = zorb::Orb::builder().csi(Csi::new()).server_interceptor(rules);
//! ```

use crate::interceptors::{Interception, ReplyStatus, ServerRequestInfo, ServerRequestInterceptor};
use core::fmt;
use std::sync::Arc;
use std::time::SystemTime;
use zorb_connection::Peer;
use zorb_giop::{CompletionStatus, Fault, SystemException, SystemExceptionKind};
use zorb_transport::{Rule, Rules};

/// Takes the record of a request.
type Audit = dyn Fn(&AuditRecord) + Send + Sync;

/// Rules for the operations of all objects, as an interceptor: see the [module](self).
///
/// # Cost
/// A step for each rule and request; with [`audit`](Self::audit), a record with some allocations.
pub struct OperationRules {
    rules: Vec<OperationRule>,
    audit: Option<Box<Audit>>,
}

impl fmt::Debug for OperationRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationRules")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// One of [`OperationRules`]: it fits if all of its conditions hold.
#[derive(Debug, Clone)]
pub struct OperationRule {
    allows: bool,
    client: Option<Rules>,
    interface: Option<Box<str>>,
    operations: Option<Vec<Box<str>>>,
    adapter: Option<Vec<String>>,
}

/// Whether a condition holds; it is not known of an interface whose servant has yet to be found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fits {
    No,
    Unknown,
    Yes,
}

impl OperationRules {
    /// Makes an interceptor of these rules, in their order.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = OperationRule>) -> Self {
        Self {
            rules: rules.into_iter().collect(),
            audit: None,
        }
    }

    /// Has a function called at the end of each request, refused ones included. It runs on the thread of the request, and
    /// must not block.
    #[must_use]
    pub fn audit(self, record: impl Fn(&AuditRecord) + Send + Sync + 'static) -> Self {
        Self {
            audit: Some(Box::new(record)),
            ..self
        }
    }

    fn permits(&self, info: &ServerRequestInfo<'_>) -> bool {
        let Some(peer) = info.peer() else {
            return true;
        };
        for rule in &self.rules {
            match (rule.fits(info, &peer), rule.allows) {
                (Fits::Yes, allows) => return allows,
                // What may be forbidden is.
                (Fits::Unknown, false) => return false,
                _ => {}
            }
        }
        false
    }

    fn record(&self, info: &ServerRequestInfo<'_>, outcome: AuditOutcome) {
        let Some(audit) = &self.audit else { return };
        audit(&AuditRecord {
            when: SystemTime::now(),
            who: info.peer(),
            interface: info.object.type_id().to_owned(),
            operation: info.operation().to_owned(),
            adapter: info.adapter_name().unwrap_or_default(),
            object: info
                .object_id()
                .map_or_else(|_| Vec::new(), |id| AsRef::<[u8]>::as_ref(&id).to_vec()),
            outcome,
        });
    }
}

impl ServerRequestInterceptor for OperationRules {
    fn receive_request<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        match self.permits(info) {
            true => Interception::CONTINUE,
            false => {
                let refused = Fault::NotPermitted("the rules of operations refuse it".to_owned());
                Interception::from(Err::<(), _>(refused.raise(CompletionStatus::No)))
            }
        }
    }

    fn send_reply<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        self.record(info, AuditOutcome::Replied);
        Interception::CONTINUE
    }

    fn send_exception<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        let id = info.sending_exception_id().unwrap_or_default();
        let refused = id == SystemExceptionKind::NoPermission.repository_id();
        let outcome = match refused {
            true => AuditOutcome::Refused,
            false => AuditOutcome::Exception(id),
        };
        self.record(info, outcome);
        Interception::CONTINUE
    }

    fn send_other<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        let outcome = match info.reply_status() {
            Ok(ReplyStatus::LocationForward) => AuditOutcome::Forwarded,
            _ => AuditOutcome::OneWay,
        };
        self.record(info, outcome);
        Interception::CONTINUE
    }
}

impl OperationRule {
    const fn new(allows: bool) -> Self {
        Self {
            allows,
            client: None,
            interface: None,
            operations: None,
            adapter: None,
        }
    }

    /// A rule that permits what it fits.
    #[must_use]
    pub const fn allow() -> Self {
        Self::new(true)
    }

    /// A rule that refuses what it fits.
    #[must_use]
    pub const fn deny() -> Self {
        Self::new(false)
    }

    /// Sets the client: its network, transport, user, certificate or principal. May be repeated, for clients of whom one rule holds.
    #[must_use]
    pub fn of(mut self, client: Rule) -> Self {
        let before = self.client.take().unwrap_or_default();
        self.client = Some(before.with(client));
        self
    }

    /// Sets the interface of the object, or one that it inherits from, by its repository id.
    #[must_use]
    pub fn interface(mut self, repository_id: impl Into<Box<str>>) -> Self {
        self.interface = Some(repository_id.into());
        self
    }

    /// Sets the operations, by their names in IDL; of an attribute, `_get_name` and `_set_name`. Where a rule permits an
    /// operation, it permits what every object has, such as `_is_a`, too.
    #[must_use]
    pub fn operations<S: Into<Box<str>>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.operations = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the POA, by its path from the root POA's child on; POAs below it are meant, too.
    #[must_use]
    pub fn adapter<S: Into<String>>(mut self, path: impl IntoIterator<Item = S>) -> Self {
        self.adapter = Some(path.into_iter().map(Into::into).collect());
        self
    }

    fn fits(&self, info: &ServerRequestInfo<'_>, peer: &Peer) -> Fits {
        let operation = info.operation();
        let of_all = operation.starts_with('_')
            && !operation.starts_with("_get_")
            && !operation.starts_with("_set_");
        let named = self.operations.as_ref().is_none_or(|names| {
            (self.allows && of_all) || names.iter().any(|name| **name == *operation)
        });
        let (scheme, identity) = (peer.endpoint.scheme(), peer.identity.as_ref());
        let client = (self.client.as_ref())
            .is_none_or(|rules| rules.accepts(scheme, &peer.address, identity));
        let adapter = self.adapter.as_ref().is_none_or(|path| {
            let of = info.adapter_name();
            of.is_ok_and(|of| of.starts_with(path))
        });
        if !named || !client || !adapter {
            return Fits::No;
        }
        match self.interface.as_ref().map(|id| info.target_is_a(id)) {
            None | Some(Ok(true)) => Fits::Yes,
            Some(Ok(false)) => Fits::No,
            Some(Err(_)) => Fits::Unknown,
        }
    }
}

/// A request that has ended, for [`OperationRules::audit`]. Its `Display` is one line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuditRecord {
    /// When it has ended.
    pub when: SystemTime,
    /// The client; `None` for this process.
    pub who: Option<Arc<Peer>>,
    /// The interface of the object, by its repository id; empty if its servant had not been found when the request came.
    pub interface: String,
    /// The operation, by its name on the wire.
    pub operation: String,
    /// The POA of the object, by its path; empty for the root POA.
    pub adapter: Vec<String>,
    /// The id of the object.
    pub object: Vec<u8>,
    /// What has become of the request.
    pub outcome: AuditOutcome,
}

/// What has become of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditOutcome {
    /// NO_PERMISSION, by these rules, another interceptor, or the servant.
    Refused,
    /// A result.
    Replied,
    /// Another exception, by its repository id.
    Exception(String),
    /// A forward.
    Forwarded,
    /// The client waits for no result.
    OneWay,
}

impl fmt::Display for AuditRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.when.duration_since(SystemTime::UNIX_EPOCH);
        write!(f, "{} ", since.map_or(0, |since| since.as_secs()))?;
        match &self.who {
            None => f.write_str("this process")?,
            Some(peer) => {
                write!(f, "{}", peer.address)?;
                let identity = peer.identity.as_ref();
                if let Some(process) = identity.and_then(|of| of.process()) {
                    write!(f, " user {}", process.user)?;
                }
                let certificate = identity.and_then(|of| of.certificate());
                if let Some(certificate) = certificate.filter(|of| of.is_verified) {
                    write!(f, " {:?}", certificate.subject)?;
                    for name in &certificate.names {
                        write!(f, " {:?}", name.to_string())?;
                    }
                }
                if let Some(principal) = identity.and_then(|of| of.principal()) {
                    let how = match principal.is_asserted {
                        true => "in the name of",
                        false => "as",
                    };
                    write!(f, " {how} {:?}", principal.name)?;
                }
            }
        }
        // Names of peers may have any character.
        write!(f, " {:?} of {:?} ", self.operation, self.interface)?;
        match core::str::from_utf8(&self.object) {
            Ok(id) if !id.chars().any(char::is_control) => write!(f, "{id:?}")?,
            // One that an adapter has assigned, or that is no text.
            _ => {
                f.write_str("0x")?;
                self.object
                    .iter()
                    .try_for_each(|it| write!(f, "{it:02x}"))?;
            }
        }
        write!(f, " in /{}: ", self.adapter.join("/").escape_debug())?;
        match &self.outcome {
            AuditOutcome::Refused => f.write_str("refused"),
            AuditOutcome::Replied => f.write_str("replied"),
            AuditOutcome::Exception(id) => write!(f, "{id:?}"),
            AuditOutcome::Forwarded => f.write_str("forwarded"),
            AuditOutcome::OneWay => f.write_str("one way"),
        }
    }
}
