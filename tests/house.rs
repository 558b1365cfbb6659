//! The order of the modules: each may use only those before it.

use std::path::{Path, PathBuf};

const ORDER: [&str; 11] =
    ["random", "model", "policy", "engine", "measure", "stats", "theory", "scenario", "output", "experiment", "cli"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the sources can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The modules that a source names after `crate::`, outside of comments.
fn used(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| {
        line.match_indices("crate::").map(|(at, prefix)| {
            let rest = &line[at + prefix.len()..];
            &rest[..rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())]
        })
    })
}

#[test]
fn modules_use_only_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |module: &str| ORDER.iter().position(|known| *known == module);
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut uses = 0;
    for file in files {
        let relative = file.strip_prefix(&root).expect("below the root");
        let top = relative.iter().next().expect("a name").to_string_lossy();
        let Some(own) = place(top.trim_end_matches(".rs")) else {
            assert!(matches!(&*top, "lib.rs" | "main.rs"), "{} has no place in the house", relative.display());
            continue;
        };
        let text = std::fs::read_to_string(&file).expect("a source is text");
        for module in used(&text) {
            let other = place(module);
            assert!(other.is_some_and(|other| other <= own), "{} uses {module}", relative.display());
            uses += 1;
        }
    }
    assert!(uses > 50, "only {uses} uses were seen: does this test still read the sources?");
}
