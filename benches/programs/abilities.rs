//! The abilities of the bench programs: the option `--can`.

/// The abilities of these programs, by the words in which `--can` prints them: a comparison that needs one of a
/// later version says so, and measures nothing.
const ABILITIES: [&str; 14] = [
    "runtime=default",
    "runtime=main",
    "runtime=current",
    "runtime=dedicated",
    "runtime=blocking",
    "wait=park",
    "wait=adaptive",
    "wait=spin",
    "sync=none",
    "servants",
    "in-flight",
    "octets=bytes",
    "count-allocations",
    "busy-tasks",
];

/// Prints the abilities if `--can` asks for them; whether it did.
pub(crate) fn are_asked_for() -> bool {
    let asked = std::env::args().any(|argument| argument == "--can");
    if asked {
        println!("{}", ABILITIES.join("\n"));
    }
    asked
}
