//! The named values of a body: fields of pages, strings of JSON and scripts. What must hold is written down in
//! `loadgen::fuzzing::fields`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| loadgen::fuzzing::fields(data));
