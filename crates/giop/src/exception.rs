//! The CORBA system exceptions.

use crate::cause::Cause;
use crate::context::{ServiceContext, exception_detail_context};
use crate::fault::Fault;
use crate::printable::Printable;
use crate::vendor;
use core::fmt;
use std::sync::Arc;
use zorb_cdr::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder,
    ExtractError, FixedError, NotALongDouble,
};

const PREFIX: &str = "IDL:omg.org/CORBA/";
const SUFFIX: &str = ":1.0";

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $new:ident;)*) => {
        /// The kind of a standard system exception.
        ///
        /// Source: CORBA 3.3 Part 1, ORB Interface (standard exceptions).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum SystemExceptionKind {
            $($(#[$doc])* #[doc(alias = $name)] $variant,)*
        }

        impl SystemExceptionKind {
            /// All kinds, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name in the specification, such as `COMM_FAILURE`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the repository id, such as `IDL:omg.org/CORBA/COMM_FAILURE:1.0`.
            #[must_use]
            pub const fn repository_id(self) -> &'static str {
                match self { $(Self::$variant => concat!("IDL:omg.org/CORBA/", $name, ":1.0"),)* }
            }

            /// Returns the kind with this name; `None` for names that are not the OMG's.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($name => Self::$variant,)* _ => return None })
            }
        }

        /// One constructor for each kind, for servants that refuse a call before it has any effect: minor code 0,
        /// COMPLETED_NO, and a [detail](SystemException::with_detail) that the client is shown.
        impl SystemException {
            $(
                $(#[$doc])*
                ///
                /// Makes the exception with this detail, minor code 0 and COMPLETED_NO. Allocates the detail.
                #[doc(alias = $name)]
                #[must_use]
                #[cold]
                pub fn $new(detail: impl fmt::Display) -> Self {
                    Self::from(SystemExceptionKind::$variant).with_detail(detail)
                }
            )*
        }
    };
}

kinds! {
    /// A failure without a kind of its own: an exception that is unknown here, a panic in a servant.
    Unknown = "UNKNOWN", unknown;
    /// An argument the ORB cannot accept. Retrying is pointless.
    BadParam = "BAD_PARAM", bad_param;
    /// Memory is exhausted, at the client or at the server.
    NoMemory = "NO_MEMORY", no_memory;
    /// A limit of the ORB is exceeded, such as the size of a message. Retrying is pointless unless the request is smaller.
    ImpLimit = "IMP_LIMIT", imp_limit;
    /// Communication was lost after sending began and before the reply was complete. The completion status shows
    /// whether the operation was carried out; retry only operations that may run twice.
    CommFailure = "COMM_FAILURE", comm_failure;
    /// The reference is malformed or nil. Retrying is pointless.
    InvObjref = "INV_OBJREF", inv_objref;
    /// The object is gone for good: forget the reference.
    ObjectNotExist = "OBJECT_NOT_EXIST", object_not_exist;
    /// The caller has no permission for the operation.
    NoPermission = "NO_PERMISSION", no_permission;
    /// An error inside the ORB.
    Internal = "INTERNAL", internal;
    /// Octets of a message are not a value of the type that the IDL states, or a value cannot be marshalled. Retrying is
    /// pointless.
    Marshal = "MARSHAL", marshal;
    /// The ORB could not be initialized, because of an invalid setting for instance.
    Initialize = "INITIALIZE", initialize;
    /// The operation exists but has no implementation here.
    NoImplement = "NO_IMPLEMENT", no_implement;
    /// A TypeCode is malformed.
    BadTypecode = "BAD_TYPECODE", bad_typecode;
    /// The object has no such operation.
    BadOperation = "BAD_OPERATION", bad_operation;
    /// A resource other than memory is exhausted, such as threads or connections. A retry later may succeed.
    NoResources = "NO_RESOURCES", no_resources;
    /// A deferred call has no response yet.
    NoResponse = "NO_RESPONSE", no_response;
    /// Persistent storage failed.
    PersistStore = "PERSIST_STORE", persist_store;
    /// Operations were called in the wrong order, such as a call after the ORB's shutdown.
    BadInvOrder = "BAD_INV_ORDER", bad_inv_order;
    /// The object could not be reached or served now; a retry makes sense.
    Transient = "TRANSIENT", transient;
    /// Memory could not be freed.
    FreeMem = "FREE_MEM", free_mem;
    /// An identifier is malformed.
    InvIdent = "INV_IDENT", inv_ident;
    /// A flag is invalid.
    InvFlag = "INV_FLAG", inv_flag;
    /// The interface repository failed.
    IntfRepos = "INTF_REPOS", intf_repos;
    /// A context of an operation is malformed, or lacks a value.
    BadContext = "BAD_CONTEXT", bad_context;
    /// The object adapter failed.
    ObjAdapter = "OBJ_ADAPTER", obj_adapter;
    /// A character of a text is not in the code set of the connection.
    DataConversion = "DATA_CONVERSION", data_conversion;
    /// Policies contradict each other, or those of the reference.
    InvPolicy = "INV_POLICY", inv_policy;
    /// The call needs another connection or a forward, which its policy forbids.
    Rebind = "REBIND", rebind;
    /// The time limit passed. The completion status shows whether the operation may have been carried out.
    Timeout = "TIMEOUT", timeout;
    /// The transaction service is unavailable.
    TransactionUnavailable = "TRANSACTION_UNAVAILABLE", transaction_unavailable;
    /// Transaction policies do not fit.
    TransactionMode = "TRANSACTION_MODE", transaction_mode;
    /// A transaction is required.
    TransactionRequired = "TRANSACTION_REQUIRED", transaction_required;
    /// The transaction was rolled back.
    TransactionRolledback = "TRANSACTION_ROLLEDBACK", transaction_rolledback;
    /// The transaction is invalid.
    InvalidTransaction = "INVALID_TRANSACTION", invalid_transaction;
    /// Client and server have no code set in common.
    CodesetIncompatible = "CODESET_INCOMPATIBLE", codeset_incompatible;
    /// The quality of service cannot be met.
    BadQos = "BAD_QOS", bad_qos;
    /// The activity is invalid.
    InvalidActivity = "INVALID_ACTIVITY", invalid_activity;
    /// The activity has ended.
    ActivityCompleted = "ACTIVITY_COMPLETED", activity_completed;
    /// An activity is required.
    ActivityRequired = "ACTIVITY_REQUIRED", activity_required;
    /// The thread was cancelled.
    ThreadCancelled = "THREAD_CANCELLED", thread_cancelled;
}

