//! Tables from operation names to numbers, by a perfect hash that the IDL compiler computes.

use phf::Map;

/// The operations of an interface by name: a `phf::Map` that the IDL compiler has computed.
///
/// A look-up costs one hash, two loads and one comparison, for any number of operations.
#[derive(Debug)]
pub struct Operations {
    numbers: Map<&'static [u8], u32>,
    /// Octets of the longest name.
    longest: usize,
}

/// The hexadecimal digits of a layout.
const LAYOUT_DIGITS: usize = 16;

/// The name that IDL gives to an operation whose values lie in memory, which is called `name/` and the hash of their layout on the
/// wire. Any other name is returned as it is.
#[must_use]
pub fn declared_name(name: &[u8]) -> &[u8] {
    let behind = LAYOUT_DIGITS.saturating_add(1);
    let declared = (name.len().checked_sub(behind)).and_then(|end| name.split_at_checked(end));
    match declared {
        Some((declared, [b'/', layout @ ..])) if is_layout(layout) => declared,
        _ => name,
    }
}

fn is_layout(digits: &[u8]) -> bool {
    digits
        .iter()
        .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

impl Operations {
    /// The table without operations, in which no name is found.
    pub const NONE: Self = Self::new(0, &[], &[]);

    /// The table from parts that `phf_generator::generate_hash` has computed: the key of the hash, the displacements of the
    /// buckets, and the names with their numbers in the order of their slots. The numbers count from 0.
    ///
    /// A table from other parts does not find its names.
    #[must_use]
    pub const fn new(
        key: u64,
        displacements: &'static [(u32, u32)],
        slots: &'static [(&'static [u8], u32)],
    ) -> Self {
        let mut longest = 0;
        let mut rest = slots;
        while let [(name, _), behind @ ..] = rest {
            if name.len() > longest {
                longest = name.len();
            }
            rest = behind;
        }
        // Only this code names these fields; for it the workspace requires one exact version of phf.
        let numbers = Map {
            key,
            disps: displacements,
            entries: slots,
        };
        Self { numbers, longest }
    }

    /// The number of the operation with this name; `None` if the table does not contain it.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        self.number(name)
    }

    /// The number of a name. A name longer than all names of the table is not hashed.
    #[inline]
    pub(crate) fn number(&self, name: &[u8]) -> Option<u32> {
        if name.len() > self.longest {
            return None;
        }
        self.numbers.get(name).copied()
    }

    /// The names and their numbers, in no order.
    pub(crate) const fn names(&self) -> &Map<&'static [u8], u32> {
        &self.numbers
    }
}

