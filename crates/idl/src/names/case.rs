//! Names in snake case and camel case, by words.
//!
//! A name is a row of words: underscores end one, as do a capital behind a small letter, and the last capital of several
//! before a small letter (`XMLFile` is `XML`, `File`). Acronyms keep what belongs to them: a plural `s` (`IDs`), and a
//! version (`SNMPv3`, `IPv6`).

use std::borrow::Cow;

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};

/// `idl` in snake case.
pub(super) fn snake(idl: &str) -> String {
    plain(idl).to_snake_case()
}

/// `idl` in snake case, with capitals.
pub(super) fn shouty(idl: &str) -> String {
    plain(idl).to_shouty_snake_case()
}

/// `idl` in upper camel case.
pub(super) fn camel(idl: &str) -> String {
    plain(idl).to_upper_camel_case()
}

/// `idl` with every acronym that has a tail as a plain word: `GetIDs` as `GetIds`.
fn plain(idl: &str) -> Cow<'_, str> {
    let octets = idl.as_bytes();
    let mut plain = Cow::Borrowed(idl);
    let mut run = 0;
    for (at, octet) in octets.iter().enumerate() {
        if octet.is_ascii_uppercase() {
            run += 1;
            continue;
        }
        let next = octets.get(at + 1);
        let tail = match octet {
            b's' => !next.is_some_and(u8::is_ascii_lowercase),
            b'v' => next.is_some_and(u8::is_ascii_digit),
            _ => false,
        };
        // All but the first capital of the acronym.
        if run >= 2
            && tail
            && let Some(acronym) = plain.to_mut().get_mut(at + 1 - run..at)
        {
            acronym.make_ascii_lowercase();
        }
        run = 0;
    }
    plain
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn acronyms_keep_their_plural_and_their_version() {
        for (idl, expected) in [
            ("GetIDs", "get_ids"),
            ("streamIDs", "stream_ids"),
            ("activeSRIs", "active_sris"),
            ("getUIDs", "get_uids"),
            ("IDsOfNodes", "ids_of_nodes"),
            ("list_URLs", "list_urls"),
            ("IDs", "ids"),
            ("IDs2", "ids2"),
            ("IDs_2", "ids_2"),
            ("XMLIDs", "xmlids"),
            ("H264IDs", "h264_ids"),
            ("SNMPv3User", "snmpv3_user"),
            ("getIPv6Address", "get_ipv6_address"),
            // No acronyms.
            ("ConnectAs", "connect_as"),
            ("isOn", "is_on"),
            ("IDset", "i_dset"),
            ("XMLFile", "xml_file"),
            ("IDvalue", "i_dvalue"),
            ("MyVs1", "my_vs1"),
            ("sendOctetSeq_2way", "send_octet_seq_2way"),
        ] {
            assert_eq!(snake(idl), expected, "{idl}");
            assert_eq!(shouty(idl), expected.to_uppercase(), "{idl}");
            assert_eq!(
                snake(&camel(idl)).replace('_', ""),
                expected.replace('_', "")
            );
        }
        assert_eq!(camel("node_IDs"), "NodeIds");
        assert_eq!(camel("TLSv1_2"), "Tlsv12");
    }

    /// Identifiers of IDL, most of them with acronyms.
    pub(in crate::names) fn identifier() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[A-Z]{1,4}s",
            "[A-Z]{1,4}v[0-9]?",
            "[A-Z][a-z]{0,3}",
            "[a-z]{1,3}",
            "[A-Z]{1,3}",
            "[0-9]",
            "_"
        ];
        let name = prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat());
        name.prop_filter("a letter in front", |name| {
            name.starts_with(|c: char| c.is_ascii_alphabetic())
        })
    }

    fn folded(name: &str) -> String {
        name.replace('_', "").to_ascii_lowercase()
    }

    proptest! {
        /// So names that differ in more than case and underscores, as all of a scope but those with underscores do, stay apart;
        /// the others are compared when they are given.
        #[test]
        fn no_case_changes_more_than_case_and_underscores(idl in identifier()) {
            for made in [snake(&idl), shouty(&idl), camel(&idl)] {
                prop_assert_eq!(folded(&made), folded(&idl), "{}", made);
            }
            prop_assert_eq!(snake(&snake(&idl)), snake(&idl));
            prop_assert_eq!(shouty(&idl), snake(&idl).to_ascii_uppercase());
        }
    }
}