impl SystemExceptionKind {
    /// Returns the kind with this repository id; `None` for ids that are not the OMG's system exceptions.
    #[must_use]
    pub fn from_repository_id(id: &str) -> Option<Self> {
        Self::from_name(id.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?)
    }
}

impl fmt::Display for SystemExceptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The progress of the operation at the time when the exception was raised.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (standard exceptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum CompletionStatus {
    /// The operation was carried out.
    #[doc(alias = "COMPLETED_YES")]
    Yes = 0,
    /// The operation was never begun.
    #[doc(alias = "COMPLETED_NO")]
    No = 1,
    /// It is not known whether the operation was carried out.
    #[doc(alias = "COMPLETED_MAYBE")]
    Maybe = 2,
}

impl fmt::Display for CompletionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "COMPLETED_YES",
            Self::No => "COMPLETED_NO",
            Self::Maybe => "COMPLETED_MAYBE",
        })
    }
}

/// Minor codes by name: all of the OMG's set (0x4f4d0000), zorb's own, and some of omniORB. A number has another meaning with
/// another exception.
///
/// Source: CORBA 3.3 Part 1, Appendix A.
pub mod minor {
    pub use crate::vendor::omg_minor::*;

    /// OBJ_ADAPTER: an adapter activator has raised a system exception.
    pub const ADAPTER_ACTIVATOR_FAILED: u32 = ADAPTER_INACTIVE;
    /// The vendor minor code set id of zorb: `ZO`.
    pub const ZORB: u32 = 0x5a4f_0000;
    /// UNKNOWN: the servant panicked.
    pub const SERVANT_PANICKED: u32 = ZORB | 1;
    /// IMP_LIMIT: a message is over its receiver's limit (`max_message_octets`).
    pub const MESSAGE_TOO_LARGE: u32 = ZORB | 2;
    /// TRANSIENT or TIMEOUT from omniORB: the time limit of a call has passed.
    pub const OMNIORB_CALL_TIMED_OUT: u32 = 0x4154_0000 | 8;
    /// MARSHAL from omniORB: a message is over its `giopMaxMsgSize`. The receiver raises it, client or server, or the
    /// reader of a longer sequence or string.
    pub const OMNIORB_MESSAGE_TOO_LARGE: [u32; 6] = [
        0x4154_0000 | 69,
        0x4154_0000 | 11,
        0x4154_0000 | 12,
        0x4154_0000 | 18,
        0x4154_0000 | 19,
        0x4154_0000 | 20,
    ];
}

