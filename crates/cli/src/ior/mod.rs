//! `zorb ior`: explains object references.

mod components;
mod keys;
mod octets;
mod reference;
mod tables;
mod tree;

pub(crate) use components::host_port;

use crate::argument::Argument;
use crate::paint::Paint;
use std::io::{Read, Write};
use std::process::ExitCode;
use tree::Item;
use zorb_giop::url::{ObjectUrl, urls_in};

/// The most files that are followed from one to the next, when a file contains the URL of another one.
const MAX_FILES: usize = 8;
/// The most octets that are read from a file or from standard input.
const MAX_INPUT_OCTETS: u64 = 16 << 20;

/// Explain references: every profile, component and key
///
/// No server is contacted. Malformed parts are shown with place and cause; everything
/// else is explained.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IorOptions {
    /// Object URLs (IOR:, corbaloc:, corbaname:, file:), files with URLs, or - for
    /// standard input
    #[arg(required = true, value_name = "REF")]
    references: Vec<String>,
    /// Write JSON, an array of references
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zorb ior IOR:010000001300000049444c3a…
  zorb ior account.ior
  nameclt resolve bank/account | zorb ior -
  zorb ior --json account.ior | jq '.[0].profiles[].address'

Exit status: 0 if every reference is well formed, 1 if one is not, 2 for wrong usage.";

/// Explains all references of the command line.
pub(crate) fn run(options: &IorOptions, paint: &Paint) -> std::io::Result<ExitCode> {
    let mut items = Vec::new();
    for reference in &options.references {
        explain_argument(reference, &mut items);
    }
    let mut out = anstream::stdout().lock();
    if options.json {
        let all: Vec<_> = items.iter().map(Item::to_json).collect();
        writeln!(out, "{:#}", serde_json::Value::from(all))?;
    } else {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            item.write(&mut out, paint)?;
        }
    }
    let malformed = items.is_empty() || items.iter().any(Item::is_malformed);
    Ok(ExitCode::from(u8::from(malformed)))
}

fn failure(what: impl ToString) -> Item {
    let mut item = Item::element("references", "Object reference", "");
    item.fault(what);
    item
}

fn explain_argument(argument: &str, items: &mut Vec<Item>) {
    if argument == "-" {
        let mut text = Vec::new();
        match std::io::stdin()
            .take(MAX_INPUT_OCTETS)
            .read_to_end(&mut text)
        {
            Ok(_) => explain_text(&String::from_utf8_lossy(&text), 0, items),
            Err(error) => items.push(failure(format_args!("cannot read standard input: {error}"))),
        }
        return;
    }
    match Argument::read(argument) {
        Ok(Argument::Url(url)) => explain_text(url, 0, items),
        Ok(Argument::File(path)) => explain_file(path, 0, items),
        Err(error) => items.push(failure(error)),
    }
}

fn explain_file(path: &str, depth: usize, items: &mut Vec<Item>) {
    let read = || {
        let mut text = Vec::new();
        std::fs::File::open(path)?
            .take(MAX_INPUT_OCTETS)
            .read_to_end(&mut text)?;
        Ok::<_, std::io::Error>(text)
    };
    match read() {
        Ok(text) => explain_text(&String::from_utf8_lossy(&text), depth + 1, items),
        Err(error) => items.push(failure(format_args!("cannot read {path}: {error}"))),
    }
}

/// Explains the references in a text, one a line. Wrapped hexadecimal digits are joined.
fn explain_text(text: &str, depth: usize, items: &mut Vec<Item>) {
    let references = urls_in(text);
    if references.is_empty() {
        items.push(failure("expected an object URL, found nothing"));
    }
    for reference in references {
        explain_reference(&reference, depth, items);
    }
}

fn starts_with_ior(text: &str) -> bool {
    text.get(..4)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("IOR:"))
}

fn explain_reference(text: &str, depth: usize, items: &mut Vec<Item>) {
    if starts_with_ior(text) {
        items.push(explain_ior(text.get(4..).unwrap_or("")));
        return;
    }
    match text.parse::<ObjectUrl>() {
        Ok(ObjectUrl::Corbaloc(url)) => items.push(reference::explain_corbaloc(&url)),
        Ok(ObjectUrl::Corbaname { context, name }) => {
            items.push(reference::explain_corbaname(&context, &name));
        }
        Ok(ObjectUrl::File(path)) if depth < MAX_FILES => explain_file(&path, depth, items),
        Ok(_) => items.push(failure(format_args!(
            "expected a reference after {MAX_FILES} files, found another file"
        ))),
        Err(error) => items.push(failure(format_args!("{error:#}"))),
    }
}

/// Explains a reference, from the pairs of digits after `IOR:`.
fn explain_ior(digits: &str) -> Item {
    let good = digits
        .bytes()
        .take_while(|octet| octet.is_ascii_hexdigit())
        .count();
    let octets: Vec<u8> = digits
        .as_bytes()
        .get(..good)
        .unwrap_or(&[])
        .chunks_exact(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let mut item = reference::explain(&octets);
    if let Some(found) = digits.get(good..).and_then(|rest| rest.chars().next()) {
        item.fault(format_args!(
            "expected a hexadecimal digit, found {found:?} at digit {good}; what follows is ignored"
        ));
    }
    if good % 2 == 1 {
        item.fault(format_args!(
            "expected pairs of hexadecimal digits, found {good} digits; the last is ignored"
        ));
    }
    item
}

#[cfg(test)]
mod tests;
