//! References as people use them: several addresses of which some are dead, every form of URL,
//! initial references, what servers publish, other network namespaces.

mod failover;
mod initial;
mod lossy_networks;
mod namespaces;
mod publishing;
mod urls;

use std::sync::Arc;
use tokio::sync::Notify;
use zorb::{Interface, Orb, Policies, SystemException};
use zorb_giop::ior::IiopProfile;

zorb::idl! {
    module References {
        interface Place {
            readonly attribute string name;
            wstring wide(in wstring text);
            string narrow(in string text);
            /// Asks another place for its name.
            string ask(in Place other);
            /// Answers never.
            void wait();
        };
    };
}

use references::{Place, PlaceRef, PlaceServant};

/// An address without a listener.
const DEAD: &str = "127.0.0.1:1";

struct Named {
    name: String,
    waiting: Arc<Notify>,
}

impl Place for Named {
    async fn name(&self) -> Result<String, SystemException> {
        Ok(self.name.clone())
    }

    async fn wide(&self, text: &str) -> Result<String, SystemException> {
        Ok(text.to_owned())
    }

    async fn narrow(&self, text: &str) -> Result<String, SystemException> {
        Ok(text.to_owned())
    }

    async fn ask(&self, other: Option<PlaceRef>) -> Result<String, SystemException> {
        other.expect("a place").name().await
    }

    async fn wait(&self) -> Result<(), SystemException> {
        self.waiting.notify_one();
        std::future::pending().await
    }
}

/// A server with one object. All of them have the same key, so that a reference may lead to any.
struct Server {
    orb: Orb,
    place: PlaceRef,
    /// Notified when a call waits.
    waiting: Arc<Notify>,
}

impl Server {
    async fn start(name: &str, endpoint: &str) -> Self {
        Self::serve(name, Orb::builder().listen(endpoint)).await
    }

    async fn serve(name: &str, builder: zorb::Builder) -> Self {
        let orb = builder.build().await.expect("the ORB listens");
        let manager = Arc::clone(orb.root_poa().the_poa_manager());
        let poa = orb
            .root_poa()
            .create_poa_with("places", Policies::PERSISTENT, Some(&manager))
            .expect("there is none yet");
        let waiting = Arc::new(Notify::new());
        let servant = PlaceServant::new(Named {
            name: name.to_owned(),
            waiting: Arc::clone(&waiting),
        });
        let place = poa
            .activate_object_with_id("here", servant)
            .expect("the id is free");
        manager.activate().expect("not inactive");
        Self {
            orb,
            place,
            waiting,
        }
    }

    fn reference(&self) -> String {
        self.orb.object_to_string(&self.place)
    }

    /// Host and port of its first TCP endpoint, as a URL has them.
    fn address(&self) -> String {
        let endpoint = self.orb.endpoints()[0].to_string();
        endpoint.strip_prefix("iiop://").expect("TCP").to_owned()
    }

    fn key(&self) -> String {
        let body = profile(&self.place);
        zorb_giop::url::escape(&body.object_key)
    }
}

/// The IIOP profile of a reference, which comes first.
fn profile(object: &impl Interface) -> IiopProfile {
    IiopProfile::from_tagged(&object.as_object().ior().profiles[0]).expect("an IIOP profile")
}

async fn client() -> Orb {
    Orb::builder().build().await.expect("nothing to fail")
}

async fn place(orb: &Orb, url: &str) -> PlaceRef {
    orb.string_to_object(url)
        .await
        .unwrap_or_else(|error| panic!("{url}: {error}"))
        .unchecked_narrow()
}
