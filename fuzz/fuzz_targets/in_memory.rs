//! libFuzzer's door to [`zorb_fuzz::in_memory`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::in_memory::run(data));
