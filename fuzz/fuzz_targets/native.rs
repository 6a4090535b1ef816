//! libFuzzer's door to [`zorb_fuzz::native`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::native::run(data));
