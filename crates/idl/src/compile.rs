//! Compilation: the stages of the compiler, one after the other.

use std::path::PathBuf;

use proc_macro2::{Span, TokenStream, TokenTree};

use crate::ami;
use crate::ast::DefinitionKind;
use crate::derives::Derives;
use crate::diagnostic::{Diagnostics, Sink};
use crate::generate::generate;
use crate::in_memory::InMemory;
use crate::model::Model;
use crate::names::{Names, assign, is_identifier, module_name};
use crate::options::{Options, Setting, Settings};
use crate::parser::{Tree, parse};
use crate::preprocess::{Input, preprocess};
use crate::resolve::resolve;
use crate::source::SourceMap;

/// The result of a compilation: generated Rust, and the files that it depends on.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Output {
    /// Items: modules, types, traits. They compile wherever items may stand, and need no imports.
    pub tokens: TokenStream,
    /// The canonical path of every file that was read, each once.
    pub dependencies: Vec<PathBuf>,
}

/// Compiles the IDL `text`; `name` is its file name in diagnostics. `#include` looks in [`Options::include_dirs`] only, as
/// the text has no directory of its own.
///
/// # Errors
/// All errors of the text that can be found in one compilation.
pub fn compile_str(name: &str, text: &str, options: &Options) -> Result<Output, Diagnostics> {
    compile(&[Input::Text { name, text }], options, &|_, _| None)
}

/// Finds the place in Rust source of a place in IDL: the file as diagnostics name it, and the octet in its text.
pub type Locate<'a> = dyn Fn(&str, usize) -> Option<Span> + 'a;

/// Compiles text as [`compile_str`] does. Names and signatures in the output carry the places that `locate` gives, so that
/// rustc's errors underline them; they are resolved as those without a place.
///
/// # Errors
/// Those of [`compile_str`].
#[doc(hidden)]
pub fn compile_str_at(
    name: &str,
    text: &str,
    options: &Options,
    locate: &Locate<'_>,
) -> Result<Output, Diagnostics> {
    compile(&[Input::Text { name, text }], options, locate)
}

/// Compiles files as [`compile_files`] does, with places as those of [`compile_str_at`].
///
/// # Errors
/// Those of [`compile_files`].
#[doc(hidden)]
pub fn compile_files_at(
    files: &[PathBuf],
    options: &Options,
    locate: &Locate<'_>,
) -> Result<Output, Diagnostics> {
    compile(&inputs(files), options, locate)
}

/// Compiles several files as one: they share one global scope, and an included file with an include guard is read once.
/// Definitions of included files are generated, too, unless [`Options::externs`] maps them.
///
/// # Errors
/// All errors of the files that can be found in one compilation, and files that cannot be read.
pub fn compile_files(files: &[PathBuf], options: &Options) -> Result<Output, Diagnostics> {
    compile(&inputs(files), options, &|_, _| None)
}

/// Checks the IDL `text` as [`compile_str`] does, without generating code.
///
/// # Errors
/// All errors of the text that can be found in one compilation.
pub fn check_str(name: &str, text: &str, options: &Options) -> Result<(), Diagnostics> {
    analyse(&[Input::Text { name, text }], options).map(drop)
}

/// Checks IDL files as [`compile_files`] does, without generating code.
///
/// # Errors
/// All errors of the files that can be found in one compilation, and files that cannot be read.
pub fn check_files(files: &[PathBuf], options: &Options) -> Result<(), Diagnostics> {
    analyse(&inputs(files), options).map(drop)
}

/// The canonical path of every file that compiling `files` would read, each once, in reading order. Only the preprocessor
/// runs, so the text need not be valid IDL.
///
/// # Errors
/// A file cannot be read, or the preprocessor reports an error; [`Diagnostics::dependencies`] has the files read so far.
pub fn dependencies(files: &[PathBuf], options: &Options) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut sources = SourceMap::default();
    let sink = Sink::default();
    let stream = preprocess(&inputs(files), options, &mut sources, &sink);
    match stream.whole {
        true => Ok(sources.paths()),
        false => Err(failure(sink, &sources)),
    }
}

pub(crate) fn inputs(files: &[PathBuf]) -> Vec<Input<'_>> {
    files.iter().map(|path| Input::File(path)).collect()
}

