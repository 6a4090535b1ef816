//! IDL in a string: the fault is drawn in the message, as rustc cannot point into a string.

zorb_idl_macros::idl_tokens! { [::zorb] r#"
    module Shop {
        const wchar W = L'xy';  // don't
        struct S { Missing m; };
    };
"# }

zorb_idl_macros::idl_tokens! { module WithoutPath {}; }

fn main() {}
