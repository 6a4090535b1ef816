//! The validity table: which attribute of a request an interception point has.

use super::{Point, Till, TillRef, TillServant};
use crate::counting::ALLOCATIONS;
use crate::interceptors::Servant;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zorb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, ComponentTag, Interception, ServerRequestInfo,
    ServerRequestInterceptor, ServiceContext, ServiceContextId,
};
use zorb::policy::PolicyType;
use zorb::{Bytes, Forward, Interface, Orb, SystemException, SystemExceptionKind as Kind, minor};

/// The points of the table that a call can have, in its order, without `send_poll`.
const POINTS: [Point; 9] = [
    Point::SendRequest,
    Point::ReceiveReply,
    Point::ReceiveException,
    Point::ReceiveOther,
    Point::ReceiveRequestServiceContexts,
    Point::ReceiveRequest,
    Point::SendReply,
    Point::SendException,
    Point::SendOther,
];

/// The table of the specification: `+` for a point that has the attribute.
const TABLE: [(&str, &str); 22] = [
    ("request_id", "++++ +++++"),
    ("operation", "++++ +++++"),
    ("response_expected", "++++ +++++"),
    ("sync_scope", "++++ +++++"),
    ("arguments", "++-- -++--"),
    ("results", "-+-- --+--"),
    ("reply_status", "-+++ --+++"),
    ("forward_reference", "---+ ----+"),
    ("request_service_context", "++++ +++++"),
    ("reply_service_context", "-+++ --+++"),
    ("target", "++++ -----"),
    ("effective_profile", "++++ -----"),
    ("received_exception", "--+- -----"),
    ("effective_component", "++++ -----"),
    ("request_policy", "++++ -----"),
    ("add_request_service_context", "+--- -----"),
    ("sending_exception", "---- ---+-"),
    ("object_id", "---- -++++"),
    ("adapter_name", "---- -++++"),
    ("target_is_a", "---- -+---"),
    ("server_policies", "---- +++++"),
    ("add_reply_service_context", "---- +++++"),
];

const ADDED: ServiceContextId = ServiceContextId(0x5445_5301);
const MISSING: ServiceContextId = ServiceContextId(0x5445_5302);

fn context(id: ServiceContextId) -> ServiceContext {
    let data = Bytes::from_static(b"\0data");
    ServiceContext { id, data }
}

/// Whether each attribute is there, by point: not BAD_INV_ORDER 14. Twice the same call, twice the same answer.
#[derive(Clone, Default)]
struct Checks(Arc<Mutex<BTreeMap<(String, String), bool>>>);

impl Checks {
    fn note<T>(&self, attribute: &str, point: Point, result: Result<T, SystemException>) {
        let is_there = match result {
            Ok(_) => true,
            Err(error) => {
                let missing = (error.kind, error.minor)
                    == (Kind::BadInvOrder, minor::WRONG_INTERCEPTION_POINT);
                if !missing {
                    // The other reasons that the specification has.
                    let known = [
                        (Kind::NoResources, minor::NOT_AVAILABLE_TO_INTERCEPTOR),
                        (Kind::BadParam, minor::BAD_CONTEXT_ID),
                        (Kind::BadParam, minor::BAD_COMPONENT_ID),
                        (Kind::InvPolicy, minor::INVALID_POLICY_TYPE),
                        (Kind::BadInvOrder, minor::CONTEXT_PRESENT),
                        (Kind::Marshal, 0),
                    ];
                    assert!(
                        known.contains(&(error.kind, error.minor)),
                        "{attribute}: {error}"
                    );
                }
                !missing
            }
        };
        let key = (attribute.to_owned(), format!("{point:?}"));
        let before = self.0.lock().unwrap().insert(key.clone(), is_there);
        assert!(before.is_none_or(|before| before == is_there), "{key:?}");
    }

    fn client(&self, info: &mut ClientRequestInfo<'_>) {
        let point = info.point();
        self.note("request_id", point, Ok(info.request_id()));
        self.note("operation", point, Ok(info.operation()));
        self.note("response_expected", point, Ok(info.response_expected()));
        self.note("sync_scope", point, info.sync_scope());
        self.note("arguments", point, info.arguments::<(i32,)>());
        self.note("results", point, info.results::<(i32, i32)>());
        self.note("reply_status", point, info.reply_status());
        self.note("forward_reference", point, info.forward_reference());
        self.note(
            "request_service_context",
            point,
            info.request_service_context(MISSING),
        );
        self.note(
            "reply_service_context",
            point,
            info.reply_service_context(MISSING),
        );
        self.note("target", point, Ok(info.target()));
        assert!(!info.effective_target().type_id().is_empty());
        self.note(
            "effective_profile",
            point,
            Ok(info.effective_profile().unwrap()),
        );
        self.note("received_exception", point, info.received_exception_id());
        let of = info.received_exception::<SystemException>();
        let unlisted = matches!(&of, Err(error) if error.kind == Kind::Unknown);
        self.note(
            "received_exception",
            point,
            if unlisted { Ok(()) } else { of.map(|_| ()) },
        );
        self.note(
            "effective_component",
            point,
            info.effective_component(ComponentTag::ORB_TYPE),
        );
        self.note(
            "effective_component",
            point,
            info.effective_components(ComponentTag(9999)),
        );
        self.note(
            "request_policy",
            point,
            info.request_policy(PolicyType(9999)),
        );
        let added = info.add_request_service_context(context(ADDED), false);
        self.note("add_request_service_context", point, added);
    }

