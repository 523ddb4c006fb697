//! What `install.sh` installs, and programs that are built against it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::elf;
use tempfile::TempDir;

use crate::compiler::{SONAME, data, library, package, sources, succeed};

fn version_of_interface() -> String {
    let manifest = fs::read_to_string(package("Cargo.toml")).unwrap();
    let (_, section) = manifest.split_once("[package.metadata.capi.library]").unwrap();
    section.split_once("version = \"").unwrap().1.split('"').next().unwrap().to_owned()
}

/// Installs what cargo built beside the tests.
fn install(prefix: &Path) {
    let mut command = Command::new(package("install.sh"));
    command.arg("--prefix").arg(prefix).arg("--from").arg(library().parent().unwrap());
    succeed(&mut command);
}

/// An installation that was moved after it was made.
fn moved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    install(&folder.path().join("first"));
    let prefix = folder.path().join("a place");
    fs::rename(folder.path().join("first"), &prefix).unwrap();
    (folder, prefix)
}

fn files(prefix: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![prefix.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(prefix).unwrap().display().to_string());
            }
        }
    }
    found
}

fn expected_files() -> BTreeSet<String> {
    let real = format!("lib/libgaudi_kv.so.{}", version_of_interface());
    let names = [
        "include/gaudi_kv.h",
        "lib/libgaudi_kv.a",
        "lib/libgaudi_kv.so",
        "lib/libgaudi_kv.so.1",
        &real,
        "lib/pkgconfig/gaudi_kv.pc",
        "share/cmake/gaudi_kv/gaudi_kv-config-version.cmake",
        "share/cmake/gaudi_kv/gaudi_kv-config.cmake",
    ];
    names.into_iter().map(ToOwned::to_owned).collect()
}

fn soname(path: &Path) -> String {
    let file = fs::read(path).unwrap();
    let object = object::read::elf::ElfFile64::<object::Endianness>::parse(file.as_slice()).unwrap();
    let (endian, data) = (object.endian(), object.data());
    let (dynamic, strings) = object.elf_section_table().dynamic(endian, data).unwrap().unwrap();
    let strings = object.elf_section_table().strings(endian, data, strings).unwrap();
    let entry = dynamic.iter().find(|entry| entry.d_tag.get(endian) == elf::DT_SONAME).unwrap();
    let name = strings.get(u32::try_from(entry.d_val.get(endian)).unwrap()).unwrap();
    String::from_utf8(name.to_vec()).unwrap()
}

pub fn layout() {
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    assert_eq!(files(folder.path()), expected_files());
    assert_eq!(soname(&folder.path().join("lib/libgaudi_kv.so")), SONAME);
    // The number of the interface is in three places.
    let header = fs::read_to_string(package("include/gaudi_kv.h")).unwrap();
    let (_, number) = header.split_once("#define GAUDI_KV_ABI_VERSION ").unwrap();
    let number = number.lines().next().unwrap();
    assert_eq!(version_of_interface(), format!("1.{number}.0"));
    assert_eq!(SONAME, "libgaudi_kv.so.1");
    let cmake = fs::read_to_string(package("packaging/gaudi_kv-config-version.cmake")).unwrap();
    assert!(cmake.contains(&format!("set(PACKAGE_VERSION \"{}\")", env!("CARGO_PKG_VERSION"))));
    // For packagers, with folders of their own.
    let staging = tempfile::tempdir().unwrap();
    let mut command = Command::new(package("install.sh"));
    command.args(["--prefix", "/usr", "--libdir", "/usr/lib/x", "--includedir", "/opt/include", "--destdir"]);
    command.arg(staging.path()).arg("--from").arg(library().parent().unwrap());
    succeed(&mut command);
    let pc = fs::read_to_string(staging.path().join("usr/lib/x/pkgconfig/gaudi_kv.pc")).unwrap();
    for line in ["prefix=${pcfiledir}/../../..", "libdir=${prefix}/lib/x", "includedir=/opt/include"] {
        assert!(pc.lines().any(|found| found == line), "{line} is not in\n{pc}");
    }
    assert!(staging.path().join("opt/include/gaudi_kv.h").is_file());
    // With signs that mean something to sed.
    let mut command = Command::new(package("install.sh"));
    command.args(["--prefix", "/usr", "--includedir", r"/opt/a|b&c\d", "--destdir"]);
    command.arg(staging.path()).arg("--from").arg(library().parent().unwrap());
    succeed(&mut command);
    let pc = fs::read_to_string(staging.path().join("usr/lib/pkgconfig/gaudi_kv.pc")).unwrap();
    assert!(pc.lines().any(|found| found == r"includedir=/opt/a|b&c\d"), "{pc}");
}

