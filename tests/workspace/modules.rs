//! The arrows between the modules of a crate, and the size of files: a new cycle of more than three modules fails here,
//! and so does a file of more than 600 lines.
//!
//! A module has an arrow to another one if a `use` or a path in it leads to an item of that module, directly, by
//! `super::` or by re-exports. A re-export by itself is no arrow of the module that contains it. Code of tests and
//! models does not count.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, ItemMod, ItemUse, UseTree, Visibility};

/// The folders of the library crates, each with the number of modules that are part of a longer cycle. The numbers only
/// ever fall: who makes one smaller records it here.
pub(crate) const CRATES: [(&str, usize); 10] = [
    ("crates/atm", 0),
    ("crates/cdr", 0),
    ("crates/giop", 0),
    ("crates/executor", 0),
    ("crates/transport", 0),
    ("crates/connection", 0),
    ("crates/poa", 0),
    ("crates/idl", 0),
    ("idl-macros", 0),
    ("crates/zorb", 0),
];

/// The roots of crates whose code gets a peer's octets, and denies what could panic on them.
const CODECS: [&str; 7] = [
    "crates/atm",
    "crates/cdr",
    "crates/connection",
    "crates/giop",
    "crates/poa",
    "crates/transport",
    "crates/zorb",
];
/// The lints that they deny.
const DENIED: [&str; 6] = [
    "clippy::arithmetic_side_effects",
    "clippy::cast_possible_truncation",
    "clippy::cast_possible_wrap",
    "clippy::expect_used",
    "clippy::indexing_slicing",
    "clippy::unwrap_used",
];

/// The most modules of a cycle.
const MOST_IN_CYCLE: usize = 3;
/// The most lines of a file, apart from its tests.
const MOST_LINES: usize = 600;

/// The names of a module and of those around it, from the root of its crate.
type Name = Vec<String>;

/// The names of a module: its children, items, imports and uses.
#[derive(Debug, Default)]
struct Module {
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// Where the names lead that are imported or re-exported here.
    imported: BTreeMap<String, Name>,
    /// Names that are re-exported only: using one is an arrow, the re-export is none.
    exported: BTreeSet<String>,
    globs: Vec<Name>,
    /// The modules and items that the module uses.
    used: BTreeSet<Name>,
}

/// The modules of a crate.
#[derive(Debug, Default)]
struct Modules(BTreeMap<Name, Module>);

/// Whether code with these attributes is part of the library.
fn is_shipped(attributes: &[Attribute]) -> bool {
    !attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && (attribute.meta.require_list()).is_ok_and(|list| asks_for_tests(&list.tokens))
    })
}

