//! Hashes of folders decide what is built again.

use std::fs;

use xtask::stamp::hash_tree;

#[test]
fn a_tree_hashes_by_names_and_contents_alone() {
    let folder = std::env::temp_dir().join(format!("lore-xtask-{}", std::process::id()));
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(folder.join("a"), "one").unwrap();
    fs::write(folder.join("inner/b"), "two").unwrap();
    let hash = || hash_tree(std::slice::from_ref(&folder)).unwrap();

    let first = hash();
    fs::write(folder.join("a"), "one").unwrap();
    assert_eq!(
        hash(),
        first,
        "writing the same bytes again changes nothing"
    );
    fs::create_dir_all(folder.join("node_modules")).unwrap();
    fs::write(folder.join("node_modules/c"), "three").unwrap();
    assert_eq!(hash(), first, "installed packages are not inputs");

    fs::write(folder.join("inner/b"), "twe").unwrap();
    let edited = hash();
    assert_ne!(edited, first);
    fs::rename(folder.join("inner/b"), folder.join("inner/d")).unwrap();
    assert_ne!(hash(), edited, "a name is part of the hash");
    fs::remove_dir_all(folder).unwrap();
}