/// The origin of an exception, which decides in which form a servant passes it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Raised in this process.
    Raised,
    /// Received from a call that this process made. It does not describe the servant that passes it on: see
    /// [`SystemException::for_caller`].
    Received,
}

/// A CORBA system exception.
///
/// `Display` shows kind, minor code, completion status and a description. The minor code has its meaning with it, if it
/// is one of the specification, omniORB's, TAO's or zorb's. The description is the endpoint where the exception was
/// raised in this process, and otherwise the text that the server sent, if any (JacORB and GlassFish do). Control
/// characters are escaped. The error behind it, such as an [`std::io::Error`], is its
/// [`source`](core::error::Error::source); the alternate form (`{:#}`) and `Debug` add that error's text, and those of
/// its sources. Equality compares the parts that are sent: kind, minor code and completion status. A clone increments
/// at most one reference count.
///
/// Source: CORBA 3.3 Part 1, ORB Interface (standard exceptions).
#[derive(Clone)]
pub struct SystemException {
    /// The kind of the exception, which has its own repository id.
    pub kind: SystemExceptionKind,
    /// Vendor set id in the upper 20 bits, code in the lower 12; 0 has no meaning.
    pub minor: u32,
    /// The progress of the operation, which shows whether a retry may carry it out twice.
    pub completed: CompletionStatus,
    origin: Origin,
    detail: Option<Arc<Detail>>,
}

/// The part of an exception that is not in the body of its reply. It is behind one pointer, since every result of a call
/// may be an exception.
#[derive(Clone)]
struct Detail {
    text: String,
    /// Whether the client of a servant that raises the exception gets the text.
    is_sent: bool,
    source: Option<Cause>,
}

impl SystemException {
    /// Makes an exception that is raised in this process.
    #[must_use]
    pub const fn new(kind: SystemExceptionKind, minor: u32, completed: CompletionStatus) -> Self {
        Self {
            kind,
            minor,
            completed,
            origin: Origin::Raised,
            detail: None,
        }
    }

    /// Adds a description of the event for users. A client gets it with the exception that a servant raises: zorb shows it
    /// as the exception's [`detail`](Self::detail), JacORB and GlassFish log it. So it must not name what the client may
    /// not know.
    ///
    /// It is sent in the service context ExceptionDetailMessage, cut to [`MAX_SENT_DETAIL_CHARACTERS`](crate::MAX_SENT_DETAIL_CHARACTERS). Source: CORBA 3.3
    /// Part 2, ORB Interoperability Architecture (service contexts).
    #[must_use]
    #[cold]
    pub fn with_detail(self, detail: impl fmt::Display) -> Self {
        self.described(detail.to_string(), true)
    }

    /// Adds a description of the event that stays in this process, such as one that names files or endpoints. The details of
    /// exceptions that the ORB raises are of this kind.
    #[must_use]
    #[cold]
    pub fn with_local_detail(self, detail: impl fmt::Display) -> Self {
        self.described(detail.to_string(), false)
    }

    fn described(mut self, text: String, is_sent: bool) -> Self {
        let source = self.cause().cloned();
        self.detail = Some(Arc::new(Detail {
            text,
            is_sent,
            source,
        }));
        self
    }

    /// Replaces the minor code: one of [`minor`], or one of the application's vendor set.
    #[must_use]
    pub fn with_minor(mut self, minor: u32) -> Self {
        self.minor = minor;
        self
    }

    /// Replaces the completion status, for a servant that fails after it has begun to act.
    #[must_use]
    pub fn with_completed(mut self, completed: CompletionStatus) -> Self {
        self.completed = completed;
        self
    }

