//! The programs of the comparison, in one: see [the page](../../../docs/as-needed.md).
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "its results are lines of output")]

use as_needed::agent::LocationAgent;
use as_needed::client::EchoByService;
use as_needed::hosts::Hosts;
use as_needed::relay::{self, Link, relay};
use as_needed::server::RawServer;
use as_needed::table::{self, Effort, NETWORKS};
use as_needed::{AgentRef, AgentServant, EchoRef, EchoServant, Echoing, Failure, parts};
use clap::{Parser, Subcommand, ValueEnum};
use serde_json::{Map, json};
use std::io::BufRead;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zorb::transport::Tcp;
use zorb::{Orb, WaitPolicy};
use zorb_native::Native;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The agent: prints its reference.
    Agent {
        #[arg(long, default_value = "iiop://127.0.0.1:0")]
        listen: String,
    },
    /// A server for all three designs: prints its reference, that of its agent, and the ports that it listens at.
    Serve {
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        /// The host at which clients find it.
        #[arg(long, default_value = "127.0.0.1")]
        publish: String,
        /// The agent; unless given, it has one of its own.
        #[arg(long)]
        agent: Option<String>,
    },
    /// A client: reads lines `call TEXT` and `time CALLS OCTETS`, and answers them.
    Client {
        #[arg(long)]
        design: Design,
        #[arg(long)]
        server: String,
        #[arg(long)]
        agent: Option<String>,
    },
    /// A network between a client and these ports of `to`.
    Relay {
        /// The host that clients connect to.
        #[arg(long)]
        at: String,
        #[arg(long)]
        to: String,
        #[command(flatten)]
        link: LinkOptions,
        #[arg(required = true)]
        ports: Vec<u16>,
    },
    /// What the relay does of what it is told: a line of JSON, in microseconds and bits a second.
    Accuracy {
        #[command(flatten)]
        link: LinkOptions,
        #[arg(long, default_value_t = 200)]
        probes: usize,
    },
    /// The paper's Table 1: a line of JSON, milliseconds of a row of calls.
    Table {
        /// The networks: host, lan, subnet, wan; all unless named.
        networks: Vec<String>,
        #[arg(long, default_value_t = 50)]
        calls: u32,
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// omniORB's client.
        #[arg(long)]
        omniorb: Option<PathBuf>,
    },
    /// What byte order, padding, marshalling and anys take: a line of JSON, in nanoseconds.
    Parts,
}

#[derive(clap::Args)]
struct LinkOptions {
    /// Microseconds from one end to the other.
    #[arg(long, default_value_t = 0)]
    delay_us: u64,
    #[arg(long)]
    bits_per_second: Option<f64>,
}

