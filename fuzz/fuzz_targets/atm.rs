//! libFuzzer's door to [`zorb_fuzz::atm`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::atm::run(data));
