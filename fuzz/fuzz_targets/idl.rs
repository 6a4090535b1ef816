//! libFuzzer's door to [`zorb_fuzz::idl`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::idl::run(data));
