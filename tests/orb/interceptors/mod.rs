//! Portable interceptors: order, flow stack, what they may do to a call, and what they see of it, of remote calls and of
//! calls within an ORB alike.

mod dynamic;
mod hostile;
mod outcomes;
mod slots;
mod start;
mod table;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use zorb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, Interception, InterceptionPoint as Point,
    Interrupt, ServerRequestInfo, ServerRequestInterceptor,
};
use zorb::{Interface, ObjectRef, Orb, Poa, SystemException};

zorb::idl! {
    interface Till {
        exception Refused { string why; };
        long add(in long amount, out long twice);
        void refuse(in string why) raises (Refused);
        void fail();
        void die();
        oneway void note(in long amount);
        void relay(in Till to);
        void pass();
    };
}

struct Servant;

impl Till for Servant {
    async fn add(&self, amount: i32) -> Result<(i32, i32), SystemException> {
        Ok((amount + 1, 2 * amount))
    }

    async fn refuse(&self, why: &str) -> Result<(), till::RefuseError> {
        Err(till::Refused {
            why: why.to_owned(),
        }
        .into())
    }

    async fn fail(&self) -> Result<(), SystemException> {
        Err(SystemException::no_permission("not today"))
    }

    async fn die(&self) -> Result<(), SystemException> {
        panic!("the till is broken")
    }

    async fn note(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }

    async fn relay(&self, to: Option<TillRef>) -> Result<(), SystemException> {
        tokio::task::yield_now().await;
        to.expect("a till").pass().await
    }

    async fn pass(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// What an interceptor does at a point.
#[derive(Clone)]
enum Act {
    Go,
    Fail(SystemException),
    Forward(ObjectRef),
    /// Goes on when notified.
    Wait(Arc<Notify>),
    /// Calls this object, and goes on.
    Call(TillRef),
    /// Calls it without interceptors.
    CallWithout(TillRef),
    Panic,
}

type Decide = dyn Fn(Point, &str) -> Act + Send + Sync;

/// An interceptor of either side, which notes its points.
#[derive(Clone)]
struct Probe {
    name: &'static str,
    seen: Seen,
    decide: Arc<Decide>,
}

/// The points that were called, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    /// The points since the last call of this.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Probe {
    fn new(name: &'static str, seen: &Seen) -> Self {
        Self::deciding(name, seen, |_, _| Act::Go)
    }

    fn deciding(
        name: &'static str,
        seen: &Seen,
        decide: impl Fn(Point, &str) -> Act + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            seen: seen.clone(),
            decide: Arc::new(decide),
        }
    }

    fn act<'a, E: From<SystemException> + 'a>(
        &self,
        point: Point,
        operation: &str,
        status: String,
        forward: impl FnOnce(ObjectRef) -> E,
    ) -> Interception<'a, E> {
        self.seen
            .note(format!("{} {} {point:?}{status}", self.name, operation));
        match (self.decide)(point, operation) {
            Act::Go => Interception::CONTINUE,
            Act::Fail(exception) => Interception::Ready(Err(exception.into())),
            Act::Forward(object) => Interception::Ready(Err(forward(object))),
            Act::Wait(until) => Interception::later(async move {
                until.notified().await;
                Ok(())
            }),
            Act::Call(till) => Interception::later(async move { Ok(till.pass().await?) }),
            Act::CallWithout(till) => {
                Interception::later(
                    async move { Ok(Orb::without_interceptors(till.pass()).await?) },
                )
            }
            Act::Panic => panic!("an interceptor breaks"),
        }
    }

    fn client<'a>(&self, info: &ClientRequestInfo<'_>) -> Interception<'a> {
        let status = info.reply_status();
        let status = status.map_or_else(|_| String::new(), |status| format!(" {status:?}"));
        self.act(info.point(), info.operation(), status, Interrupt::Forward)
    }

    fn server<'a>(&self, info: &ServerRequestInfo<'_>) -> Interception<'a> {
        let status = info.reply_status();
        let status = status.map_or_else(|_| String::new(), |status| format!(" {status:?}"));
        self.act(info.point(), info.operation(), status, Interrupt::Forward)
    }
}

fn no_forward(_: ObjectRef) -> SystemException {
    unreachable!("this point cannot forward")
}

impl ClientRequestInterceptor for Probe {
    fn name(&self) -> &str {
        self.name
    }

    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        self.client(info)
    }

    fn receive_reply<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let status = format!(" {:?}", info.reply_status().unwrap());
        self.act(info.point(), info.operation(), status, no_forward)
    }

    fn receive_exception<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        self.client(info)
    }

    fn receive_other<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        self.client(info)
    }
}

impl ServerRequestInterceptor for Probe {
    fn name(&self) -> &str {
        self.name
    }

    fn receive_request_service_contexts<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a> {
        self.server(info)
    }

    fn receive_request<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        self.server(info)
    }

    fn send_reply<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        let status = format!(" {:?}", info.reply_status().unwrap());
        self.act(info.point(), info.operation(), status, no_forward)
    }

    fn send_exception<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        self.server(info)
    }

    fn send_other<'a>(&'a self, info: &'a mut ServerRequestInfo<'_>) -> Interception<'a> {
        self.server(info)
    }
}

/// A client and a server, and a reference to a till in each: one that the server passes over its own connection, and one that
/// is called within the ORB.
struct Pair {
    client: Orb,
    server: Orb,
    poa: Poa,
    far: TillRef,
    near: TillRef,
}

