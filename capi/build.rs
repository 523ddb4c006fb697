//! The name by which programs look for the shared library when they are run, and a build for the thread sanitizer.

const SANITIZER: &str = "GAUDI_KV_THREAD_SANITIZER";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={SANITIZER}");
    println!("cargo:rustc-check-cfg=cfg(gaudi_kv_thread_sanitizer)");
    if std::env::var_os(SANITIZER).is_some() {
        println!("cargo:rustc-cfg=gaudi_kv_thread_sanitizer");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgaudi_kv.so.1");
    }
}
