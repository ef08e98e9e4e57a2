//! Knowing that something is done without doing it again: stamps and content hashes.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::paths;

/// A small file below `target/stamps` that holds the hash of the inputs of a finished step.
#[derive(Debug)]
pub struct Stamp(PathBuf);

impl Stamp {
    /// The stamp called `name`; nothing is read yet.
    pub fn new(name: &str) -> Self {
        Self(paths::target().join("stamps").join(name))
    }

    /// Whether the step finished with exactly these inputs.
    pub fn holds(&self, inputs: &str) -> bool {
        fs::read_to_string(&self.0).is_ok_and(|kept| kept == inputs)
    }

    /// Notes that the step finished with these inputs.
    pub fn set(&self, inputs: &str) -> Result<()> {
        let folder = self.0.parent().context("a stamp has a folder")?;
        fs::create_dir_all(folder)?;
        fs::write(&self.0, inputs).with_context(|| format!("cannot write {}", self.0.display()))
    }
}

/// SHA-256 of one file, in hex.
pub fn hash_file(path: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    feed(&mut hasher, path)?;
    Ok(HEXLOWER.encode(&hasher.finalize()))
}

/// SHA-256 over the names and contents of all files in `paths`, folders included with all that is
/// below them. A path that does not exist counts as empty. Folders called `node_modules` are left
/// out. The result does not depend on the order in which the file system lists things.
pub fn hash_tree(paths: &[PathBuf]) -> Result<String> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in &files {
        let name = file.to_string_lossy();
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(fs::metadata(file)?.len().to_le_bytes());
        feed(&mut hasher, file)?;
    }
    Ok(HEXLOWER.encode(&hasher.finalize()))
}

fn feed(hasher: &mut Sha256, path: &Path) -> Result<()> {
    let mut file =
        fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        if path.file_name().is_some_and(|name| name == "node_modules") {
            return Ok(());
        }
        for entry in
            fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?
        {
            collect(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}