    /// Whether the operation may have run: COMPLETED_YES or COMPLETED_MAYBE. If not, the same call can be made again
    /// without a risk that it runs twice.
    ///
    /// ```
    /// # extern crate zorb_giop as zorb;
    /// use zorb::{CompletionStatus, SystemException};
    ///
    /// assert!(!SystemException::transient("the pool is full").may_have_run());
    /// let lost = SystemException::comm_failure("").with_completed(CompletionStatus::Maybe);
    /// assert!(lost.may_have_run());
    /// ```
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        self.completed != CompletionStatus::No
    }

    /// Whether the same call may succeed later and surely has not run: COMPLETED_NO, and a kind that says nothing on the
    /// call itself (TRANSIENT, COMM_FAILURE, TIMEOUT, NO_RESOURCES or NO_MEMORY). `zorb::Retry` repeats these.
    ///
    /// ```
    /// # extern crate zorb_giop as zorb;
    /// use zorb::{CompletionStatus, SystemException};
    ///
    /// let full = SystemException::transient("the pool is full");
    /// assert!(full.is_retryable());
    /// // The reply was lost: whether the operation ran is unknown.
    /// assert!(!full.with_completed(CompletionStatus::Maybe).is_retryable());
    /// // The object is gone for good, or the caller may not: another try has the same end.
    /// assert!(!SystemException::object_not_exist("").is_retryable());
    /// assert!(!SystemException::no_permission("").is_retryable());
    /// ```
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        use SystemExceptionKind::{CommFailure, NoMemory, NoResources, Timeout, Transient};
        !self.may_have_run()
            && matches!(
                self.kind,
                Transient | CommFailure | Timeout | NoResources | NoMemory
            )
    }

    /// Whether a time limit has passed: TIMEOUT, or TRANSIENT with the minor code that omniORB has for it.
    /// [`may_have_run`](Self::may_have_run) shows whether the operation may have been carried out all the same.
    ///
    /// ```
    /// # extern crate zorb_giop as zorb;
    /// use zorb::{SystemException, minor};
    ///
    /// assert!(SystemException::timeout("").is_timeout());
    /// assert!(SystemException::transient("").with_minor(minor::OMNIORB_CALL_TIMED_OUT).is_timeout());
    /// // Nothing answered the connect: another host may, and no limit of the caller has passed.
    /// assert!(!SystemException::transient("").with_minor(minor::CANNOT_CONNECT).is_timeout());
    /// ```
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match self.kind {
            SystemExceptionKind::Timeout => true,
            SystemExceptionKind::Transient => self.minor == minor::OMNIORB_CALL_TIMED_OUT,
            _ => false,
        }
    }

    /// Makes the service context that sends the [detail](Self::with_detail); `None` if there is none to be sent. Allocates
    /// its data.
    #[must_use]
    #[cold]
    pub fn detail_context(&self) -> Option<ServiceContext> {
        let detail = self.detail.as_ref().filter(|detail| detail.is_sent)?;
        exception_detail_context(&detail.text)
    }

    /// Adds the error behind the exception, which becomes its [`source`](core::error::Error::source); it stays in this
    /// process.
    #[must_use]
    #[cold]
    pub fn with_source(self, source: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Self {
        self.with_cause(Cause::new(source))
    }

    /// Adds the source of an error whose own text is the detail.
    #[must_use]
    #[cold]
    pub fn with_source_of(self, error: impl core::error::Error + Send + Sync + 'static) -> Self {
        self.with_cause(Cause::behind(Arc::new(error)))
    }

    /// Adds the text of an error as the detail, which stays in this process, and its source, if it has one, as the source.
    #[must_use]
    #[cold]
    pub fn of_error(self, error: impl core::error::Error + Send + Sync + 'static) -> Self {
        let exception = self.with_local_detail(&error);
        match error.source().is_some() {
            true => exception.with_source_of(error),
            false => exception,
        }
    }

    pub(crate) fn with_cause(mut self, cause: Cause) -> Self {
        let is_sent = self.detail.as_ref().is_some_and(|detail| detail.is_sent);
        self.detail = Some(Arc::new(Detail {
            text: self.detail().unwrap_or_default().to_owned(),
            is_sent,
            source: Some(cause),
        }));
        self
    }

    fn cause(&self) -> Option<&Cause> {
        self.detail.as_ref()?.source.as_ref()
    }

    /// Returns the description of the event, if known: all of it, where `Display` shows the first line. A server may
    /// have sent it, so it may have control characters. The text of the [`source`](core::error::Error::source) is not
    /// part of it.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        let text = &self.detail.as_ref()?.text;
        (!text.is_empty()).then_some(text.as_str())
    }

    /// Returns whether it was raised in this process or received from a call.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Marks an exception as received from a call that this process made.
    #[must_use]
    pub fn received(mut self) -> Self {
        self.origin = Origin::Received;
        self
    }

    /// Marks the exception as raised in this process. A servant that got OBJECT_NOT_EXIST from a nested call, and whose
    /// own object is gone as well, returns `Err(e.raise())`.
    #[must_use]
    pub fn raise(mut self) -> Self {
        self.origin = Origin::Raised;
        self
    }

    /// Returns the exception that the client gets when the servant ends with this one.
    ///
    /// An exception that was raised in this process is sent unchanged. One that the servant received from a call of its
    /// own must not report that the servant itself is gone, or that a retry is safe. It is sent with COMPLETED_MAYBE,
    /// and OBJECT_NOT_EXIST or TRANSIENT as UNKNOWN. A client that passes references to addresses of its choice could
    /// learn from the difference between TRANSIENT, COMM_FAILURE and TIMEOUT whether a port is open, so these are
    /// UNKNOWN, too. Detail and source, which name endpoints and repeat the text of a service, are left out.
    ///
    /// The source of an exception is never sent, and of details only those of [`with_detail`](Self::with_detail). A program
    /// that puts the text of an exception into a message of its own, such as a member of a user exception, takes that of
    /// `for_caller()`:
    ///
    /// ```
    /// # extern crate zorb_giop as zorb;
    /// use zorb::{CompletionStatus, SystemException, SystemExceptionKind};
    ///
    /// let refused = SystemException::new(SystemExceptionKind::Transient, 0, CompletionStatus::No)
    ///     .with_detail("cannot connect to iiop://10.0.0.7:22: Connection refused")
    ///     .received();
    /// assert_eq!(refused.for_caller().to_string(), "UNKNOWN (minor 0x0, COMPLETED_MAYBE)");
    /// ```
    #[must_use]
    pub fn for_caller(&self) -> Self {
        if self.origin == Origin::Raised {
            return self.clone();
        }
        let (kind, minor) = match self.kind {
            SystemExceptionKind::ObjectNotExist
            | SystemExceptionKind::Transient
            | SystemExceptionKind::CommFailure
            | SystemExceptionKind::Timeout => (SystemExceptionKind::Unknown, 0),
            kind => (kind, self.minor),
        };
        Self {
            kind,
            minor,
            completed: CompletionStatus::Maybe,
            origin: Origin::Raised,
            detail: None,
        }
    }
}

