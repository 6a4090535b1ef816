//! What rustc shows when the IDL in a macro is wrong. `TRYBUILD=overwrite cargo test -p zorb-idl-macros --test ui` writes
//! the expected output anew; read the difference.

#[test]
fn faults_in_idl_are_shown_where_they_are() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
