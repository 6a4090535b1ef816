//! `zorb`: what a CORBA person does from a shell. It explains references, pings objects and looks
//! after names.

#![forbid(unsafe_code)]

mod ior;
mod names;
mod orb;
mod paint;
mod ping;
mod why;

use clap::{Parser, Subcommand};
use orb::{Environment, Trace};
use paint::{Color, Paint};
use std::process::ExitCode;
use zorb::{Builder, Orb};

/// The level from which on omniORB traces messages.
const OMNIORB_TRACES_MESSAGES: u32 = 25;

/// The command line of zorb: explain references, ping objects, look after names
#[derive(Debug, Parser)]
#[command(name = "zorb", version, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    /// When to use colours; NO_COLOR turns them off too
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
    /// Write every GIOP message to standard error: its headers, or its octets too
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "headers"
    )]
    trace: Option<Trace>,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  zorb ior account.ior                    what is in a reference
  zorb ping account.ior                   whether the object is there
  zorb names list -r                      what a naming service has
  zorb names --trace resolve bank/account and every message of that

All commands that call know the -ORB… options: -ORBInitRef, -ORBclientCallTimeOutPeriod, ….";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(alias = "catior", alias = "dior")]
    Ior(ior::Options),
    Ping(ping::Options),
    #[command(alias = "nameclt")]
    Names(names::Options),
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    // Before clap, which would take -ORBInitRef for a handful of short options.
    let asks = asks_for_trace(&arguments);
    let builder = Orb::builder().env().args(&mut arguments);
    let cli = Cli::parse_from(arguments);
    cli.color.apply();
    let paint = Paint::new();
    let done = match &cli.command {
        Command::Ior(options) => ior::run(options, &paint),
        command => call(
            command,
            builder,
            &Environment::new(paint, cli.trace.or(asks)),
        ),
    };
    match done {
        Ok(code) => code,
        // Whoever reads may have heard enough: `zorb ior … | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(anstream::stderr(), "zorb: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the arguments say what turns omniORB's trace of messages on.
fn asks_for_trace(arguments: &[String]) -> Option<Trace> {
    let level = arguments
        .iter()
        .skip_while(|argument| !argument.eq_ignore_ascii_case("-ORBtraceLevel"))
        .nth(1)?;
    let level: u32 = level.parse().ok()?;
    // From which level on octets are shown too, the ORB knows itself.
    (level >= OMNIORB_TRACES_MESSAGES).then_some(Trace::Headers)
}

/// Runs a command that calls objects.
fn call(
    command: &Command,
    builder: Builder,
    environment: &Environment,
) -> std::io::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match command {
            Command::Ior(options) => ior::run(options, &environment.paint),
            Command::Ping(options) => ping::run(options, builder, environment).await,
            Command::Names(options) => names::run(options, builder, environment).await,
        }
    })
}