/// Whether a configuration asks for tests or models, outside of `not(…)`.
pub(crate) fn asks_for_tests(tokens: &TokenStream) -> bool {
    let mut is_negated = false;
    for tree in tokens.clone() {
        match tree {
            TokenTree::Ident(word) => {
                is_negated = word == "not";
                if word == "test" || word == "zorb_model" {
                    return true;
                }
            }
            TokenTree::Group(group) if !is_negated && asks_for_tests(&group.stream()) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// The file that `#[path = "…"]` names.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|a| a.path().is_ident("path"))?;
    let syn::Expr::Lit(literal) = &attribute.meta.require_name_value().ok()?.value else {
        return None;
    };
    match &literal.lit {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

impl Modules {
    /// The modules of the crate in a folder.
    fn read(folder: &Path) -> Self {
        let mut modules = Self::default();
        let root = folder.join("src");
        modules.read_file(&root.join("lib.rs"), &root, Vec::new());
        modules
    }

    /// Reads a file, whose modules lie in `folder`.
    fn read_file(&mut self, file: &Path, folder: &Path, name: Name) {
        self.read_items(&parse(file).items, file, folder, name);
    }

    fn read_items(&mut self, items: &[Item], file: &Path, folder: &Path, name: Name) {
        self.0.insert(name.clone(), Module::default());
        for item in items {
            if let Item::Mod(module) = item
                && is_shipped(&module.attrs)
            {
                let own = self.0.entry(name.clone()).or_default();
                own.children.insert(module.ident.to_string());
            }
        }
        for item in items {
            match item {
                Item::Mod(module) => self.read_module(module, file, folder, &name),
                item => self.read_item(item, &name),
            }
        }
    }

    fn read_module(&mut self, module: &ItemMod, file: &Path, folder: &Path, name: &[String]) {
        if !is_shipped(&module.attrs) {
            return;
        }
        let word = module.ident.to_string();
        let below = [name, std::slice::from_ref(&word)].concat();
        if let Some((_, items)) = &module.content {
            return self.read_items(items, file, &folder.join(word), below);
        }
        if let Some(path) = path_of(&module.attrs) {
            let path = file.parent().expect("a folder").join(path);
            let folder = path.with_extension("");
            return self.read_file(&path, &folder, below);
        }
        let beside = folder.join(&word).with_extension("rs");
        let inside = folder.join(&word);
        match beside.exists() {
            true => self.read_file(&beside, &inside, below),
            false => self.read_file(&inside.join("mod.rs"), &inside, below),
        }
    }

    fn read_item(&mut self, item: &Item, name: &[String]) {
        let module = self.0.entry(name.to_vec()).or_default();
        module.items.extend(defined(item));
        let mut found = Uses { module, name };
        found.visit_item(item);
    }

    /// The module that has the item, or is the module, which a path from the root of the crate leads to; `None` for
    /// items of other crates.
    fn resolve(&self, path: &[String], deep: usize) -> Option<Name> {
        if path.first().is_some_and(|first| first.is_empty()) || deep > 16 {
            return None;
        }
        let mut at = Name::new();
        for (index, segment) in path.iter().enumerate() {
            let module = self.0.get(&at)?;
            let rest = &path[index + 1..];
            if module.children.contains(segment) {
                at.push(segment.clone());
            } else if module.items.contains(segment) {
                return Some(at);
            } else if let Some(leads) = module.imported.get(segment) {
                return self.resolve(&[leads, rest].concat(), deep + 1);
            } else {
                let through = module.globs.iter().find_map(|glob| {
                    let target = self.resolve(glob, deep + 1)?;
                    let has = self.0.get(&target).is_some_and(|other| {
                        other.items.contains(segment) || other.imported.contains_key(segment)
                    });
                    let path = [&target[..], std::slice::from_ref(segment), rest].concat();
                    has.then(|| self.resolve(&path, deep + 1)).flatten()
                });
                return through.or(Some(at));
            }
        }
        Some(at)
    }

    /// The modules that each module knows.
    fn arrows(&self) -> BTreeMap<Name, BTreeSet<Name>> {
        let known = |name: &Name, module: &Module| {
            let used = module.used.iter();
            let resolved = used.filter_map(|path| self.resolve(path, 0));
            resolved.filter(|other| other != name).collect()
        };
        let all = self.0.iter();
        all.map(|(name, module)| (name.clone(), known(name, module)))
            .collect()
    }
}

/// The names that an item defines.
fn defined(item: &Item) -> Vec<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Macro(item) => match &item.ident {
            Some(name) => name,
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    vec![name.to_string()]
}

/// Collects what a module uses.
struct Uses<'a> {
    module: &'a mut Module,
    name: &'a [String],
}

impl Uses<'_> {
    /// A path from the root of the crate; its first segment is empty if it leads to another crate.
    fn absolute(&self, path: &[String]) -> Name {
        let mut at = self.name.to_vec();
        let mut is_local = false;
        let mut rest = path;
        while let Some((first, behind)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => break,
            }
            is_local = true;
            rest = behind;
        }
        let is_known = |first: &String| {
            let module = &*self.module;
            module.children.contains(first)
                || module.items.contains(first)
                || module.imported.contains_key(first)
        };
        match is_local || rest.first().is_some_and(is_known) {
            true => [&at[..], rest].concat(),
            false => vec![String::new()],
        }
    }

    fn tree(&mut self, tree: &UseTree, before: &[String], is_export: bool) {
        match tree {
            UseTree::Path(path) => {
                let here = [before, &[path.ident.to_string()]].concat();
                self.tree(&path.tree, &here, is_export);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(tree, before, is_export);
                }
            }
            UseTree::Glob(_) => {
                let path = self.absolute(before);
                self.module.globs.push(path.clone());
                if !is_export {
                    self.module.used.insert(path);
                }
            }
            UseTree::Name(name) => self.import(before, &name.ident, &name.ident, is_export),
            UseTree::Rename(name) => self.import(before, &name.ident, &name.rename, is_export),
        }
    }

    fn import(&mut self, before: &[String], item: &Ident, called: &Ident, is_export: bool) {
        let mut called = called.to_string();
        let path = match item == "self" {
            true => {
                if called == "self" {
                    called = before.last().cloned().unwrap_or_default();
                }
                before.to_vec()
            }
            false => [before, &[item.to_string()]].concat(),
        };
        let path = self.absolute(&path);
        if is_export {
            self.module.exported.insert(called.clone());
        } else {
            self.module.used.insert(path.clone());
        }
        self.module.imported.insert(called, path);
    }

    fn path(&mut self, path: &[String]) {
        let Some(first) = path.first() else { return };
        let is_local = ["crate", "self", "super"].contains(&first.as_str())
            || path.len() > 1 && self.module.children.contains(first)
            || self.module.exported.contains(first);
        if is_local && path != ["self"] {
            let path = self.absolute(path);
            self.module.used.insert(path);
        }
    }

    /// Paths in the arguments of macros.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Name = Vec::new();
        // Colons since the last word.
        let mut colons = 0;
        for tree in tokens {
            match tree {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.path(&core::mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.path(&core::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.path(&path);
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if is_shipped(&item.attrs) {
            let is_export = !matches!(item.vis, Visibility::Inherited);
            self.tree(&item.tree, &[], is_export);
        }
    }

    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            _ => &[],
        };
        if is_shipped(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|s| s.ident.to_string());
        let segments: Name = segments.collect();
        self.path(&segments);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.visit_path(&invocation.path);
        self.tokens(invocation.tokens.clone());
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        // The body of `macro_rules!` is expanded elsewhere.
        if item.ident.is_none() {
            visit::visit_item_macro(self, item);
        }
    }
}

/// The modules of a crate that are part of a cycle of more than [`MOST_IN_CYCLE`] different modules.
fn tangled(arrows: &BTreeMap<Name, BTreeSet<Name>>) -> BTreeSet<Name> {
    let starts = arrows.keys();
    let is_tangled = |start: &&Name| begins_long_cycle(&[start], arrows);
    starts.filter(is_tangled).cloned().collect()
}

/// Whether a path of different modules is the beginning of a cycle that is too long.
fn begins_long_cycle(path: &[&Name], arrows: &BTreeMap<Name, BTreeSet<Name>>) -> bool {
    let (Some(first), Some(last)) = (path.first(), path.last()) else {
        return false;
    };
    if path.len() > MOST_IN_CYCLE {
        return leads_back(last, first, path, arrows);
    }
    let next = arrows[*last].iter().filter(|next| !path.contains(next));
    next.map(|next| [path, &[next]].concat())
        .any(|path| begins_long_cycle(&path, arrows))
}

/// Whether arrows lead from one module to another without those in between of a path.
fn leads_back(
    from: &Name,
    to: &Name,
    path: &[&Name],
    arrows: &BTreeMap<Name, BTreeSet<Name>>,
) -> bool {
    let mut seen: BTreeSet<&Name> = path.iter().copied().collect();
    let mut left = vec![from];
    while let Some(at) = left.pop() {
        for next in &arrows[at] {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                left.push(next);
            }
        }
    }
    false
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn begins_tests(line: &str) -> bool {
    matches!(line, "mod tests {" | "pub(crate) mod tests {")
}

/// The lines of a file, apart from its inline module of tests.
fn lines(text: &str) -> usize {
    let mut is_test = false;
    let mut count = 0;
    for line in text.lines() {
        is_test |= begins_tests(line);
        count += usize::from(!is_test);
        is_test &= line != "}";
    }
    count
}

/// The text of a file without its documentation and what is in its inline module of tests: half of the text, and no part of
/// what ships.
pub(crate) fn shipped(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut is_test = false;
    let mut shipped = String::with_capacity(text.len());
    for line in text.lines() {
        is_test &= line != "}";
        let start = line.trim_start();
        if !is_test && !start.starts_with("///") && !start.starts_with("//!") {
            shipped.push_str(line);
            shipped.push('\n');
        }
        is_test |= begins_tests(line);
    }
    shipped
}

/// What [ships](shipped) of a file.
fn parse(file: &Path) -> syn::File {
    syn::parse_file(&shipped(file)).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// All Rust files in a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true => files(&path),
        false => vec![path],
    };
    let all = entries.flat_map(of);
    all.filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

#[test]
fn no_module_joins_a_cycle_of_more_than_three() {
    let mut wrong = Vec::new();
    for (folder, recorded) in CRATES {
        let tangled = tangled(&Modules::read(&root().join(folder)).arrows());
        if tangled.len() != recorded {
            let names: Vec<String> = tangled.iter().map(|name| name.join("::")).collect();
            let (is, names) = (names.len(), names.join(", "));
            wrong.push(format!(
                "{folder}: {is} modules, and not {recorded}: {names}"
            ));
        }
    }
    assert!(wrong.is_empty(), "modules in cycles:\n{}", wrong.join("\n"));
}

#[test]
fn no_file_is_longer_than_600_lines() {
    let mut long = Vec::new();
    for (folder, _) in CRATES {
        for file in files(&root().join(folder).join("src")) {
            let lines = lines(&fs::read_to_string(&file).unwrap());
            if lines > MOST_LINES {
                long.push(format!("{}: {lines} lines", file.display()));
            }
        }
    }
    assert!(long.is_empty(), "files to be split:\n{}", long.join("\n"));
}

#[test]
fn codecs_deny_what_could_panic_on_a_peer_s_octets() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let rule = page
        .split("\n- ")
        .find(|rule| rule.starts_with("No `unwrap`"));
    let rule = rule.expect("the page has the rule");
    for folder in CODECS {
        let name = folder.trim_start_matches("crates/");
        assert!(rule.contains(&format!("`{name}`")), "not said of {name}");
        let text = fs::read_to_string(root().join(folder).join("src/lib.rs")).unwrap();
        let parsed = syn::parse_file(&text).unwrap();
        let mut denied = String::new();
        for attribute in &parsed.attrs {
            if let Ok(list) = attribute.meta.require_list() {
                let tokens = list.tokens.to_string().replace(' ', "");
                if attribute.path().is_ident("deny") || tokens.starts_with("not(test),deny(") {
                    denied.push_str(&tokens);
                }
            }
        }
        for lint in DENIED {
            assert!(denied.contains(lint), "{folder} does not deny {lint}");
        }
    }
}