/// What `pkg-config` says of an installation.
fn flags(prefix: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(arguments).arg("gaudi_kv");
    String::from_utf8(succeed(&mut command).stdout).unwrap().trim().to_owned()
}

fn run_old_caller(program: &Path, library_path: Option<&Path>) {
    let mut command = Command::new(program);
    command.arg(data("data/llmc-gqa-kv"));
    if let Some(path) = library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    assert_eq!(succeed(&mut command).stdout, b"fine\n");
}

pub fn pkg_config() {
    let (folder, prefix) = moved();
    assert_eq!(flags(&prefix, &["--modversion"]), env!("CARGO_PKG_VERSION"));
    for (is_static, name) in [(false, "shared"), (true, "static")] {
        let program = folder.path().join(name);
        let libs = if is_static { "--cflags --libs --static" } else { "--cflags --libs" };
        // The words as the shell takes them: the path has a space in it.
        let words = flags(&prefix, &libs.split(' ').collect::<Vec<_>>());
        let words = if is_static { words.replace("-lgaudi_kv", "-l:libgaudi_kv.a") } else { words };
        let source = sources("rerange.c")[0].display().to_string();
        let command = format!("cc -std=c11 -Wall -Werror {source} {words} -lm -o '{}'", program.display());
        succeed(Command::new("sh").args(["-c", &command]));
        let mut run = Command::new(&program);
        if !is_static {
            run.env("LD_LIBRARY_PATH", prefix.join("lib"));
        }
        assert_eq!(succeed(&mut run).stdout, b"fine\n", "{name}");
    }
}

pub fn cmake() {
    let (folder, prefix) = moved();
    build_by_cmake(folder.path(), &prefix);
    // In folders of their own.
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("a&b");
    let mut command = Command::new(package("install.sh"));
    command.arg("--prefix").arg(&prefix).arg("--from").arg(library().parent().unwrap());
    command.arg("--libdir").arg(folder.path().join("elsewhere")).arg("--includedir").arg(prefix.join("h&h"));
    succeed(&mut command);
    build_by_cmake(folder.path(), &prefix);
}

fn build_by_cmake(folder: &Path, prefix: &Path) {
    let project = folder.join("project");
    fs::create_dir(&project).unwrap();
    let lists = "cmake_minimum_required(VERSION 3.21)\n\
        project(example C)\n\
        find_package(gaudi_kv 0.1 CONFIG REQUIRED)\n\
        find_package(gaudi_kv 99 CONFIG QUIET)\n\
        if(gaudi_kv_FOUND)\n    message(FATAL_ERROR \"version 99 was found\")\nendif()\n\
        add_executable(shared old_caller.c)\n\
        target_link_libraries(shared gaudi_kv::gaudi_kv)\n\
        add_executable(static rerange.c)\n\
        target_link_libraries(static gaudi_kv::static)\n";
    fs::write(project.join("CMakeLists.txt"), lists).unwrap();
    for name in ["old_caller.c", "rerange.c"] {
        fs::copy(package("tests/c").join(name), project.join(name)).unwrap();
    }
    let build = project.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&project).arg("-B").arg(&build);
    succeed(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    run_old_caller(&build.join("shared"), None);
    assert_eq!(succeed(&mut Command::new(build.join("static"))).stdout, b"fine\n");
}

pub fn cargo_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(package(".")).args(["cinstall", "--release", "--prefix"]).arg(folder.path());
    succeed(command.arg("--libdir").arg(folder.path().join("lib")));
    assert_eq!(files(folder.path()), expected_files());
    assert_eq!(soname(&folder.path().join("lib/libgaudi_kv.so")), SONAME);
    let program = folder.path().join("program");
    let words = flags(folder.path(), &["--cflags", "--libs"]);
    let source = sources("old_caller.c")[0].display().to_string();
    let command = format!("cc -std=c11 {source} {words} -o '{}'", program.display());
    succeed(Command::new("sh").args(["-c", &command]));
    run_old_caller(&program, Some(&folder.path().join("lib")));
}
