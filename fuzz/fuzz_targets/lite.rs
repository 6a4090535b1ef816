//! libFuzzer's door to [`zorb_fuzz::lite`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::lite::run(data));