/// The exceptions from [`DENIED`] that hold for a whole module, with the module's file.
#[derive(Default)]
struct Exempt(Vec<String>);

impl Exempt {
    fn note(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            let Ok(list) = attribute.meta.require_list() else {
                continue;
            };
            let tokens = list.tokens.to_string().replace(' ', "");
            let is_exception = ["allow", "expect"].iter().any(|level| {
                attribute.path().is_ident(level) || tokens.contains(&format!(",{level}("))
            });
            let is_of_tests = tokens.starts_with("test,");
            if is_exception && !is_of_tests && DENIED.iter().any(|lint| tokens.contains(lint)) {
                self.0.push(tokens);
            }
        }
    }
}

impl<'a> Visit<'a> for Exempt {
    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if is_shipped(&module.attrs) {
            self.note(&module.attrs);
            visit::visit_item_mod(self, module);
        }
    }
}

/// The exceptions that a file makes for itself or for a module in it.
fn exempt(text: &str) -> Vec<String> {
    // Few files name a lint, and parsing takes long.
    let mut lints = DENIED.iter().filter_map(|lint| lint.rsplit(':').next());
    if !lints.any(|lint| text.contains(lint)) {
        return Vec::new();
    }
    let parsed = syn::parse_file(text).unwrap();
    let mut exempt = Exempt::default();
    exempt.note(&parsed.attrs);
    exempt.visit_file(&parsed);
    exempt.0
}

