//! Interceptors of JacORB, of omniORB and ours, with service contexts of requests and replies both ways.

use crate::interop::idl::interop::PeerRef;
use crate::interop::jacorb::JACORB;
use crate::interop::nodes::host_node;
use crate::interop::omniorb::OMNIORB;
use crate::peers::{Brand, Over, Way};
use std::sync::{Arc, Mutex};
use zorb::interceptors::{
    ClientRequestInfo, ClientRequestInterceptor, Interception, ServerRequestInfo,
    ServerRequestInterceptor, ServiceContext, ServiceContextId,
};
use zorb::{Interface, Orb, SystemException};

const ASKED: ServiceContextId = ServiceContextId(0x5a58_0001);
const ANSWERED: ServiceContextId = ServiceContextId(0x5a58_0002);
/// The arguments by which a program of either ORB has its interceptors.
const OF_JACORB: &str = "-Dorg.omg.PortableInterceptor.ORBInitializerClass.peer.Contexts=";
const OF_OMNIORB: &str = "--contexts";

fn context(id: ServiceContextId, text: &str) -> ServiceContext {
    let data = format!("\0{text}").into();
    ServiceContext { id, data }
}

fn text(context: &ServiceContext) -> String {
    String::from_utf8_lossy(&context.data[1..]).into_owned()
}

/// Asks as a client, answers as a server, and notes what the other side says.
#[derive(Clone, Default)]
struct Contexts(Arc<Mutex<Vec<String>>>);

impl Contexts {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn received(&self, info: &ClientRequestInfo<'_>) {
        let answered = info.reply_service_context(ANSWERED);
        let answered = answered.map_or_else(|_| "nothing".to_owned(), |found| text(&found));
        self.note(format!("{}: {answered}", info.operation()));
    }
}

impl ClientRequestInterceptor for Contexts {
    fn send_request<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        let asked = context(ASKED, "zorb asks");
        info.add_request_service_context(asked, false).into()
    }

    fn receive_reply<'a>(
        &'a self,
        info: &'a mut ClientRequestInfo<'_>,
    ) -> Interception<'a, SystemException> {
        self.received(info);
        Interception::CONTINUE
    }

    fn receive_exception<'a>(&'a self, info: &'a mut ClientRequestInfo<'_>) -> Interception<'a> {
        self.received(info);
        Interception::CONTINUE
    }
}

impl ServerRequestInterceptor for Contexts {
    fn receive_request_service_contexts<'a>(
        &'a self,
        info: &'a mut ServerRequestInfo<'_>,
    ) -> Interception<'a> {
        match info.request_service_context(ASKED) {
            Ok(asked) => {
                let asked = text(&asked);
                self.note(format!("{}: {asked}", info.operation()));
                let answer = context(ANSWERED, &format!("zorb was asked: {asked}"));
                info.add_reply_service_context(answer, false).into()
            }
            Err(_) => Interception::CONTINUE,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_interceptors_and_jacorbs_exchange_contexts_when_we_call() {
    we_call(&JACORB, OF_JACORB).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_interceptors_and_omniorbs_exchange_contexts_when_we_call() {
    we_call(&OMNIORB, OF_OMNIORB).await;
}

async fn we_call(brand: &'static Brand, with_contexts: &str) {
    let Some(programs) = brand.find(&format!("interceptors of {}", brand.name)) else {
        return;
    };
    for giop in ["1.0", "1.1", "1.2"] {
        let mut args = (brand.limit)(giop);
        args.push(with_contexts.to_owned());
        let way = Way::new(brand, &programs, Over::Tcp, args);
        let (running, reference) = way.start();
        let contexts = Contexts::default();
        let orb = Orb::builder()
            .client_interceptor(contexts.clone())
            .build()
            .await
            .unwrap();
        let peer = orb.string_to_object(&reference).await.unwrap();
        let peer: PeerRef = peer.unchecked_narrow();
        assert!(!peer.as_object().non_existent().await.unwrap());
        let unknown = peer.as_object().request("no_such_operation").invoke().await;
        unknown.unwrap_err();
        let seen = std::mem::take(&mut *contexts.0.lock().unwrap());
        // omniORB 4.2 sends no service context with a result in GIOP 1.1, but with an exception it does.
        let is_silent = brand.name == OMNIORB.name && giop == "1.1";
        let answers = ["_non_existent", "no_such_operation"].map(|operation| {
            let name = brand.name;
            match is_silent && operation == "_non_existent" {
                true => format!("{operation}: nothing"),
                false => format!("{operation}: {name} was asked: zorb asks"),
            }
        });
        assert_eq!(seen, answers, "{giop}");
        orb.shutdown(true).await.unwrap();
        drop(running);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_interceptors_and_jacorbs_exchange_contexts_when_jacorb_calls() {
    it_calls(&JACORB, OF_JACORB).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn our_interceptors_and_omniorbs_exchange_contexts_when_omniorb_calls() {
    it_calls(&OMNIORB, OF_OMNIORB).await;
}

async fn it_calls(brand: &'static Brand, with_contexts: &str) {
    let Some(programs) = brand.find(&format!("interceptors of {}", brand.name)) else {
        return;
    };
    let contexts = Contexts::default();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .server_interceptor(contexts.clone())
        .build()
        .await
        .unwrap();
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().unwrap();
    let (node, _) = host_node(&orb, "home", false);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ior");
    std::fs::write(&file, format!("{}\n", node.as_object())).unwrap();
    let args = [
        "--ior",
        file.to_str().unwrap(),
        "--op",
        "non_existent",
        with_contexts,
    ];
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    let client = programs.client.start(&args);
    let said = tokio::task::block_in_place(|| client.finish().success());
    let asks = format!("{} asks", brand.name);
    let answered = format!("answered: zorb was asked: {asks}");
    assert_eq!(said, [answered.as_str(), "false"]);
    let seen = std::mem::take(&mut *contexts.0.lock().unwrap());
    assert_eq!(seen, [format!("_non_existent: {asks}")]);
    orb.shutdown(true).await.unwrap();
}
