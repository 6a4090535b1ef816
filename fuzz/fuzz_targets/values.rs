//! libFuzzer's door to [`zorb_fuzz::values`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::values::run(data));
