//! libFuzzer's door to [`zorb_fuzz::any`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::any::run(data));
