//! libFuzzer's door to [`zorb_fuzz::reference`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::reference::run(data));
