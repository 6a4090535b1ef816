//! `zorb ifr`: serves an interface repository that is filled from IDL files.

use crate::idl::definition;
use crate::orb::Environment;
use clap::{Args, Subcommand};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use zorb::Builder;
use zorb_ifr::InterfaceRepository;

/// Serve an interface repository that is filled from IDL files
#[derive(Debug, Args)]
pub(crate) struct IfrOptions {
    #[command(subcommand)]
    command: IfrCommand,
}

#[derive(Debug, Subcommand)]
enum IfrCommand {
    /// Serve the definitions of IDL files until it is interrupted; clients may add others
    Serve(Serve),
}

#[derive(Debug, Args)]
struct Serve {
    /// IDL files, which are compiled as one
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Directory in which included files are searched, after that of the including file
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro of the preprocessor; without a value it stands for 1
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,
    /// Accept names that differ in case only or are called as a type that is used, and keywords as names
    #[arg(long)]
    lenient: bool,
    /// Endpoint to listen at
    #[arg(long, value_name = "ENDPOINT", default_value = "iiop://127.0.0.1:0")]
    listen: String,
    /// File that the reference of the repository is written to; it is printed otherwise
    #[arg(long, value_name = "FILE")]
    ior: Option<PathBuf>,
}

pub(crate) async fn run(
    options: &IfrOptions,
    builder: Builder,
    environment: &Environment,
) -> io::Result<ExitCode> {
    let IfrCommand::Serve(serve) = &options.command;
    let mut idl = zorb_idl::Options::default();
    idl.include_dirs.clone_from(&serve.include);
    idl.defines.clone_from(&serve.define);
    idl.lenient = serve.lenient;
    let types = match zorb_dynamic::IdlTypes::from_files(&serve.files, &idl) {
        Ok(types) => types,
        Err(diagnostics) => {
            crate::idl::tell(&diagnostics, &environment.paint)?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let other = |error: zorb::Error| io::Error::other(format!("{error:#}"));
    let orb = builder
        .listen(&*serve.listen)
        .build()
        .await
        .map_err(other)?;
    let repository = InterfaceRepository::new(&orb).map_err(other)?;
    repository
        .add(&types)
        .map_err(|error| other(error.into()))?;
    let reference = repository.reference().map_err(other)?;
    // Its own objects have interfaces, too, if their IDL is among the files.
    orb.register_initial_reference(zorb_ifr::NAME, &reference)
        .map_err(other)?;
    let manager = orb.root_poa();
    let activated = manager.the_poa_manager().activate();
    activated.map_err(|error| io::Error::other(error.to_string()))?;
    let text = orb.object_to_string(&reference);
    let mut out = anstream::stdout();
    match &serve.ior {
        None => writeln!(out, "{text}")?,
        Some(file) => {
            let new = file.with_extension("tmp");
            std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, file))?;
            writeln!(out, "reference written to {}", file.display())?;
        }
    }
    out.flush()?;
    orb.run().await;
    Ok(ExitCode::SUCCESS)
}
