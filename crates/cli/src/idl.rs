//! `zorb idl`: checks IDL files, prints the Rust generated from them, and lists the files that they include.

use crate::paint::{Clean, Paint};
use clap::{Args, Subcommand};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use zorb_idl::{Diagnostic, Diagnostics, Output, Part, compile_files, dependencies};

/// Check IDL files, print the Rust code generated from them, list the files they include
///
/// This is the compiler behind zorb::idl! and #[zorb::idl_file], with the same options.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IdlOptions {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  zorb idl check bank.idl                           report errors
  zorb idl check -I vendor -D WITH_AUDIT *.idl      check each file on its own
  zorb idl expand bank.idl | less                   print the generated Rust code
  zorb idl deps -I vendor bank.idl                  list every file that is read

Exit status: 0 without errors, 1 if a file has errors, 2 for a wrong command line.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Report the errors of IDL files, each compiled on its own
    Check(Input),
    /// Write the Rust code generated from IDL files, compiled as one
    Expand {
        #[command(flatten)]
        input: Input,
        /// The output file; standard output unless given
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List every file that is read, included files too
    Deps(Input),
}

#[derive(Debug, Args)]
struct Input {
    /// IDL files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Directory in which included files are searched, after that of the including file
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Define a macro of the preprocessor; without a value it stands for 1
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,
    /// Rust module with the code of an IDL module that was compiled elsewhere: no code is generated for it
    #[arg(long = "extern", value_name = "MODULE=PATH", value_parser = pair)]
    externs: Vec<(String, String)>,
    /// Another Rust name for an IDL name
    #[arg(long, value_name = "A::B=NAME", value_parser = pair)]
    rename: Vec<(String, String)>,
    /// The Rust type that a native type of the IDL stands for
    #[arg(long, value_name = "A::B=PATH", value_parser = pair)]
    native: Vec<(String, String)>,
    /// A trait that all types derive, or that one type or module does
    #[arg(long, value_name = "[A::B=]TRAIT", value_parser = derive)]
    derive: Vec<(String, String)>,
    /// A struct whose values may travel as they lie in memory
    #[arg(long, value_name = "A::B")]
    in_memory: Vec<String>,
    /// Default bodies, which raise NO_IMPLEMENT, for the operations of servants' traits
    #[arg(long)]
    defaults: bool,
    /// For each interface, a trait that delegates its operations to another servant
    #[arg(long)]
    delegates: bool,
    /// Reply handlers and pollers of the Messaging specification, and the calls that they belong to
    #[arg(long)]
    ami: bool,
    /// Accept names that differ in case only or are called as a type that is used, and keywords as names
    #[arg(long)]
    lenient: bool,
}

pub(crate) fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    match name.starts_with(begins) {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err(format!("`{name}` is no name of a macro")),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("expected two names with `=` between them".to_owned()),
    }
}

fn derive(text: &str) -> Result<(String, String), String> {
    match text.contains('=') {
        true => pair(text),
        false => Ok((String::new(), text.to_owned())),
    }
}

impl Input {
    fn options(&self) -> zorb_idl::Options {
        let mut options = zorb_idl::Options::default();
        options.include_dirs.clone_from(&self.include);
        options.defines.clone_from(&self.define);
        options.externs.clone_from(&self.externs);
        options.renames.clone_from(&self.rename);
        options.natives.clone_from(&self.native);
        options.derives.clone_from(&self.derive);
        options.in_memory.clone_from(&self.in_memory);
        (options.defaults, options.delegates) = (self.defaults, self.delegates);
        (options.ami, options.lenient) = (self.ami, self.lenient);
        options
    }
}

pub(crate) fn run(options: &IdlOptions, paint: &Paint) -> io::Result<ExitCode> {
    match &options.command {
        Command::Check(input) => check(input, paint),
        Command::Deps(input) => deps(input, paint),
        Command::Expand { input, output } => expand(input, output.as_ref(), paint),
    }
}

fn check(input: &Input, paint: &Paint) -> io::Result<ExitCode> {
    let mut reports = Reports::new(paint);
    for file in &input.files {
        if let Err(diagnostics) = compile(std::slice::from_ref(file), input) {
            reports.tell(&diagnostics)?;
        }
    }
    reports.end(input.files.len())
}

