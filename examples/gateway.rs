//! A gateway: it serves an object of any interface by passing each request on to another object, without IDL, and says which
//! operations were called. A client sees the other object, exceptions included.
//!
//! Start it with the reference of an object, and the file that its own reference goes to:
//!
//! ```text
//! cargo run --example bank_server -- bank.ior
//! cargo run --example gateway -- bank.ior gate.ior               # in another terminal
//! cargo run --example bank_client -- gate.ior                    # in a third
//! ```
//!
//! You should see where it listens, and a line for each call, such as `find passed on`. Arguments and results pass as the
//! octets that they are, in either byte order. References among them stay what they are: calls on the accounts of the bank do not
//! come by the gateway.
//!
//! It serves until it is interrupted, or until `bank_client gate.ior --shutdown`, which ends the bank and the gateway.

#![expect(clippy::print_stdout, reason = "it is what you should see")]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use zorb::{
    CharSet, DynamicReply, DynamicRequest, DynamicServant, DynamicSkeleton, ObjectRef, Orb,
    RawReply, RequestError,
};

#[derive(Parser)]
struct Options {
    /// The object that requests are passed on to: a file with its reference, or an object URL.
    target: String,
    /// Where to write the gateway's own reference.
    file: PathBuf,
}

/// Passes requests on to an object.
struct Gateway {
    orb: Orb,
    /// The object, called in each of the code sets that clients may use: text keeps its octets.
    utf8: ObjectRef,
    latin1: ObjectRef,
}

impl DynamicServant for Gateway {
    async fn invoke(&self, request: &DynamicRequest<'_>) -> Result<DynamicReply, RequestError> {
        let (operation, arguments) = (request.operation(), request.raw_arguments()?);
        let target = match arguments.format().char_set {
            CharSet::Latin1 => &self.latin1,
            _ => &self.utf8,
        };
        // An exception of the ORB or of the target goes to the client by `?`.
        let reply: DynamicReply = if request.response_expected() {
            let reply = target.invoke_raw(&operation, &arguments).await?;
            let how = match &reply {
                RawReply::Results(_) => "passed on",
                RawReply::Exception(_) => "passed on, and it raised an exception",
            };
            println!("{operation} {how}");
            reply.into()
        } else {
            target.send_raw(&operation, &arguments).await?;
            println!("{operation} passed on");
            DynamicReply::new(None, Vec::new())
        };
        if operation == "shutdown" {
            self.orb.shutdown(false).await?;
        }
        Ok(reply)
    }

    /// `_is_a` and its like are for the target to answer.
    fn answers_every_operation(&self) -> bool {
        true
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gateway: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().collect();
    let orb = Orb::builder()
        .listen("iiop://127.0.0.1:0")
        .env()
        .args(&mut args)
        .build()
        .await?;
    let options = Options::parse_from(args);

    // A file is named by its path.
    let text = match options.target.contains(':') {
        true => options.target.clone(),
        false => std::fs::read_to_string(&options.target)
            .map_err(|cause| format!("cannot read {}: {cause}", options.target))?,
    };
    let target = orb.string_to_object(text.trim()).await?;
    let gateway = Gateway {
        orb: orb.clone(),
        utf8: target.with_char_code_set(CharSet::Utf8),
        latin1: target.with_char_code_set(CharSet::Latin1),
    };
    // The reference states the interface of the target, so that clients need not ask.
    let skeleton = DynamicSkeleton::new(target.type_id(), gateway);
    let reference = orb.root_poa().activate(skeleton)?;
    orb.root_poa().the_poa_manager().activate()?;
    for endpoint in orb.endpoints() {
        println!("listening on {endpoint}");
    }
    let new = options.file.with_extension("tmp");
    std::fs::write(&new, orb.object_to_string(&reference))?;
    std::fs::rename(&new, &options.file)?;
    println!("reference written to {}", options.file.display());

    orb.run().await;
    println!("the gateway is closed");
    Ok(())
}
