//! Parts with heavy dependencies, each in a build of this program of its own.

#[cfg(feature = "pack")]
mod pack;
#[cfg(feature = "web")]
mod web;

use std::path::PathBuf;

use anyhow::Result;

/// One part; the tasks of the ordinary build call these.
#[derive(Debug, clap::Subcommand)]
pub enum Part {
    #[cfg(feature = "web")]
    /// Write the JavaScript and TypeScript bindings of a wasm module.
    Glue {
        /// The module as the compiler wrote it.
        #[arg(long)]
        wasm: PathBuf,
        /// The name of the files written.
        #[arg(long)]
        name: String,
        /// The folder to write to.
        #[arg(long)]
        out: PathBuf,
        /// Keep the names of functions, for profiles and stack traces.
        #[arg(long)]
        names: bool,
    },
    #[cfg(feature = "pack")]
    /// Pack the model's published files into one flat file of weights and vocabulary.
    Pack {
        /// The published weights.
        #[arg(long)]
        safetensors: PathBuf,
        /// The published vocabulary.
        #[arg(long)]
        vocab: PathBuf,
        /// The file to write.
        #[arg(long)]
        out: PathBuf,
    },
    #[cfg(feature = "web")]
    /// Write `.br` and `.gz` beside every file that gets smaller by it.
    Compress {
        /// The folder, with all that is below it.
        folder: PathBuf,
    },
}

/// Runs one part.
pub fn run(part: &Part) -> Result<()> {
    match part {
        #[cfg(feature = "web")]
        Part::Glue {
            wasm,
            name,
            out,
            names,
        } => web::glue(wasm, name, out, *names),
        #[cfg(feature = "pack")]
        Part::Pack {
            safetensors,
            vocab,
            out,
        } => pack::pack(safetensors, vocab, out),
        #[cfg(feature = "web")]
        Part::Compress { folder } => web::compress_folder(folder),
    }
}
