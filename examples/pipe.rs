//! A transport of one's own: pipes in the memory of one process, with delay, loss and cuts.
//!
//! Run it with `cargo run --example pipe`. You should see a reference with a profile of the new transport, calls over a
//! plain pipe, over one that is slow and loses frames, and over one that is cut: there the call ends in COMM_FAILURE,
//! and the next one, over a new connection, has its result.
//!
//! Nothing of zorb knows this transport: `Pipe` implements the traits of `zorb::transport`, and the builder registers it, as
//! it does TCP and UNIX sockets. `pipe/transport.rs` is all of it.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "pipe/transport.rs"]
mod transport;

use std::sync::Arc;
use transport::Pipe;
use zorb::{Orb, SystemException};

zorb::idl! {
    interface Echo {
        string shout(in string words);
    };
}

struct Servant;

impl Echo for Servant {
    async fn shout(&self, words: &str) -> Result<String, SystemException> {
        Ok(words.to_uppercase())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Both ORBs have it: listening and connecting meet in the table of names that they share.
    let pipe = Arc::new(Pipe::default());
    let server = Orb::builder()
        .transport(pipe.clone())
        .listen("pipe://echo")
        .build()
        .await?;
    let echo = server.root_poa().activate(EchoServant::new(Servant))?;
    server.root_poa().the_poa_manager().activate()?;
    let reference = server.object_to_string(&echo);
    println!("serving at {}: {reference}", server.endpoints()[0]);

    // An ORB that has no such transport keeps the profile, and says why it is of no use to it.
    let stranger = Orb::builder().build().await?;
    let object: EchoRef = stranger
        .string_to_object(&reference)
        .await?
        .unchecked_narrow();
    let error = object.shout("hello?").await.unwrap_err();
    println!("without the transport: {error:#}");
    assert_eq!(stranger.object_to_string(&object), reference);

    for (what, properties) in [
        ("plain", &[][..]),
        ("slow and lossy", &["pipe.delay=5", "pipe.loss=3"]),
    ] {
        let mut client = Orb::builder().transport(pipe.clone());
        for property in properties {
            client = client.transport_property(*property);
        }
        let client = client.build().await?;
        let echo: EchoRef = client
            .string_to_object(&reference)
            .await?
            .unchecked_narrow();
        for words in ["hello", "over there"] {
            println!("{what}: {words:?} -> {:?}", echo.shout(words).await?);
        }
        client.shutdown(true).await?;
    }

    // A pipe that ends within the second request, which the server therefore never sees whole: COMPLETED_NO.
    let client = Orb::builder()
        .transport(pipe)
        .transport_property("pipe.cut=150")
        .build()
        .await?;
    let url = server.corbaloc_url("Echo")?;
    println!("the transport's addresses stand in urls too: {url}");
    let echo: EchoRef = client
        .string_to_object(&reference)
        .await?
        .unchecked_narrow();
    println!("cut: \"one\" -> {:?}", echo.shout("one").await?);
    let error = echo.shout(&"two".repeat(100)).await.unwrap_err();
    println!("cut: \"two…\" -> {error:#}");
    println!("cut: \"three\" -> {:?}", echo.shout("three").await?);

    client.shutdown(true).await?;
    server.shutdown(true).await?;
    println!("all ORBs are down");
    Ok(())
}