#[test]
fn exceptions_from_what_codecs_deny_are_of_single_items() {
    let mut wrong = Vec::new();
    for folder in CODECS {
        for file in files(&root().join(folder).join("src")) {
            // Checks that other crates run as tests.
            let is_check = file.ends_with("conformance/mod.rs");
            let exempt = exempt(&fs::read_to_string(&file).unwrap());
            if exempt.is_empty() == is_check {
                wrong.push(format!("{}: {exempt:?}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_of_a_module_is_found_and_one_of_an_item_is_not() {
        const LINT: &str = "clippy::expect_used";
        for module in [
            format!("#![allow({LINT})]"),
            format!("#![cfg_attr(not(test), expect({LINT}, reason = \"\"))]"),
            format!("#[allow({LINT})] mod a {{}}"),
            format!("mod a {{ #[expect({LINT})] mod b {{}} }}"),
            format!("mod a {{ #![expect({LINT})] }}"),
        ] {
            assert_eq!(exempt(&module).len(), 1, "{module}");
        }
        for item in [
            format!("#![deny({LINT})]"),
            format!("#![cfg_attr(test, allow({LINT}))]"),
            format!("#[expect({LINT})] fn a() {{}}"),
            format!("#[cfg(test)] #[allow({LINT})] mod tests {{}}"),
            "#![allow(dead_code)]".to_owned(),
        ] {
            assert_eq!(exempt(&item), Vec::<String>::new(), "{item}");
        }
    }

    fn name(text: &str) -> Name {
        text.split("::")
            .filter(|s| !s.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// The arrows of a crate that consists of one file.
    fn arrows(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/lib.rs"), text).unwrap();
        let all = Modules::read(folder.path()).arrows();
        let one = |from: &Name, to: &Name| format!("{} {}", from.join("::"), to.join("::"));
        all.iter()
            .flat_map(|(from, to)| to.iter().map(move |to| one(from, to)))
            .collect()
    }

    #[test]
    fn arrows_are_found_through_super_and_re_exports() {
        let text = "
            mod a { pub mod deep { pub struct Deep; use super::super::b::B as Other; } pub use deep::Deep; }
            mod b { use crate::a::Deep; pub struct B; #[cfg(test)] mod tests { use crate::c::C; } }
            mod c { pub struct C; fn f() { drop(super::a::Deep); println!(\"{}\", crate::b::B); } }
            mod d { use super::a::*; use other_crate::b; }
        ";
        let found = arrows(text);
        let expected = ["a::deep b", "b a::deep", "c a::deep", "c b", "d a"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_cycle_of_four_is_found_and_one_of_three_is_allowed() {
        let cycle = |names: &[&str]| -> BTreeMap<Name, BTreeSet<Name>> {
            let next = names.iter().cycle().skip(1);
            let arrow = |(from, to): (&&str, &&str)| (name(from), BTreeSet::from([name(to)]));
            names.iter().zip(next).map(arrow).collect()
        };
        assert!(tangled(&cycle(&["a", "b", "c"])).is_empty());
        let mut four = cycle(&["a", "b", "c", "d"]);
        four.insert(name("e"), BTreeSet::from([name("a")]));
        assert_eq!(
            tangled(&four).len(),
            4,
            "the fifth leads to the cycle and is not part of it"
        );
        // Two cycles that share a module are no longer one.
        let mut two = cycle(&["a", "b", "c"]);
        two.extend(cycle(&["c", "d"]));
        two.insert(name("c"), BTreeSet::from([name("a"), name("d")]));
        assert!(tangled(&two).is_empty());
    }

    #[test]
    fn lines_of_tests_do_not_count() {
        assert_eq!(lines("a\nb\nmod tests {\n    c\n}\nd\n"), 3);
    }
}
