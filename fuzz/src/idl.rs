//! Any text as IDL: the compiler says yes or says why not, and what it makes is Rust.

use zorb_idl::limits::MAX_DIAGNOSTICS;
use zorb_idl::{Options, check_str, compile_str, format};

/// Takes the octets for IDL.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let options = Options::default();
    let checked = check_str("fuzz.idl", &text, &options);
    match compile_str("fuzz.idl", &text, &options) {
        Ok(output) => {
            assert!(checked.is_ok(), "what compiles is in order");
            let written = output.tokens.to_string();
            let again = compile_str("fuzz.idl", &text, &options).expect("twice alike");
            assert_eq!(written, again.tokens.to_string(), "twice alike");
            // One line of tokens comes back when they are not a Rust file.
            let file = format(output.tokens);
            assert!(
                written.is_empty() || file != written,
                "this is no Rust:\n{file}"
            );
        }
        Err(diagnostics) => {
            // Of some of what is in order, no code can be made.
            assert!(diagnostics.iter().next().is_some(), "a reason is given");
            assert!(diagnostics.iter().count() <= MAX_DIAGNOSTICS + 1);
            assert!(diagnostics.to_string().starts_with("error: "));
        }
    }
}
