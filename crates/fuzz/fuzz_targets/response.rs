//! Responses on the wire, cut into pieces. What must hold is written down in `loadgen::fuzzing::response`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loadgen::fuzzing::response(data));