    fn server(&self, info: &mut ServerRequestInfo<'_>) {
        let point = info.point();
        self.note("request_id", point, Ok(info.request_id()));
        self.note("operation", point, Ok(info.operation()));
        self.note("response_expected", point, Ok(info.response_expected()));
        self.note("sync_scope", point, info.sync_scope());
        self.note("arguments", point, info.arguments::<(i32,)>());
        self.note("results", point, info.results::<(i32, i32)>());
        self.note("reply_status", point, info.reply_status());
        self.note("forward_reference", point, info.forward_reference());
        self.note(
            "request_service_context",
            point,
            info.request_service_context(MISSING),
        );
        self.note(
            "reply_service_context",
            point,
            info.reply_service_context(MISSING),
        );
        self.note("sending_exception", point, info.sending_exception_id());
        self.note("object_id", point, info.object_id());
        self.note("adapter_name", point, info.adapter_name());
        self.note("adapter_name", point, info.adapter_id());
        self.note("adapter_name", point, info.server_id());
        self.note("adapter_name", point, info.orb_id());
        self.note("target_is_a", point, info.target_is_a("IDL:Till:1.0"));
        self.note("target_is_a", point, info.target_most_derived_interface());
        self.note("server_policies", point, info.server_policies());
        let added = info.add_reply_service_context(context(ADDED), false);
        self.note("add_reply_service_context", point, added);
    }

    /// The rows, as far as calls had the points.
    fn rows(&self) -> BTreeMap<String, String> {
        let seen = self.0.lock().unwrap();
        let mut rows = BTreeMap::new();
        for (attribute, _) in TABLE {
            let mut row = String::new();
            for (at, point) in POINTS.iter().enumerate() {
                if at == 4 {
                    row.push(' ');
                }
                let key = (attribute.to_owned(), format!("{point:?}"));
                row.push(match seen.get(&key) {
                    Some(true) => '+',
                    _ => '-',
                });
            }
            rows.insert(attribute.to_owned(), row);
        }
        rows
    }
}

macro_rules! check_at {
    ($trait:ident, $info:ident, $check:ident: $($point:ident -> $error:ty,)*) => {
        impl $trait for Checks {
            $(fn $point<'a>(&'a self, info: &'a mut $info<'_>) -> Interception<'a, $error> {
                self.$check(info);
                Interception::CONTINUE
            })*
        }
    };
}

use zorb::interceptors::Interrupt;

check_at! { ClientRequestInterceptor, ClientRequestInfo, client:
    send_request -> Interrupt,
    receive_reply -> SystemException,
    receive_exception -> Interrupt,
    receive_other -> Interrupt,
}

check_at! { ServerRequestInterceptor, ServerRequestInfo, server:
    receive_request_service_contexts -> Interrupt,
    receive_request -> Interrupt,
    send_reply -> SystemException,
    send_exception -> Interrupt,
    send_other -> Interrupt,
}

#[tokio::test]
async fn a_point_has_the_attributes_of_the_specifications_table_and_no_others() {
    let expected: BTreeMap<_, _> = (TABLE.iter())
        .map(|(attribute, row)| ((*attribute).to_owned(), (*row).to_owned()))
        .collect();
    for is_far in [true, false] {
        let checks = Checks::default();
        let server = Orb::builder()
            .listen("iiop://127.0.0.1:0")
            .client_interceptor(checks.clone())
            .server_interceptor(checks.clone())
            .build()
            .await
            .unwrap();
        let client = Orb::builder()
            .client_interceptor(checks.clone())
            .build()
            .await
            .unwrap();
        let poa = server.root_poa();
        poa.the_poa_manager().activate().unwrap();
        let near: TillRef = poa.activate(TillServant::new(Servant)).unwrap();
        let forward: TillRef = poa.create_forward(Forward::to(&near)).unwrap();
        let at = async |till: &TillRef| -> TillRef {
            match is_far {
                true => {
                    let far = client.string_to_object(&till.as_object().to_string()).await;
                    far.unwrap().unchecked_narrow()
                }
                false => till.clone(),
            }
        };
        let till = at(&near).await;
        till.add(1).await.unwrap();
        till.refuse("no").await.unwrap_err();
        till.fail().await.unwrap_err();
        at(&forward).await.add(1).await.unwrap();
        assert_eq!(checks.rows(), expected, "far: {is_far}");
        client.shutdown(true).await.unwrap();
        server.shutdown(true).await.unwrap();
    }
}

