//! libFuzzer's door to [`zorb_fuzz::giop`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::giop::run(data));
