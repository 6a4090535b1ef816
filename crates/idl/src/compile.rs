//! The stages in a row.

use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};

use crate::ast::DefinitionKind;
use crate::diagnostic::{Diagnostics, Sink};
use crate::generate::generate;
use crate::model::Model;
use crate::names::{Names, assign, is_identifier, module_name};
use crate::options::{Options, Setting};
use crate::parser::{Tree, parse};
use crate::preprocess::{Input, preprocess};
use crate::resolve::resolve;
use crate::source::SourceMap;

/// The result of a compilation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Output {
    /// Items: modules, types, traits. They work at any place where items may stand, with nothing imported.
    pub tokens: TokenStream,
    /// Every file that was read, canonical, each once.
    pub dependencies: Vec<PathBuf>,
}

/// Compiles `text`, which diagnostics call `name`. `#include` looks in [`Options::include_dirs`] only, as the text has
/// no directory of its own.
///
/// # Errors
/// Everything that is wrong with the text, as far as it can be found at once.
pub fn compile_str(name: &str, text: &str, options: &Options) -> Result<Output, Diagnostics> {
    compile(&[Input::Text { name, text }], options)
}

/// Compiles several files as one: they share one global scope, and a file that one of them includes is read once if it
/// guards itself. Definitions of included files are generated too, unless [`Options::externs`] maps them.
///
/// # Errors
/// Everything that is wrong with them, as far as it can be found at once; also files that cannot be read.
pub fn compile_files(files: &[PathBuf], options: &Options) -> Result<Output, Diagnostics> {
    compile(&inputs(files), options)
}

/// As [`compile_str`], up to the point where code would be generated.
///
/// # Errors
/// As [`compile_str`].
pub fn check_str(name: &str, text: &str, options: &Options) -> Result<(), Diagnostics> {
    analyse(&[Input::Text { name, text }], options).map(drop)
}

/// As [`compile_files`], up to the point where code would be generated.
///
/// # Errors
/// As [`compile_files`].
pub fn check_files(files: &[PathBuf], options: &Options) -> Result<(), Diagnostics> {
    analyse(&inputs(files), options).map(drop)
}

/// Every file that compiling `files` would read, canonical, each once, in reading order. Nothing but the preprocessor
/// runs: what it passes on need not be IDL.
///
/// # Errors
/// A file cannot be read, or the preprocessor is at fault with it; [`Diagnostics::dependencies`] has what was read.
pub fn dependencies(files: &[PathBuf], options: &Options) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut sources = SourceMap::default();
    let sink = Sink::default();
    let stream = preprocess(&inputs(files), options, &mut sources, &sink);
    match stream.whole {
        true => Ok(sources.paths()),
        false => Err(failure(sink, &sources)),
    }
}

fn inputs(files: &[PathBuf]) -> Vec<Input<'_>> {
    files.iter().map(|path| Input::File(path)).collect()
}

fn compile(inputs: &[Input<'_>], options: &Options) -> Result<Output, Diagnostics> {
    let Analysis {
        model,
        names,
        dependencies,
    } = analyse(inputs, options)?;
    let tokens = generate(&model, &names, options);
    Ok(Output {
        tokens,
        dependencies,
    })
}

struct Analysis {
    model: Model,
    names: Names,
    dependencies: Vec<PathBuf>,
}

/// Everything but the code.
fn analyse(inputs: &[Input<'_>], options: &Options) -> Result<Analysis, Diagnostics> {
    if inputs.is_empty() {
        return Err(Diagnostics::of_option("no IDL file is named", None));
    }
    let externs = options.externs.iter().enumerate();
    let externs = externs.map(|(at, option)| ("extern", Setting::ExternPath(at), option));
    let natives = options.natives.iter().enumerate();
    let natives = natives.map(|(at, option)| ("native", Setting::NativePath(at), option));
    for (option, setting, (name, path)) in externs.chain(natives) {
        let tokens = path.parse::<TokenStream>().ok();
        let fits = tokens.is_some_and(|tokens| match option {
            "extern" => is_path(tokens),
            // Any type.
            _ => !tokens.is_empty(),
        });
        if !fits {
            let message = format!("the option {option}(\"{name}\" = …) does not give a Rust path");
            let hint = "write `crate::common`, for example".to_owned();
            return Err(Diagnostics::of_option(message, Some(hint)).with_setting(setting));
        }
    }
    let mut sources = SourceMap::default();
    let sink = Sink::default();
    let stream = preprocess(inputs, options, &mut sources, &sink);
    // Without a file that is included, say, whatever follows may be the consequence.
    if !stream.whole {
        return Err(failure(sink, &sources));
    }
    let clean = sink.is_empty();
    let tree = parse(&stream.tokens, &stream.remarks, &sources, &sink);
    let modules = outermost(&tree, options);
    // Behind a literal or comment that is never closed, say, everything may be the consequence.
    if !clean || tree.lost.is_none() {
        return Err(failure(sink, &sources).with_modules(modules));
    }
    let settings = sources.add_settings();
    let model = resolve(tree, &options.externs, &sources, settings, &sink);
    if !sink.is_empty() {
        return Err(failure(sink, &sources).with_modules(modules));
    }
    let names = assign(&model, options, settings, &sink);
    match sink.finish(&sources) {
        Some(diagnostics) => Err(diagnostics.with_modules(modules)),
        None => Ok(Analysis {
            model,
            names,
            dependencies: sources.paths(),
        }),
    }
}

/// The Rust names of the outermost modules that are generated, each once.
fn outermost(tree: &Tree, options: &Options) -> Vec<String> {
    let mut modules: Vec<String> = Vec::new();
    for definition in &tree.definitions {
        let idl = &*definition.head.name.text;
        let is_module = matches!(definition.kind, DefinitionKind::Module(_));
        if !is_module || options.externs.iter().any(|(module, _)| module == idl) {
            continue;
        }
        let renamed = options.renames.iter().find(|(name, _)| name == idl);
        let name = renamed.map_or_else(|| module_name(idl), |(_, rust)| rust.clone());
        if is_identifier(&name) && !modules.contains(&name) {
            modules.push(name);
        }
    }
    modules
}

/// Whether `tokens` are names with `::` between them, and perhaps in front.
fn is_path(tokens: TokenStream) -> bool {
    let (mut colons, mut named) = (0, false);
    for token in tokens {
        match token {
            // `$crate`, of a macro.
            TokenTree::Punct(mark) if mark.as_char() == '$' => {}
            TokenTree::Punct(mark) if mark.as_char() == ':' && colons < 2 => colons += 1,
            TokenTree::Ident(_) if colons == if named { 2 } else { colons & 2 } => {
                (colons, named) = (0, true);
            }
            _ => return false,
        }
    }
    named && colons == 0
}

fn failure(sink: Sink, sources: &SourceMap) -> Diagnostics {
    let lost = || {
        Diagnostics::of_option(
            "the compiler failed and did not say why: please report this IDL",
            None,
        )
    };
    sink.finish(sources).unwrap_or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn paths_are_names_between_colons() {
        for (text, expected) in [
            ("crate", true),
            ("crate::common", true),
            ("::common::idl", true),
            ("$crate::r#mod", true),
            ("", false),
            ("::", false),
            ("crate::", false),
            ("crate:common", false),
            (":common", false),
            ("crate::::common", false),
            ("cra te", false),
            ("1 + 1", false),
            ("Vec<u8>", false),
        ] {
            assert_eq!(is_path(text.parse().unwrap()), expected, "{text}");
        }
    }
}