/// Reads what a call carries.
struct Reads(Arc<Mutex<Vec<String>>>);

impl Reads {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
}

impl ClientRequestInterceptor for Reads {
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        self.note(format!("sends {:?}", info.arguments::<(i32,)>().ok()));
        info.add_request_service_context(context(ADDED), false)
            .unwrap();
        let again = info
            .add_request_service_context(context(ADDED), false)
            .unwrap_err();
        assert_eq!(
            (again.kind, again.minor),
            (Kind::BadInvOrder, minor::CONTEXT_PRESENT)
        );
        let data = Bytes::from_static(b"\0other");
        let other = ServiceContext { id: ADDED, data };
        info.add_request_service_context(other, true).into()
    }

    fn receive_reply<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let replied = info.reply_service_context(ADDED).unwrap();
        self.note(format!(
            "gets {:?} with {:?}",
            info.results::<(i32, i32)>().ok(),
            replied.data
        ));
        Interception::CONTINUE
    }

    fn receive_exception<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let id = info.received_exception_id().unwrap();
        let exception = info
            .received_exception::<super::till::RefuseError>()
            .unwrap();
        self.note(format!("gets {id}: {exception}"));
        let replied = info.reply_service_context(ADDED).unwrap();
        assert_eq!(replied.data, b"\0data"[..]);
        Interception::CONTINUE
    }
}

impl ServerRequestInterceptor for Reads {
    fn receive_request<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        let sent = info.request_service_context(ADDED).unwrap();
        let arguments = info.arguments::<(i32,)>().ok();
        self.note(format!("serves {arguments:?} with {:?}", sent.data));
        assert_eq!(
            info.target_most_derived_interface().unwrap(),
            "IDL:Till:1.0"
        );
        info.add_reply_service_context(context(ADDED), false).into()
    }

    fn send_reply<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        self.note(format!("replies {:?}", info.results::<(i32, i32)>().ok()));
        Interception::CONTINUE
    }

    fn send_exception<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        let exception = info
            .sending_exception::<super::till::RefuseError>()
            .unwrap();
        self.note(format!("raises {exception}"));
        Interception::CONTINUE
    }
}

#[tokio::test]
async fn interceptors_read_arguments_results_exceptions_and_contexts_where_they_are_marshalled() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .client_interceptor(Reads(Arc::clone(&log)))
        .server_interceptor(Reads(Arc::clone(&log)))
        .build()
        .await
        .unwrap();
    let client = Orb::builder().client_interceptor(Reads(Arc::clone(&log)));
    let client = client.build().await.unwrap();
    let poa = server.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let near: TillRef = poa.activate(TillServant::new(Servant)).unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    let far: TillRef = far.unchecked_narrow();
    let take = || std::mem::take(&mut *log.lock().unwrap());
    far.add(3).await.unwrap();
    assert_eq!(
        take(),
        [
            "sends Some((3,))",
            "serves Some((3,)) with b\"\\0other\"",
            "replies Some((4, 6))",
            "gets Some((4, 6)) with b\"\\0data\"",
        ]
    );
    // Within an ORB, arguments and results are values.
    near.add(3).await.unwrap();
    assert_eq!(
        take(),
        [
            "sends Some((3,))",
            "serves None with b\"\\0other\"",
            "replies None",
            "gets None with b\"\\0data\"",
        ]
    );
    for till in [&far, &near] {
        till.refuse("closed").await.unwrap_err();
        let seen = take();
        let raised = &seen[seen.len() - 2..];
        assert!(
            raised[0].starts_with("raises ") && raised[0].contains("closed"),
            "{raised:?}"
        );
        assert!(
            raised[1].starts_with("gets IDL:Till/Refused:1.0: "),
            "{raised:?}"
        );
    }
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}

struct Empty;

impl ClientRequestInterceptor for Empty {}
impl ServerRequestInterceptor for Empty {}

#[tokio::test]
async fn an_interceptor_that_does_nothing_allocates_nothing() {
    let server = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .client_interceptor(Empty)
        .server_interceptor(Empty)
        .build()
        .await
        .unwrap();
    let client = Orb::builder()
        .client_interceptor(Empty)
        .build()
        .await
        .unwrap();
    let poa = server.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let near: TillRef = poa.activate(TillServant::new(Servant)).unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    let far: TillRef = far.unchecked_narrow();
    for till in [&far, &near] {
        for _ in 0..20 {
            till.add(1).await.unwrap();
        }
        let before = ALLOCATIONS.get();
        for _ in 0..100 {
            till.add(1).await.unwrap();
        }
        assert_eq!(ALLOCATIONS.get() - before, 0);
    }
    let _ = <Servant as Till>::pass;
    client.shutdown(true).await.unwrap();
    server.shutdown(true).await.unwrap();
}