fn deps(input: &Input, paint: &Paint) -> io::Result<ExitCode> {
    let mut reports = Reports::new(paint);
    let mut known = HashSet::new();
    let mut out = anstream::stdout();
    for file in &input.files {
        let result = dependencies(std::slice::from_ref(file), &input.options());
        let paths = match &result {
            Ok(paths) => paths,
            Err(diagnostics) => diagnostics.dependencies(),
        };
        for path in paths {
            if known.insert(path.clone()) {
                writeln!(out, "{}", Clean(path.display()))?;
            }
        }
        if let Err(diagnostics) = &result {
            reports.tell(diagnostics)?;
        }
    }
    out.flush()?;
    reports.end(input.files.len())
}

fn expand(input: &Input, output: Option<&PathBuf>, paint: &Paint) -> io::Result<ExitCode> {
    let mut reports = Reports::new(paint);
    match compile(&input.files, input) {
        Ok(made) => {
            let text = zorb_idl::format(made.tokens);
            match output {
                Some(path) => std::fs::write(path, text).map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                })?,
                None => {
                    let mut out = anstream::stdout();
                    out.write_all(text.as_bytes())?;
                    out.flush()?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(diagnostics) => {
            reports.tell(&diagnostics)?;
            reports.end(input.files.len())
        }
    }
}

fn compile(files: &[PathBuf], input: &Input) -> Result<Output, Diagnostics> {
    compile_files(files, &input.options())
}

/// Prints diagnostics.
pub(crate) fn tell(diagnostics: &Diagnostics, paint: &Paint) -> io::Result<()> {
    Reports::new(paint).tell(diagnostics)
}

/// Diagnostics printed so far. An error in a file that several files include is printed once.
struct Reports<'a> {
    paint: &'a Paint,
    said: HashSet<(String, usize, usize, String)>,
    errors: usize,
    faulty: usize,
}

impl<'a> Reports<'a> {
    fn new(paint: &'a Paint) -> Self {
        Self {
            paint,
            said: HashSet::new(),
            errors: 0,
            faulty: 0,
        }
    }

    fn tell(&mut self, diagnostics: &Diagnostics) -> io::Result<()> {
        self.faulty += 1;
        let mut out = anstream::stderr();
        for diagnostic in diagnostics {
            let Diagnostic {
                file,
                line,
                column,
                message,
                ..
            } = diagnostic;
            let key = (file.clone(), *line, *column, message.clone());
            if self.said.insert(key) {
                self.errors += 1;
                self.draw(&mut out, diagnostic)?;
            }
        }
        Ok(())
    }

    fn draw(&self, out: &mut impl Write, diagnostic: &Diagnostic) -> io::Result<()> {
        let mut result = Ok(());
        let (bad, title, pale, hint) = (
            self.paint.bad,
            self.paint.title,
            self.paint.label,
            self.paint.hint,
        );
        let plain = anstyle::Style::new();
        diagnostic.draw(|part, text| {
            let style = match part {
                Part::Severity | Part::Mark => bad,
                Part::Message => title,
                Part::Frame | Part::OtherMark => pale,
                Part::Note if text.starts_with("help") => hint,
                _ => plain,
            };
            // The colour ends before the line end.
            let (text, end) = match text.strip_suffix('\n') {
                Some(text) => (text, "\n"),
                None => (text, ""),
            };
            let piece = write!(out, "{style}{}{style:#}{end}", Lines(text));
            let done = std::mem::replace(&mut result, Ok(()));
            result = done.and(piece);
        });
        result.and_then(|()| writeln!(out))
    }

    /// Prints the number of errors, and of the faulty files among `files`. Returns the exit code.
    fn end(self, files: usize) -> io::Result<ExitCode> {
        if self.faulty == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let count = |n: usize, what: &str| match n {
            1 => format!("1 {what}"),
            n => format!("{n} {what}s"),
        };
        let errors = count(self.errors, "error");
        let bad = self.paint.bad;
        let mut out = anstream::stderr();
        match files {
            1 => writeln!(out, "{bad}{errors}{bad:#}")?,
            _ => writeln!(
                out,
                "{bad}{errors}{bad:#} in {} of {}",
                self.faulty,
                count(files, "file")
            )?,
        }
        Ok(ExitCode::FAILURE)
    }
}

/// Text of the IDL or of file names, with control characters escaped, except line ends.
struct Lines<'a>(&'a str);

impl std::fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, line) in self.0.split('\n').enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}", Clean(line))?;
        }
        Ok(())
    }
}
