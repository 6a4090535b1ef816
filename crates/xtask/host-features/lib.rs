//! Unifies the features of dependencies of procedural macros and build scripts, so that they are compiled once: see the
//! manifest.

#![no_std]
