//! libFuzzer's door to [`zorb_fuzz::csi`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| zorb_fuzz::csi::run(data));
