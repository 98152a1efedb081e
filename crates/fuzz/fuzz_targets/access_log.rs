//! Access logs. What must hold is written down in `recording::fuzzing::access_log`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recording::fuzzing::access_log(data));
