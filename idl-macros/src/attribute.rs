//! The attribute `#[idl_file(…)] mod m {}`.

use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Ident, ItemMod, LitStr, Token};
use zorb_idl::{Options, Setting, compile_files_at};

use crate::errors::{compile_error, drawn, everywhere, message_of};

/// The options between the parentheses of the attribute.
#[derive(Default)]
pub(crate) struct Arguments {
    files: Vec<LitStr>,
    include: Vec<LitStr>,
    defines: Vec<(LitStr, Option<LitStr>)>,
    externs: Vec<(LitStr, syn::Path)>,
    renames: Vec<(LitStr, LitStr)>,
    natives: Vec<(LitStr, syn::Path)>,
    /// Each with the type that it is for; all types if there is none.
    derives: Vec<(Option<LitStr>, syn::Path)>,
    in_memory: Vec<LitStr>,
    defaults: bool,
    delegates: bool,
    ami: bool,
    lenient: bool,
    orb: Option<syn::Path>,
}

/// [`Arguments`] of the attribute, which need a file, as opposed to those of `idl!`.
struct WithFiles(Arguments);

impl Parse for WithFiles {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let arguments = Arguments::parse(input)?;
        if arguments.files.is_empty() {
            let message = "name at least one IDL file: `#[idl_file(\"path/to/file.idl\")]`";
            return Err(syn::Error::new(Span::call_site(), message));
        }
        Ok(Self(arguments))
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Self::default();
        while !input.is_empty() {
            if input.peek(LitStr) {
                arguments.files.push(input.parse()?);
            } else {
                arguments.option(input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    /// Refuses options that `idl!` cannot have: files, and the path of the ORB, which it knows.
    pub(crate) fn for_inline(self) -> syn::Result<Self> {
        let place = self.files.first().map(Spanned::span);
        let place = place.or_else(|| self.orb.as_ref().map(Spanned::span));
        match place {
            Some(place) => {
                let message = "IDL in the source has no files and no `crate`: its options are those of `idl_file` but these";
                Err(syn::Error::new(place, message))
            }
            None => Ok(self),
        }
    }

    fn option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let name = input.call(Ident::parse_any)?;
        if name == "crate" {
            input.parse::<Token![=]>()?;
            self.orb = Some(input.parse::<LitStr>()?.parse()?);
            return Ok(());
        }
        if name == "defaults" {
            self.defaults = true;
            return Ok(());
        }
        if name == "delegates" {
            self.delegates = true;
            return Ok(());
        }
        if name == "ami" {
            self.ami = true;
            if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                self.ami = input.parse::<syn::LitBool>()?.value;
            }
            return Ok(());
        }
        if name == "lenient" {
            self.lenient = true;
            return Ok(());
        }
        let known = [
            "include",
            "define",
            "extern",
            "rename",
            "native",
            "derive",
            "in_memory",
        ];
        if !known.iter().any(|known| name == known) {
            let message = format!(
                "no option `{name}`: there are a path, `include`, `define`, `extern`, `rename`, `native`, `derive`, `in_memory`, \
                 `defaults`, `delegates`, `ami`, `lenient`, `crate`"
            );
            return Err(syn::Error::new(name.span(), message));
        }
        let list;
        syn::parenthesized!(list in input);
        while !list.is_empty() {
            if name == "derive" {
                self.derives.push(derive(&list)?);
                if !list.is_empty() {
                    list.parse::<Token![,]>()?;
                }
                continue;
            }
            let first: LitStr = list.parse()?;
            if name == "include" {
                self.include.push(first);
            } else if name == "in_memory" {
                self.in_memory.push(first);
            } else if name == "define" {
                let value = match list.peek(Token![=]) {
                    true => {
                        list.parse::<Token![=]>()?;
                        Some(list.parse()?)
                    }
                    false => None,
                };
                self.defines.push((first, value));
            } else {
                list.parse::<Token![=]>()?;
                if name == "rename" {
                    self.renames.push((first, list.parse()?));
                } else if name == "extern" {
                    let path = list.call(syn::Path::parse_mod_style)?;
                    self.externs.push((first, path));
                } else {
                    self.natives.push((first, list.parse()?));
                }
            }
            if !list.is_empty() {
                list.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    /// A use of each path that an option gives, in front of the generated code. So a path that leads nowhere is the first error
    /// of rustc, at the option, before one for each of its uses in that code.
    pub(crate) fn paths(&self) -> TokenStream {
        let paths = self.externs.iter().map(|(_, path)| path).chain(&self.orb);
        // `use crate as _` is no import.
        let named = |path: &&syn::Path| {
            let last = path.segments.last().map(|last| last.ident.to_string());
            last.is_some_and(|last| !["crate", "self", "super"].contains(&last.as_str()))
        };
        paths
            .filter(named)
            .map(|path| quote_spanned!(path.span()=> #[allow(unused_imports)] use #path as _;))
            .collect()
    }

    /// The place of a setting in the source.
    pub(crate) fn setting(&self, setting: Setting) -> Option<Span> {
        Some(match setting {
            Setting::Define(at) => self.defines.get(at)?.0.span(),
            Setting::Extern(at) => self.externs.get(at)?.0.span(),
            Setting::ExternPath(at) => self.externs.get(at)?.1.span(),
            Setting::Rename(at) => self.renames.get(at)?.0.span(),
            Setting::RustName(at) => self.renames.get(at)?.1.span(),
            Setting::Native(at) => self.natives.get(at)?.0.span(),
            Setting::NativePath(at) => self.natives.get(at)?.1.span(),
            Setting::DeriveOf(at) => self.derives.get(at)?.0.as_ref()?.span(),
            Setting::InMemory(at) => self.in_memory.get(at)?.span(),
            Setting::DeriveTrait(at) => self.derives.get(at)?.1.span(),
            _ => return None,
        })
    }

    pub(crate) fn options(&self, root: &Path) -> Options {
        let mut options = Options::default();
        options.include_dirs = self
            .include
            .iter()
            .map(|dir| root.join(dir.value()))
            .collect();
        options.defines = self
            .defines
            .iter()
            .map(|(name, value)| {
                // A macro without a value is 1, as with `-D NAME`.
                let value = value.as_ref().map_or_else(|| "1".to_owned(), LitStr::value);
                (name.value(), value)
            })
            .collect();
        options.externs = self
            .externs
            .iter()
            .map(|(module, path)| (module.value(), quote!(#path).to_string()))
            .collect();
        options.renames = self
            .renames
            .iter()
            .map(|(idl, rust)| (idl.value(), rust.value()))
            .collect();
        options.natives = self
            .natives
            .iter()
            .map(|(idl, path)| (idl.value(), quote!(#path).to_string()))
            .collect();
        options.derives = self
            .derives
            .iter()
            .map(|(idl, path)| {
                let idl = idl.as_ref().map(LitStr::value);
                (idl.unwrap_or_default(), quote!(#path).to_string())
            })
            .collect();
        options.in_memory = self.in_memory.iter().map(LitStr::value).collect();
        (options.defaults, options.delegates) = (self.defaults, self.delegates);
        options.ami = self.ami;
        options.lenient = self.lenient;
        if let Some(path) = &self.orb {
            options.crate_path = quote!(#path);
        }
        options
    }
}

/// A trait for all types, or `"A::B" = Trait` for one type or module. The trait may be in quotes.
fn derive(list: ParseStream<'_>) -> syn::Result<(Option<LitStr>, syn::Path)> {
    let of = match list.peek(LitStr) && list.peek2(Token![=]) {
        true => {
            let of = list.parse()?;
            list.parse::<Token![=]>()?;
            Some(of)
        }
        false => None,
    };
    let path = match list.peek(LitStr) {
        true => {
            let path: LitStr = list.parse()?;
            path.parse_with(syn::Path::parse_mod_style)?
        }
        false => list.call(syn::Path::parse_mod_style)?,
    };
    Ok((of, path))
}

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let module = match syn::parse2::<ItemMod>(item.clone()) {
        Ok(module) => module,
        Err(error) => {
            let error = compile_error(
                error.span(),
                "`idl_file` stands on a module: `#[idl_file(\"a.idl\")] mod a {}`",
            );
            return quote!(#error #item);
        }
    };
    let generated = generate(arguments);
    let ItemMod {
        attrs,
        vis,
        unsafety,
        mod_token,
        ident,
        content,
        ..
    } = module;
    let Some((_, items)) = content else {
        let message = format!("write `mod {ident} {{}}`: an attribute cannot fill `mod {ident};`");
        return compile_error(ident.span(), &message);
    };
    let documented = attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("doc"));
    let doc = (!documented).then(|| quote!(#[doc = " Generated from IDL."]));
    // Inner attributes are among the others, and are printed the same way.
    quote! { #doc #(#attrs)* #vis #unsafety #mod_token #ident { #(#items)* #generated } }
}

/// The generated items, or the errors in their place.
fn generate(arguments: TokenStream) -> TokenStream {
    let arguments = match syn::parse2::<WithFiles>(arguments) {
        Ok(WithFiles(arguments)) => arguments,
        Err(error) => return error.to_compile_error(),
    };
    let root = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .unwrap_or_default();
    let files: Vec<PathBuf> = arguments
        .files
        .iter()
        .map(|file| root.join(file.value()))
        .collect();
    // Rustc cannot show lines of a file, so its definitions are at the literal that names it.
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let place = |file: &str, _: usize| {
        let index = names.iter().position(|name| name == file)?;
        arguments.files.get(index).map(LitStr::span)
    };
    match compile_files_at(&files, &arguments.options(&root), &place) {
        Ok(output) => {
            let (tokens, watched) = (output.tokens, watch(&output.dependencies));
            let named = arguments.paths();
            quote!(#named #tokens #watched)
        }
        Err(diagnostics) => {
            let errors = diagnostics.iter().map(|diagnostic| {
                // The error is placed at the literal that names its file, or at the first one.
                let first = || arguments.files.first().map(LitStr::span);
                let file = place(&diagnostic.file, 0).or_else(first);
                if let Some(place) = diagnostic.setting.and_then(|it| arguments.setting(it)) {
                    return compile_error(place, &message_of(diagnostic));
                }
                compile_error(file.unwrap_or_else(Span::call_site), &drawn(diagnostic))
            });
            let watched = watch(diagnostics.dependencies());
            let errors = everywhere(&errors.collect(), &diagnostics);
            quote!(#errors #watched)
        }
    }
}

/// Makes rustc depend on `files`, so that cargo builds again when one of them changes.
pub(crate) fn watch(files: &[PathBuf]) -> TokenStream {
    let paths = files.iter().filter_map(|path| path.to_str());
    quote!(#(const _: &[u8] = ::core::include_bytes!(#paths);)*)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn expanded(files: &[(&str, &str)], arguments: impl Fn(&str) -> String, item: &str) -> String {
        // Not by tempfile: dependencies of a macro's tests are compiled for the host, apart from those of all other tests.
        static DIRECTORIES: AtomicUsize = AtomicUsize::new(0);
        let n = DIRECTORIES.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("zorb-idl-macros-{}-{n}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        for (name, text) in files {
            fs::write(dir.join(name), text).unwrap();
        }
        // Joining an absolute path to the directory of the crate does not change it.
        let arguments = arguments(dir.to_str().unwrap());
        let tokens = expand(arguments.parse().unwrap(), item.parse().unwrap());
        let root = dir.canonicalize().unwrap();
        fs::remove_dir_all(&dir).unwrap();
        tokens
            .to_string()
            .replace(root.to_str().unwrap(), "ROOT")
            .replace(dir.to_str().unwrap(), "ROOT")
    }

    #[test]
    fn the_module_keeps_what_it_has_and_is_watched() {
        let files = [
            ("a.idl", "#include <b.idl>\nconst long A = B::N;"),
            ("b.idl", "module B { const long N = 1; };"),
        ];
        let text = expanded(
            &files,
            |dir| format!("\"{dir}/a.idl\", include(\"{dir}\"), crate = \"my::orb\""),
            "#[cfg(all())] pub(crate) mod m { fn own() {} }",
        );
        assert!(
            text.contains("# [cfg (all ())] pub (crate) mod m { fn own () { }"),
            "{text}"
        );
        assert!(text.contains("pub const A : i32 = 1 ;"), "{text}");
        for file in ["a.idl", "b.idl"] {
            let watched = format!(":: core :: include_bytes ! (\"ROOT/{file}\")");
            assert!(text.contains(&watched), "{text}");
        }
    }

    #[test]
    fn options_reach_the_compiler() {
        let files = [
            (
                "a.idl",
                "#include \"b.idl\"\n#if ON && TWO == 2\nmodule A { interface I : B::Base { B::S f(); }; };\n#endif",
            ),
            (
                "b.idl",
                "module B { struct S { long x; }; interface Base {}; };",
            ),
        ];
        let text = expanded(
            &files,
            |dir| {
                format!(
                    "\"{dir}/a.idl\", define(\"ON\", \"TWO\" = \"2\"), extern(\"B\" = crate::b), rename(\"A::I::f\" = \"g\"), crate = \"crate\""
                )
            },
            "mod m {}",
        );
        assert!(text.contains("pub trait I : crate :: b :: Base"), "{text}");
        assert!(text.contains("pub fn g (& self ,) -> impl"), "{text}");
        assert!(text.contains("crate :: __private :: upcasts !"), "{text}");
        assert!(!text.contains("struct S"), "{text}");
    }

    #[test]
    fn options_without_values_reach_the_compiler() {
        let files = [("a.idl", "interface I { void f(in long x); };")];
        let with = |options: &str| {
            let options = options.to_owned();
            expanded(
                &files,
                move |dir| format!("\"{dir}/a.idl\"{options}"),
                "mod m {}",
            )
        };
        let (plain, both) = (with(""), with(", defaults, delegates, ami = true"));
        for part in ["not_implemented ()", "pub trait IDelegate", "fn sendc_f"] {
            assert!(both.contains(part) && !plain.contains(part), "{both}");
        }
    }

    #[test]
    fn idl_that_cannot_be_changed_is_accepted_on_request() {
        let files = [("a.idl", "typedef string URI; struct S { URI uri; };")];
        for (option, accepted) in [("", false), (", lenient", true)] {
            let text = expanded(&files, |dir| format!("\"{dir}/a.idl\"{option}"), "mod m {}");
            assert_eq!(text.contains("pub struct S"), accepted, "{text}");
        }
    }

    #[test]
    fn a_fault_is_drawn_and_its_file_watched() {
        let files = [("a.idl", "struct S { Missing m; };")];
        let text = expanded(
            &files,
            |dir| format!("\"{dir}/a.idl\""),
            "mod m { fn own() {} }",
        );
        assert!(text.contains("fn own ()"), "{text}");
        assert!(text.contains("compile_error"), "{text}");
        assert!(
            text.contains("cannot find `Missing` in this scope\\n --> ROOT/a.idl:1:12"),
            "{text}"
        );
        assert!(text.contains("include_bytes ! (\"ROOT/a.idl\")"), "{text}");
    }
}