impl PartialEq for SystemException {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.minor, self.completed) == (other.kind, other.minor, other.completed)
    }
}

impl Eq for SystemException {}

/// Characters of its detail that `Display` of a system exception shows.
const MAX_SHOWN_CHARACTERS: usize = 400;

impl fmt::Display for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (minor {:#x}", self.kind, self.minor)?;
        if let Some(vendor) = vendor::describe(self.kind, self.minor) {
            write!(f, " {vendor}")?;
        }
        write!(f, ", {})", self.completed)?;
        if let Some(detail) = self.detail() {
            write_detail(detail, f)?;
        }
        let is_shown = |cause: &&Cause| f.alternate() && cause.error().is_some();
        match self.cause().filter(is_shown) {
            Some(cause) => write!(f, ": {}", Printable(&format!("{cause:#}"))),
            None => Ok(()),
        }
    }
}

/// Writes the first line of a detail, and not more than [`MAX_SHOWN_CHARACTERS`] of it.
fn write_detail(detail: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // Java ORBs send a stack trace, whose first line has the message; GlassFish's is behind a rule of dashes.
    let mut shown = String::new();
    let mut lines = (detail.split('\n').map(str::trim)).filter(|line| !line.is_empty());
    for line in lines.by_ref() {
        let (before, is_rule) = match line.find("-----") {
            Some(at) => (line.get(..at).unwrap_or_default().trim_end(), true),
            None => (line, false),
        };
        if !shown.is_empty() && !before.is_empty() {
            shown.push(' ');
        }
        shown.push_str(before);
        if !is_rule {
            break;
        }
    }
    if shown.is_empty() {
        return Ok(());
    }
    let rest = match shown.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((at, _)) => {
            shown.truncate(at);
            true
        }
        None => lines.next().is_some(),
    };
    let rest = if rest { " …" } else { "" };
    write!(f, ": {}{rest}", Printable(&shown))
}