impl From<LinkOptions> for Link {
    fn from(options: LinkOptions) -> Self {
        Self {
            delay: Duration::from_micros(options.delay_us),
            bits_per_second: options.bits_per_second,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Design {
    Corba,
    Integration,
    Service,
}

/// An ORB, as all of them are here: they park, as raw sockets do.
fn orb(is_native: bool) -> zorb::Builder {
    let builder = Orb::builder().wait_policy(WaitPolicy::Park);
    match is_native {
        true => {
            let tcp = Arc::new(Tcp::default());
            builder.transport(Arc::new(Native::over(tcp).across_hosts()))
        }
        false => builder,
    }
}

async fn agent(listen: &str) -> Result<(), Failure> {
    let orb = orb(false).listen(listen).build().await?;
    let poa = orb.root_poa();
    let agent: AgentRef = poa.activate(AgentServant::new(LocationAgent::default()))?;
    poa.the_poa_manager().activate()?;
    println!("{}", orb.object_to_string(&agent));
    orb.run().await;
    Ok(())
}

async fn serve(host: &str, publish: &str, agent: Option<&str>) -> Result<(), Failure> {
    let orb = orb(true)
        .listen(format!("iiop://{host}:0"))
        .publish_host(publish)
        .build()
        .await?;
    let poa = orb.root_poa();
    let echo: EchoRef = poa.activate(EchoServant::new(Echoing))?;
    let agent = match agent {
        Some(reference) => orb.string_to_object(reference).await?.unchecked_narrow(),
        None => poa.activate(AgentServant::new(LocationAgent::default()))?,
    };
    poa.the_poa_manager().activate()?;
    let mut raw = RawServer::start(Echoing, &format!("{host}:0"), Some(publish)).await?;
    raw.register(agent.clone(), (&echo).into()).await;
    println!("{}", orb.object_to_string(&echo));
    println!("{}", orb.object_to_string(&agent));
    let port = orb.endpoints().first().and_then(|one| one.port());
    let of_raw = raw.way().endpoint.rsplit(':').next().unwrap_or_default();
    println!("{} {of_raw}", port.ok_or("no port")?);
    orb.run().await;
    Ok(())
}

async fn client(design: Design, server: &str, agent: Option<&str>) -> Result<(), Failure> {
    let orb = orb(design == Design::Integration).build().await?;
    let echo: EchoRef = orb.string_to_object(server).await?.unchecked_narrow();
    let by_service = match (design, agent) {
        (Design::Service, Some(agent)) => {
            let agent: AgentRef = orb.string_to_object(agent).await?.unchecked_narrow();
            Some(EchoByService::new(echo.clone(), agent))
        }
        (Design::Service, None) => return Err("--agent is needed".into()),
        _ => None,
    };
    let call = async |text: &str| match &by_service {
        Some(by_service) => by_service.echo_string(text).await,
        None => echo.echo_string(text).await,
    };
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["time", calls, octets] => {
                let (calls, text): (u32, _) = (calls.parse()?, "x".repeat(octets.parse()?));
                let begun = Instant::now();
                for _ in 0..calls {
                    call(&text).await?;
                }
                println!("ns {}", begun.elapsed().as_nanos());
            }
            ["call", ..] => {
                let said = call(line.get(5..).unwrap_or_default()).await;
                let is_native = match &by_service {
                    Some(by_service) => by_service.shortcut.is_native().await,
                    None => false,
                };
                match said {
                    Ok(said) => println!("{} {said}", if is_native { "native" } else { "CORBA" }),
                    Err(error) => println!("failed {error}"),
                }
            }
            _ => println!("failed: no such command"),
        }
    }
    Ok(())
}

fn relay_ports(at: &str, to: &str, link: Link, ports: Vec<u16>) -> Result<(), Failure> {
    let mut relays = Vec::new();
    for port in ports {
        let listener = TcpListener::bind((at, port))?;
        let to = SocketAddr::new(to.parse()?, port);
        relays.push(std::thread::spawn(move || relay(&listener, to, link)));
    }
    println!("ready");
    for relay in relays {
        relay.join().map_err(|_| "a relay has panicked")??;
    }
    Ok(())
}

fn accuracy(link: Link, probes: usize) -> Result<(), Failure> {
    let accuracy = relay::measure(link, probes)?;
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let line = json!({
        "requested_us": us(link.delay),
        "p50_us": us(accuracy.p50),
        "p99_us": us(accuracy.p99),
        "requested_bits_per_second": link.bits_per_second,
        "bits_per_second": accuracy.bits_per_second,
    });
    println!("{line}");
    Ok(())
}

fn table(names: &[String], effort: Effort, omniorb: Option<PathBuf>) -> Result<(), Failure> {
    let hosts = Hosts::new();
    let mut numbers = Map::new();
    numbers.insert("namespaces".to_owned(), hosts.are_apart().into());
    for network in &NETWORKS {
        if names.is_empty() || names.iter().any(|name| name == network.name) {
            numbers.extend(table::measure(&hosts, network, effort, omniorb.as_deref())?);
        }
    }
    println!("{}", serde_json::Value::Object(numbers));
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    match Options::parse().what {
        What::Agent { listen } => agent(&listen).await,
        What::Serve {
            host,
            publish,
            agent,
        } => serve(&host, &publish, agent.as_deref()).await,
        What::Client {
            design,
            server,
            agent,
        } => client(design, &server, agent.as_deref()).await,
        What::Relay {
            at,
            to,
            link,
            ports,
        } => relay_ports(&at, &to, link.into(), ports),
        What::Accuracy { link, probes } => accuracy(link.into(), probes),
        What::Table {
            networks,
            calls,
            rounds,
            omniorb,
        } => table(&networks, Effort { calls, rounds }, omniorb),
        What::Parts => {
            println!("{}", parts::measure()?);
            Ok(())
        }
    }
}
