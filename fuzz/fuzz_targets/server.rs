//! libFuzzer's door to [`zorb_fuzz::server`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::server::run(data));
