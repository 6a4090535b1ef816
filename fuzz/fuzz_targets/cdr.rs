//! libFuzzer's door to [`zorb_fuzz::cdr`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::cdr::run(data));