/// The table that the IDL compiler and `object_ids!` make of `names`. It is leaked, as tables are static.
#[cfg(test)]
pub(crate) fn table_of(names: &[&[u8]]) -> Operations {
    let hash = phf_generator::generate_hash(names);
    let slot = |index: usize| -> (&'static [u8], u32) {
        let number = u32::try_from(index).expect("few names");
        (names[index].to_vec().leak(), number)
    };
    let slots: Vec<_> = hash.map.into_iter().map(slot).collect();
    Operations::new(hash.key, hash.disps.leak(), slots.leak())
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use proc_macro2::{TokenStream, TokenTree};
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::path::Path;
    use zorb_idl::{Options, compile_files};

    /// The output of the IDL compiler for its test: key, displacements, slots.
    static TABLE: Operations = include!("../../idl/tests/golden/dispatch_table.in");

    #[test]
    fn every_name_is_found_and_no_other() {
        let operations = (0..40).map(|n| format!("operation{n}"));
        let names =
            operations.chain(["_get_owner", "_set_owner", "send_2way", "a"].map(str::to_owned));
        for (number, name) in names.enumerate() {
            assert_eq!(
                TABLE.find(name.as_bytes()),
                u32::try_from(number).ok(),
                "{name}"
            );
        }
        for other in [
            "",
            "operation",
            "operation40",
            "Operation1",
            "_get_owner\0",
            "b",
        ] {
            assert_eq!(TABLE.find(other.as_bytes()), None, "{other}");
        }
    }

    /// Names that differ little from `name`.
    fn near_misses(name: &[u8]) -> Vec<Vec<u8>> {
        let mut misses = vec![
            name[1..].to_vec(),
            name[..name.len() - 1].to_vec(),
            [name, b"\0"].concat(),
            [name, b"_"].concat(),
            [b"_get_", name].concat(),
            [name, name].concat(),
        ];
        for at in 0..name.len() {
            for mask in [0x01, 0x20, 0x80] {
                let mut changed = name.to_vec();
                changed[at] ^= mask;
                misses.push(changed);
            }
        }
        misses
    }

    /// Checks that each name is found with its number, and that `others` and similar names are found only if they are names.
    fn check(table: &Operations, numbers: &BTreeMap<Vec<u8>, u32>, others: &[Vec<u8>]) {
        for (name, number) in numbers {
            assert_eq!(table.find(name), Some(*number));
        }
        let misses = numbers.keys().flat_map(|name| near_misses(name));
        for other in misses.chain(others.iter().cloned()) {
            let number = numbers.get(&other).copied();
            assert_eq!(table.find(&other), number, "{}", other.escape_ascii());
        }
    }

    /// Checks the table of these names, whose numbers are their indexes.
    fn check_of(names: &BTreeSet<Vec<u8>>, others: &[Vec<u8>]) {
        let ordered: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let numbers = names.iter().cloned().zip(0..).collect();
        check(&table_of(&ordered), &numbers, others);
    }

    proptest! {
        #[test]
        fn a_table_of_any_names_finds_each_of_them_and_no_other(
            names in btree_set("(_[gs]et_)?[A-Za-z][A-Za-z0-9_]{0,40}", 0..60),
            others in proptest::collection::vec(any::<Vec<u8>>(), 0..40),
        ) {
            check_of(&names.into_iter().map(String::into_bytes).collect(), &others);
        }

        /// Names that IDL does not permit, which share most of their octets.
        #[test]
        fn a_table_of_names_that_are_alike_finds_each_of_them_and_no_other(
            names in btree_set(proptest::collection::vec(0_u8..3, 1..12), 0..200),
            others in proptest::collection::vec(proptest::collection::vec(0_u8..4, 0..13), 0..200),
        ) {
            check_of(&names, &others);
        }
    }

    #[test]
    fn tables_of_many_names_find_each_of_them_and_no_other() {
        for count in [1, 2, 3, 4, 64, 65, 500, 2_000] {
            let names = (0..count).map(|n| format!("_get_a{n}").into_bytes());
            check_of(&names.collect(), &[]);
        }
    }

    #[test]
    fn the_declared_name_is_what_stands_before_a_layout() {
        for (name, declared) in [
            (&b"turn/0123456789abcdef"[..], &b"turn"[..]),
            (b"_get_x/0123456789abcdef", b"_get_x"),
            (b"turn", b"turn"),
            (b"", b""),
            (b"turn/0123456789abcdeg", b"turn/0123456789abcdeg"),
            (b"turn/0123456789abcde", b"turn/0123456789abcde"),
            (b"turn_0123456789abcdef", b"turn_0123456789abcdef"),
        ] {
            assert_eq!(declared_name(name), declared);
        }
    }

    #[test]
    fn an_interface_without_operations_has_a_table_too() {
        assert_eq!(Operations::NONE.find(b""), None);
        assert_eq!(Operations::NONE.find(b"a"), None);
    }

    /// The arguments of each call of `Operations::new` in generated code.
    fn tables_in(code: TokenStream, found: &mut Vec<Vec<String>>) {
        let mut before = String::new();
        for tree in code {
            if let TokenTree::Group(group) = &tree {
                if before.ends_with("Operations::new") {
                    let mut arguments = Vec::new();
                    literals(group.stream(), &mut arguments);
                    found.push(arguments);
                }
                tables_in(group.stream(), found);
                before.clear();
            } else {
                before.push_str(&tree.to_string());
            }
        }
    }

    /// The literals in `code`, those within brackets too.
    fn literals(code: TokenStream, found: &mut Vec<String>) {
        for tree in code {
            match tree {
                TokenTree::Group(group) => literals(group.stream(), found),
                TokenTree::Literal(literal) => found.push(literal.to_string()),
                _ => {}
            }
        }
    }

    /// The table that is written as these literals, and the number of each of its names.
    fn generated(arguments: &[String]) -> (Operations, BTreeMap<Vec<u8>, u32>) {
        let number = |text: &String| text.parse().expect("a number");
        let (key, rest) = arguments.split_first().expect("a key");
        let mut displacements = Vec::new();
        let mut slots: Vec<(&'static [u8], u32)> = Vec::new();
        for pair in rest.chunks(2) {
            match pair[0].strip_prefix("b\"") {
                Some(name) => {
                    let name = name.trim_end_matches('"').to_owned();
                    slots.push((name.leak().as_bytes(), number(&pair[1])));
                }
                None => displacements.push((number(&pair[0]), number(&pair[1]))),
            }
        }
        let numbers = slots.iter().map(|(name, of)| (name.to_vec(), *of));
        let numbers: BTreeMap<_, _> = numbers.collect();
        assert_eq!(numbers.len(), slots.len(), "a name occurs twice");
        let key = key.parse().expect("a key");
        (
            Operations::new(key, displacements.leak(), slots.leak()),
            numbers,
        )
    }

    /// Reads the expansions that the compiler is tested with, and compiles the IDL of the benches.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads a source")]
    fn every_generated_table_finds_each_of_its_names_and_no_other() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut arguments = Vec::new();
        for entry in fs::read_dir(here.join("../idl/tests/golden")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "rs") {
                let code = fs::read_to_string(path).unwrap();
                tables_in(code.parse().unwrap(), &mut arguments);
            }
        }
        let expansions = arguments.len();
        let benches = here.join("../../benches/bench.idl");
        let compiled = compile_files(&[benches], &Options::default()).unwrap();
        tables_in(compiled.tokens, &mut arguments);
        assert!(0 < expansions && expansions < arguments.len());
        let tables: Vec<_> = arguments.iter().map(|table| generated(table)).collect();
        let all = tables.iter().flat_map(|(_, numbers)| numbers.keys());
        let all: Vec<Vec<u8>> = all.cloned().collect();
        for (table, numbers) in &tables {
            let mut sorted: Vec<u32> = numbers.values().copied().collect();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..numbers.len() as u32));
            check(table, numbers, &all);
        }
    }
}
