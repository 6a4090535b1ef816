//! The keywords of IDL.

use unicase::Ascii;

/// The keywords of CORBA 2.0, to which no name may be equal, ignoring case. Later keywords (`component`, `port`, `map`, …)
/// are not reserved, as too many files use them as names.
static KEYWORDS: phf::Set<Ascii<&'static str>> = phf::phf_set! {
    Ascii::new("any"),
    Ascii::new("attribute"),
    Ascii::new("boolean"),
    Ascii::new("case"),
    Ascii::new("char"),
    Ascii::new("const"),
    Ascii::new("context"),
    Ascii::new("default"),
    Ascii::new("double"),
    Ascii::new("enum"),
    Ascii::new("exception"),
    Ascii::new("FALSE"),
    Ascii::new("float"),
    Ascii::new("in"),
    Ascii::new("inout"),
    Ascii::new("interface"),
    Ascii::new("long"),
    Ascii::new("module"),
    Ascii::new("Object"),
    Ascii::new("octet"),
    Ascii::new("oneway"),
    Ascii::new("out"),
    Ascii::new("raises"),
    Ascii::new("readonly"),
    Ascii::new("sequence"),
    Ascii::new("short"),
    Ascii::new("string"),
    Ascii::new("struct"),
    Ascii::new("switch"),
    Ascii::new("TRUE"),
    Ascii::new("typedef"),
    Ascii::new("union"),
    Ascii::new("unsigned"),
    Ascii::new("void"),
};

/// The keywords that CORBA 2.1 to 2.4 added. Older services of the OMG have names such as `Factory` and `ValueType`, so
/// these keywords are reserved in their exact case only.
static EXACT_KEYWORDS: phf::Set<&'static str> = phf::phf_set! {
    "abstract",
    "custom",
    "factory",
    "fixed",
    "local",
    "native",
    "private",
    "public",
    "supports",
    "truncatable",
    "ValueBase",
    "valuetype",
    "wchar",
    "wstring",
};

pub(super) fn is_keyword(word: &str) -> bool {
    keyword_meant(word).is_some() || EXACT_KEYWORDS.contains(word)
}

/// The keyword that `word` equals, ignoring case.
pub(crate) fn keyword_meant(word: &str) -> Option<&'static str> {
    KEYWORDS.get_key(&Ascii::new(word)).map(|keyword| **keyword)
}

/// Whether a type may begin with this keyword.
pub(super) fn begins_type(word: &str) -> bool {
    [
        "any", "boolean", "char", "double", "fixed", "float", "long", "map", "octet", "sequence",
        "short", "string", "unsigned", "wchar", "wstring",
    ]
    .contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_is_found_whatever_its_case_unless_it_is_of_a_later_version() {
        assert_eq!((KEYWORDS.len(), EXACT_KEYWORDS.len()), (34, 14));
        for keyword in KEYWORDS.iter().map(|keyword| **keyword) {
            let cases = [keyword.to_ascii_uppercase(), keyword.to_ascii_lowercase()];
            for word in cases.iter().map(String::as_str).chain([keyword]) {
                assert_eq!(keyword_meant(word), Some(keyword));
                assert!(is_keyword(word));
            }
        }
        for keyword in EXACT_KEYWORDS.iter() {
            assert!(is_keyword(keyword) && !is_keyword(&keyword.to_ascii_uppercase()));
            assert_eq!(keyword_meant(keyword), None);
        }
        for word in ["", "an", "anyy", "component", "\u{17f}hort", "Factory"] {
            assert!(!is_keyword(word), "{word}");
        }
    }
}