/// Writes `{:#}`, so that an exception that ends `main` is shown with detail and sources.
impl fmt::Debug for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl core::error::Error for SystemException {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.cause()?.error()
    }
}

/// Makes an exception of minor code 0 and COMPLETED_NO, as the default constructors of the C++ mapping do. That is
/// right for a servant that refuses a call before it has any effect.
impl From<SystemExceptionKind> for SystemException {
    fn from(kind: SystemExceptionKind) -> Self {
        Self::new(kind, 0, CompletionStatus::No)
    }
}

/// BAD_PARAM, MARSHAL or DATA_CONVERSION; COMPLETED_MAYBE, since the servant may have acted already.
impl From<EncodeError> for SystemException {
    fn from(error: EncodeError) -> Self {
        Fault::Encode(error).raise(CompletionStatus::Maybe)
    }
}

/// MARSHAL or DATA_CONVERSION, as for the body of a message; COMPLETED_MAYBE, since the servant may have acted already.
impl From<DecodeError> for SystemException {
    fn from(error: DecodeError) -> Self {
        Fault::Decode(error).raise(CompletionStatus::Maybe)
    }
}

/// BAD_PARAM for an any that holds another type, MARSHAL for one whose value is malformed; COMPLETED_MAYBE, since the servant
/// may have acted already.
impl From<ExtractError> for SystemException {
    fn from(error: ExtractError) -> Self {
        Fault::Extract(error).raise(CompletionStatus::Maybe)
    }
}

/// DATA_CONVERSION: the number does not fit the `fixed` of the IDL. COMPLETED_MAYBE, since the servant may have acted already.
impl From<FixedError> for SystemException {
    fn from(error: FixedError) -> Self {
        Fault::Number(error.to_string()).raise(CompletionStatus::Maybe)
    }
}

/// DATA_CONVERSION: the text is not a `long double`. COMPLETED_MAYBE, since the servant may have acted already.
impl From<NotALongDouble> for SystemException {
    fn from(error: NotALongDouble) -> Self {
        Fault::Number(error.to_string()).raise(CompletionStatus::Maybe)
    }
}

/// UNKNOWN, COMPLETED_MAYBE: an error of the operating system that a servant met. The error is the source; neither it nor its
/// text is sent.
impl From<std::io::Error> for SystemException {
    fn from(error: std::io::Error) -> Self {
        Fault::Application(Cause::new(error)).raise(CompletionStatus::Maybe)
    }
}

/// UNKNOWN, COMPLETED_MAYBE: any error of the application. The error is the source; neither it nor its text is sent.
impl From<Box<dyn core::error::Error + Send + Sync>> for SystemException {
    fn from(error: Box<dyn core::error::Error + Send + Sync>) -> Self {
        Fault::Application(Cause::new(error)).raise(CompletionStatus::Maybe)
    }
}

impl Encode for SystemException {
    fn encode<O: ByteOrder>(&self, e: &mut Encoder<O>) -> Result<(), EncodeError> {
        e.write_raw_string(self.kind.repository_id().as_bytes())?;
        e.write_u32(self.minor);
        e.write_u32(self.completed as u32);
        Ok(())
    }
}

impl<'de> Decode<'de> for SystemException {
    const MIN_SIZE: usize = 12;

