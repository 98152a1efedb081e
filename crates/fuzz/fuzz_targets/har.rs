//! HAR files. What must hold is written down in `recording::fuzzing::har`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recording::fuzzing::har(data));