async fn pair(client: &[Probe], server: &[Probe]) -> Pair {
    let add = |mut builder: zorb::Builder, probes: &[Probe]| {
        for probe in probes {
            builder = builder.client_interceptor(probe.clone());
        }
        builder
    };
    let mut serving = add(Orb::builder().listen("iiop://127.0.0.1:0"), client);
    for probe in server {
        serving = serving.server_interceptor(probe.clone());
    }
    let server = serving.build().await.unwrap();
    let client = add(Orb::builder(), client).build().await.unwrap();
    let poa = server.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let near: TillRef = poa.activate(TillServant::new(Servant)).unwrap();
    let far = client.string_to_object(&near.to_string()).await.unwrap();
    Pair {
        far: far.unchecked_narrow(),
        near,
        client,
        server,
        poa,
    }
}

impl Pair {
    /// The reference at the client of an object of the server.
    async fn far_of(&self, object: &ObjectRef) -> TillRef {
        let far = self.client.string_to_object(&object.to_string()).await;
        far.unwrap().unchecked_narrow()
    }

    async fn end(self) {
        self.client.shutdown(true).await.unwrap();
        self.server.shutdown(true).await.unwrap();
    }
}

async fn within<T>(what: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, what).await.expect("it hangs")
}

const ADD: [&str; 10] = [
    "c1 add SendRequest",
    "c2 add SendRequest",
    "s1 add ReceiveRequestServiceContexts",
    "s2 add ReceiveRequestServiceContexts",
    "s1 add ReceiveRequest",
    "s2 add ReceiveRequest",
    "s2 add SendReply Successful",
    "s1 add SendReply Successful",
    "c2 add ReceiveReply Successful",
    "c1 add ReceiveReply Successful",
];

fn probes(seen: &Seen) -> ([Probe; 2], [Probe; 2]) {
    (
        [Probe::new("c1", seen), Probe::new("c2", seen)],
        [Probe::new("s1", seen), Probe::new("s2", seen)],
    )
}

#[tokio::test]
async fn starting_points_run_in_order_and_ending_points_in_reverse() {
    let seen = Seen::default();
    let (client, server) = probes(&seen);
    let pair = pair(&client, &server).await;
    for till in [&pair.far, &pair.near] {
        assert_eq!(till.add(20).await.unwrap(), (21, 40));
        assert_eq!(seen.take(), ADD);
        let refused = till.refuse("closed").await.unwrap_err();
        assert!(matches!(refused, till::RefuseError::Refused(refused) if refused.why == "closed"));
        assert_eq!(
            seen.take()[6..],
            [
                "s2 refuse SendException UserException",
                "s1 refuse SendException UserException",
                "c2 refuse ReceiveException UserException",
                "c1 refuse ReceiveException UserException",
            ]
        );
        let failed = till.fail().await.unwrap_err();
        assert_eq!(failed.kind, zorb::SystemExceptionKind::NoPermission);
        assert_eq!(
            seen.take()[6..],
            [
                "s2 fail SendException SystemException",
                "s1 fail SendException SystemException",
                "c2 fail ReceiveException SystemException",
                "c1 fail ReceiveException SystemException",
            ]
        );
        let died = till.die().await.unwrap_err();
        assert_eq!(died.minor, zorb::minor::SERVANT_PANICKED);
        assert_eq!(
            seen.take()[6..8],
            [
                "s2 die SendException SystemException",
                "s1 die SendException SystemException",
            ]
        );
        till.note(1).await.unwrap();
        let ended = "s1 note SendOther Successful";
        within(async {
            while !seen.0.lock().unwrap().iter().any(|seen| seen == ended) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        till.with_sync_scope(zorb::SyncScope::WithTarget)
            .note(2)
            .await
            .unwrap();
        let seen = seen.take();
        let of = |name: &str| -> Vec<&str> {
            let own = seen.iter().filter(|seen| seen.starts_with(name));
            own.map(|seen| &seen[3..]).collect()
        };
        assert_eq!(
            of("c1"),
            [
                "note SendRequest",
                "note ReceiveOther Successful",
                "note SendRequest",
                "note ReceiveReply Successful",
            ]
        );
        assert_eq!(
            of("s2"),
            [
                "note ReceiveRequestServiceContexts",
                "note ReceiveRequest",
                "note SendOther Successful",
                "note ReceiveRequestServiceContexts",
                "note ReceiveRequest",
                "note SendReply Successful",
            ]
        );
    }
    pair.end().await;
}

#[tokio::test]
async fn two_interceptors_of_one_kind_have_two_names_or_none() {
    let seen = Seen::default();
    let probe = || Probe::new("one", &seen);
    let built = Orb::builder()
        .client_interceptor(probe())
        .server_interceptor(probe())
        .build()
        .await;
    built.unwrap().shutdown(true).await.unwrap();
    let none = || Probe::new("", &seen);
    let built = Orb::builder()
        .client_interceptor(none())
        .client_interceptor(none())
        .build()
        .await;
    built.unwrap().shutdown(true).await.unwrap();
    let built = Orb::builder()
        .client_interceptor(probe())
        .client_interceptor(probe())
        .build()
        .await;
    assert_eq!(
        built.unwrap_err().to_string(),
        "INITIALIZE (minor 0x0, COMPLETED_NO): two client interceptors are named \"one\""
    );
}
