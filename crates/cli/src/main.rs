//! `zorb`: what a CORBA person does from a shell. It explains references, pings objects and looks
//! after names.

#![forbid(unsafe_code)]

mod ior;
mod paint;

use clap::{Parser, Subcommand};
use paint::{Color, Paint};
use std::process::ExitCode;

/// The command line of zorb: explain references, ping objects, look after names
#[derive(Debug, Parser)]
#[command(name = "zorb", version, propagate_version = true)]
struct Cli {
    /// When to use colours; NO_COLOR turns them off too
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(alias = "catior", alias = "dior")]
    Ior(ior::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.apply();
    let paint = Paint::new();
    let done = match &cli.command {
        Command::Ior(options) => ior::run(options, &paint),
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
