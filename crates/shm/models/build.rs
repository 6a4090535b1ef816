//! Compiles the source of zorb-shm for loom.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(zorb_model)");
    println!("cargo::rustc-cfg=zorb_model");
}