fn compile(
    inputs: &[Input<'_>],
    options: &Options,
    locate: &Locate<'_>,
) -> Result<Output, Diagnostics> {
    let analysis = analyse(inputs, options)?;
    let tokens = generate(&analysis, options, locate);
    Ok(Output {
        tokens,
        dependencies: analysis.dependencies,
    })
}

/// The result of all stages but the generation of code.
pub(crate) struct Analysis {
    pub(crate) model: Model,
    pub(crate) names: Names,
    pub(crate) derives: Derives,
    pub(crate) in_memory: InMemory,
    pub(crate) sources: SourceMap,
    dependencies: Vec<PathBuf>,
}

/// Runs all stages but the generation of code.
fn analyse(inputs: &[Input<'_>], options: &Options) -> Result<Analysis, Diagnostics> {
    let resolved = resolved(inputs, options)?;
    let Resolved {
        model,
        sources,
        modules,
        sink,
        settings,
    } = resolved;
    let mut model = model;
    if options.ami {
        ami::imply(&mut model);
    }
    let names = assign(&model, options, settings, &sink);
    let derives = Derives::of(&model, options, settings, &sink);
    let in_memory = InMemory::of(&model, options, settings, &sink);
    match sink.finish(&sources) {
        Some(diagnostics) => Err(diagnostics.with_modules(modules)),
        None => Ok(Analysis {
            model,
            names,
            derives,
            in_memory,
            dependencies: sources.paths(),
            sources,
        }),
    }
}

/// The result of the stages that know no Rust.
pub(crate) struct Resolved {
    pub(crate) model: Model,
    pub(crate) sources: SourceMap,
    settings: Settings,
    /// The Rust names of the outermost modules.
    modules: Vec<String>,
    sink: Sink,
}

/// Runs the stages up to the model.
pub(crate) fn resolved(inputs: &[Input<'_>], options: &Options) -> Result<Resolved, Diagnostics> {
    if inputs.is_empty() {
        return Err(Diagnostics::of_option("no IDL file is named", None));
    }
    let externs = options.externs.iter().enumerate();
    let externs = externs.map(|(at, option)| ("extern", Setting::ExternPath(at), option));
    let natives = options.natives.iter().enumerate();
    let natives = natives.map(|(at, option)| ("native", Setting::NativePath(at), option));
    let derives = options.derives.iter().enumerate();
    let derives = derives.map(|(at, option)| ("derive", Setting::DeriveTrait(at), option));
    for (option, setting, (name, path)) in externs.chain(natives).chain(derives) {
        let tokens = path.parse::<TokenStream>().ok();
        let fits = tokens.is_some_and(|tokens| match option {
            // A native type may be any Rust type.
            "native" => !tokens.is_empty(),
            _ => is_path(tokens),
        });
        if !fits {
            let message = format!("the option {option}(\"{name}\" = …) does not give a Rust path");
            let example = match option {
                "derive" => "serde::Serialize",
                _ => "crate::common",
            };
            let hint = format!("write `{example}`, for example");
            return Err(Diagnostics::of_option(message, Some(hint)).with_setting(setting));
        }
    }
    let mut sources = SourceMap::default();
    let sink = Sink::default();
    let stream = preprocess(inputs, options, &mut sources, &sink);
    // After an error of the preprocessor, such as a missing file, all further errors may be consequences.
    if !stream.whole {
        return Err(failure(sink, &sources));
    }
    let clean = sink.is_empty();
    let tree = parse(
        &stream.tokens,
        &stream.trailing_comments,
        &sources,
        options.lenient,
        &sink,
    );
    let modules = outermost(&tree, options);
    // After an error of the lexer, such as an unclosed comment, all further errors may be consequences.
    if !clean || tree.lost.is_none() {
        return Err(failure(sink, &sources).with_modules(modules));
    }
    let settings = sources.add_settings();
    let model = resolve(tree, options, &sources, settings, &sink);
    if !sink.is_empty() {
        return Err(failure(sink, &sources).with_modules(modules));
    }
    Ok(Resolved {
        model,
        sources,
        settings,
        modules,
        sink,
    })
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

/// Whether `tokens` are a path: names with `::` between them, and optionally in front.
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
