//! `zorb`: the command line tools. It explains references, pings objects, manages names in a naming service, follows event
//! channels, compiles IDL, and serves it as an interface repository.

#![forbid(unsafe_code)]

mod argument;
mod events;
mod idl;
mod ifr;
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

/// Command-line tools of zorb: explain references, ping objects, manage names, follow events, check and serve IDL
#[derive(Debug, Parser)]
#[command(name = "zorb", version, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    /// Use of colours in the output; NO_COLOR turns them off, too
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = Color::Auto,
        value_name = "WHEN",
        help_heading = "Options of every command"
    )]
    color: Color,
    /// Write every GIOP message to standard error: its headers, or also its octets
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHAT",
        help_heading = "Options of every command",
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
  zorb ior account.ior                      explain a reference
  zorb ping account.ior                     test whether an object exists
  zorb names list -r                        list a naming service
  zorb names --trace resolve bank/account   show every message of a call
  zorb events tail                          print what an event channel delivers
  zorb idl check bank.idl                   report errors in IDL
  zorb ifr serve --ior ifr.ior bank.idl     serve IDL as an interface repository

All commands that make calls take the -ORB… options: -ORBInitRef, -ORBclientCallTimeOutPeriod, ….";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(alias = "catior", alias = "dior")]
    Ior(ior::IorOptions),
    Ping(ping::PingOptions),
    #[command(alias = "nameclt")]
    Names(names::NamesOptions),
    Events(events::EventsOptions),
    Idl(idl::IdlOptions),
    Ifr(ifr::IfrOptions),
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    // Before clap parses the arguments, which would take -ORBInitRef for several short options.
    let variable = std::env::var("ORBtraceLevel").ok();
    let asks = asks_for_trace(&arguments, variable.as_deref());
    // The user names the naming service, so UNIX sockets in its references are permitted.
    let builder = Orb::builder()
        .unix_sockets_of_peers(true)
        .env()
        .args(&mut arguments);
    let cli = Cli::parse_from(arguments);
    cli.color.apply();
    let paint = Paint::new();
    let done = match &cli.command {
        Command::Ior(options) => ior::run(options, &paint),
        Command::Idl(options) => idl::run(options, &paint),
        command => call(
            command,
            builder,
            &Environment::new(paint, cli.trace.or(asks), command.records_replies()),
        ),
    };
    match done {
        Ok(code) => code,
        // The reader of a pipe may close it early: `zorb ior … | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(anstream::stderr(), "zorb: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl Command {
    /// Whether the command shows the endpoint that answered.
    fn records_replies(&self) -> bool {
        matches!(self, Self::Ping(_))
    }
}

/// The trace that omniORB's trace level asks for, in the arguments of the ORB or else in the environment variable.
fn asks_for_trace(arguments: &[String], variable: Option<&str>) -> Option<Trace> {
    let ours = arguments.iter().take_while(|argument| *argument != "--");
    let ours: Vec<&str> = ours.map(String::as_str).collect();
    let last = ours
        .windows(2)
        .rfind(|pair| pair[0].eq_ignore_ascii_case("-ORBtraceLevel"));
    let level = last.map(|pair| pair[1]).or(variable)?;
    let level: u32 = level.parse().ok()?;
    // The ORB itself knows the level from which on octets are shown, too.
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
            Command::Idl(options) => idl::run(options, &environment.paint),
            Command::Ping(options) => ping::run(options, builder, environment).await,
            Command::Names(options) => names::run(options, builder, environment).await,
            Command::Ifr(options) => ifr::run(options, builder, environment).await,
            Command::Events(options) => events::run(options, builder, environment).await,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_asked_for_by_argument_or_variable() {
        let asks = |arguments: &[&str], variable| {
            let arguments: Vec<String> = arguments.iter().map(|&a| a.to_owned()).collect();
            asks_for_trace(&arguments, variable).is_some()
        };
        assert!(!asks(&["ping"], None));
        assert!(asks(&["ping", "-ORBtraceLevel", "25"], None));
        assert!(asks(&["-ORBtracelevel", "40", "ping"], None));
        assert!(asks(&["ping"], Some("25")));
        assert!(!asks(&["ping"], Some("24")));
        // Arguments override the variable, and later ones earlier ones; words after `--` are no options.
        assert!(!asks(&["-ORBtraceLevel", "0", "ping"], Some("25")));
        assert!(asks(&["-ORBtraceLevel", "0", "-ORBtraceLevel", "25"], None));
        assert!(!asks(&["ping", "--", "-ORBtraceLevel", "25"], None));
    }
}