    /// Reads an id that this ORB does not know as UNKNOWN minor 2.
    fn decode<O: ByteOrder>(d: &mut Decoder<'de, O>) -> Result<Self, DecodeError> {
        let id = d.read_raw_string()?;
        let kind = core::str::from_utf8(id)
            .ok()
            .and_then(SystemExceptionKind::from_repository_id);
        let minor = d.read_u32()?;
        let completed = match d.read_u32()? {
            0 => CompletionStatus::Yes,
            1 => CompletionStatus::No,
            2 => CompletionStatus::Maybe,
            found => return Err(d.error(DecodeErrorKind::InvalidEnum { found, count: 3 })),
        };
        Ok(match kind {
            Some(kind) => Self::new(kind, minor, completed),
            None => Self::new(
                SystemExceptionKind::Unknown,
                minor::UNKNOWN_SYSTEM_EXCEPTION,
                completed,
            )
            .with_local_detail(format_args!(
                "system exception {:?} is not known",
                String::from_utf8_lossy(id)
            )),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_repository_id() {
        assert_eq!(SystemExceptionKind::ALL.len(), 40);
        for kind in SystemExceptionKind::ALL {
            assert_eq!(
                SystemExceptionKind::from_repository_id(kind.repository_id()),
                Some(*kind)
            );
        }
        for id in ["IDL:CORBA/UNKNOWN:1.0", "IDL:omg.org/CORBA/unknown:1.0", ""] {
            assert_eq!(SystemExceptionKind::from_repository_id(id), None);
        }
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in SystemExceptionKind::ALL {
            assert_eq!(SystemExceptionKind::from_name(kind.name()), Some(*kind));
        }
        assert_eq!(SystemExceptionKind::from_name("unknown"), None);
    }

    #[test]
    fn an_exception_is_made_of_its_kind_alone() {
        let refused = SystemException::from(SystemExceptionKind::NoPermission);
        assert_eq!(
            refused.to_string(),
            "NO_PERMISSION (minor 0x0, COMPLETED_NO)"
        );
    }

    #[test]
    fn a_stack_trace_is_shown_by_its_first_line_and_kept_whole() {
        let kind = SystemException::from(SystemExceptionKind::Unknown);
        let trace = "\njava.lang.NullPointerException: no row \n\tat a.B.c(B.java:1)\n\tat d.E.f(E.java:2)\n";
        let shown = kind.clone().with_detail(trace);
        assert_eq!(
            shown.to_string(),
            "UNKNOWN (minor 0x0, COMPLETED_NO): java.lang.NullPointerException: no row …"
        );
        assert_eq!(shown.detail(), Some(trace));
        let glassfish = "the server says: ----------BEGIN server-side stack trace----------\n\
            org.omg.CORBA.UNKNOWN: no row\n\tat a.B.c(B.java:1)\n";
        assert_eq!(
            kind.clone().with_detail(glassfish).to_string(),
            "UNKNOWN (minor 0x0, COMPLETED_NO): the server says: org.omg.CORBA.UNKNOWN: no row …"
        );
        let long = kind.clone().with_detail("x".repeat(100_000)).to_string();
        assert!(long.len() < 500 && long.ends_with("x …"), "{long}");
        let one = kind.clone().with_detail("one line\n");
        assert_eq!(
            one.to_string(),
            "UNKNOWN (minor 0x0, COMPLETED_NO): one line"
        );
        let empty = kind.with_detail(" \n");
        assert_eq!(empty.to_string(), "UNKNOWN (minor 0x0, COMPLETED_NO)");
    }

    #[test]
    fn control_characters_are_escaped_where_an_exception_is_shown() {
        let kind = SystemException::from(SystemExceptionKind::Unknown);
        let forged = kind.with_detail("row\u{1b}[2J\rgone\u{85}\u{2028}.");
        assert_eq!(
            forged.to_string(),
            "UNKNOWN (minor 0x0, COMPLETED_NO): row\\u{1b}[2J\\rgone\\u{85}\\u{2028}."
        );
        assert_eq!(forged.detail(), Some("row\u{1b}[2J\rgone\u{85}\u{2028}."));
    }

    #[test]
    fn what_a_servant_received_does_not_speak_of_the_servant() {
        let gone = SystemException::new(
            SystemExceptionKind::ObjectNotExist,
            minor::NO_ADAPTER,
            CompletionStatus::No,
        );
        assert_eq!(gone.for_caller(), gone);
        let passed_on = gone.clone().received().for_caller();
        assert_eq!(passed_on.kind, SystemExceptionKind::Unknown);
        assert_eq!(passed_on.completed, CompletionStatus::Maybe);
        assert_eq!(gone.clone().received().raise().for_caller(), gone);
        for kind in [
            SystemExceptionKind::CommFailure,
            SystemExceptionKind::Timeout,
            SystemExceptionKind::Transient,
        ] {
            let lost = SystemException::new(kind, 7, CompletionStatus::Maybe);
            let passed_on = lost
                .with_detail("iiop://h:22: SSH-2.0")
                .received()
                .for_caller();
            assert_eq!(
                passed_on.to_string(),
                "UNKNOWN (minor 0x0, COMPLETED_MAYBE)"
            );
        }
        let full = SystemException::new(SystemExceptionKind::NoResources, 7, CompletionStatus::No);
        let passed_on = full.received().for_caller();
        assert_eq!(passed_on.kind, SystemExceptionKind::NoResources);
        assert_eq!(passed_on.completed, CompletionStatus::Maybe);
    }
}
