//! zorb-fuzz
