//! Asynchronous calls on servers of omniORB and JacORB, which see calls like any others.

use crate::matrix::{OURS, Talk};
use crate::peers::{Brand, Over, Way};
use crate::support::{HANG, passed};
use core::time::Duration;
use tokio::sync::mpsc;
use zorb::{Orb, SystemException, SystemExceptionKind as Kind};

zorb::idl! {
    #![idl(ami)]
    // The part of `interop.idl` that is called here.
    #pragma prefix "zorb.test"
    module Interop {
        exception Empty {};
        exception Mismatch {
            string operation;
            unsigned long long expected;
            unsigned long long found;
        };
        interface Failures {
            void fail_system(in string name, in unsigned long minor, in unsigned long completed);
        };
        interface Peer : Failures {
            attribute string title;
            readonly attribute string orb_name;
            string echo_string(in string a, inout string b, in unsigned long long check, out string c) raises (Empty, Mismatch);
        };
    };
}

use interop::peer::EchoStringError;
use interop::{AmiFailuresHandler, AmiPeerHandler, AmiPeerHandlerServant, PeerRef};

/// A handler that reports what it gets.
struct Handler(mpsc::UnboundedSender<String>);

impl Handler {
    fn put(&self, what: impl ToString) -> Result<(), SystemException> {
        let _ = self.0.send(what.to_string());
        Ok(())
    }

    fn fail(&self, error: &SystemException) -> Result<(), SystemException> {
        self.put(format!("{} {}", error.kind, error.minor))
    }
}

impl AmiFailuresHandler for Handler {
    async fn fail_system(&self) -> Result<(), SystemException> {
        self.put("no failure")
    }

    async fn fail_system_excep(&self, error: &SystemException) -> Result<(), SystemException> {
        self.fail(error)
    }
}

impl AmiPeerHandler for Handler {
    async fn get_title(&self, title: &str) -> Result<(), SystemException> {
        self.put(title)
    }

    async fn get_title_excep(&self, error: &SystemException) -> Result<(), SystemException> {
        self.fail(error)
    }

    async fn set_title(&self) -> Result<(), SystemException> {
        self.put("set")
    }

    async fn set_title_excep(&self, error: &SystemException) -> Result<(), SystemException> {
        self.fail(error)
    }

    async fn get_orb_name(&self, name: &str) -> Result<(), SystemException> {
        self.put(name)
    }

    async fn get_orb_name_excep(&self, error: &SystemException) -> Result<(), SystemException> {
        self.fail(error)
    }

    async fn echo_string(&self, result: &str, b: &str, c: &str) -> Result<(), SystemException> {
        self.put(format!("{result} {b} {c}"))
    }

    async fn echo_string_excep(&self, error: &EchoStringError) -> Result<(), SystemException> {
        match error {
            EchoStringError::Mismatch(mismatch) => self.put(&mismatch.operation),
            other => self.put(other),
        }
    }
}

async fn check(brand: &'static Brand) {
    let prefix = Talk::new("1.2", Over::Tcp).prefix(OURS, (brand.name, brand.order));
    let Some(programs) = brand.find(&prefix) else {
        return;
    };
    let way = Way::new(brand, &programs, Over::Tcp, (brand.limit)("1.2"));
    let (_server, reference) = way.start();
    let orb = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let orb = orb.await.expect("the ORB listens");
    let poa = orb.root_poa();
    poa.the_poa_manager().activate().expect("not inactive");
    let peer = orb.string_to_object(&reference).await.expect("an IOR");
    let peer: PeerRef = peer.unchecked_narrow();
    let (sender, mut said) = mpsc::unbounded_channel();
    let handler = poa.activate(AmiPeerHandlerServant::new(Handler(sender)));
    let handler = handler.expect("the ORB listens");
    let mut next = async || {
        let next = tokio::time::timeout(HANG, said.recv()).await;
        next.expect("it hangs").expect("the handler is there")
    };
    peer.sendc_get_orb_name(&handler);
    assert_eq!(next().await, brand.orb_name);
    peer.sendc_set_title(&handler, "a title");
    assert_eq!(next().await, "set");
    peer.sendc_get_title(&handler);
    assert_eq!(next().await, "a title");
    // The server finds another digest than that.
    peer.sendc_echo_string(&handler, "a", "b", 0);
    assert_eq!(next().await, "echo_string");
    peer.sendc_fail_system(&handler, "NO_PERMISSION", 7, 1);
    assert_eq!(next().await, "NO_PERMISSION 7");
    passed(&format!("{prefix}/ami/handlers"));
    // Many at a time, and polled.
    let pollers: Vec<_> = (0..20).map(|_| peer.sendp_get_orb_name()).collect();
    for poller in pollers {
        let name = poller.get_orb_name(Some(Duration::from_secs(20))).await;
        assert_eq!(name.expect("an answer"), brand.orb_name);
    }
    let poller = peer.sendp_fail_system("BAD_PARAM", 1, 1);
    let error = poller.fail_system(None).await.expect_err("a failure");
    assert_eq!(
        (error.kind, poller.is_from_poller()),
        (Kind::BadParam, false)
    );
    passed(&format!("{prefix}/ami/pollers"));
    orb.shutdown(true).await.expect("outside any upcall");
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_of_omniorb_reach_handlers_and_pollers() {
    check(&crate::interop::omniorb::OMNIORB).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_of_jacorb_reach_handlers_and_pollers() {
    check(&crate::interop::jacorb::JACORB).await;
}
