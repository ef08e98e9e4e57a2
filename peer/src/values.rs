//! Values of the command line, checked before anything is done.

use std::{fs, io::Read as _, path::Path};

use lore_codex::{EntryId, Kind, Revision};
use lore_seal::Audience;

use crate::failure::Failure;

/// A text from a file or standard input is read this far; the codex's own limit is lower.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

pub(crate) fn entry_id(text: &str) -> Result<EntryId, Failure> {
    text.parse().map_err(|_| {
        Failure::malformed(
            "invalid",
            format!("{text:?} is not an entry's id; `lore list` and `lore recall` print ids"),
        )
    })
}

pub(crate) fn revision(text: &str) -> Result<Revision, Failure> {
    text.parse().map_err(|_| {
        Failure::malformed(
            "invalid",
            format!("{text:?} is not a revision; `lore show <entry>` prints it"),
        )
    })
}

pub(crate) fn kind(text: &str) -> Result<Kind, Failure> {
    text.parse()
        .map_err(|error: lore_codex::FieldError| Failure::malformed("invalid", error.to_string()))
}

pub(crate) fn audience(text: &str) -> Result<Audience, Failure> {
    match text {
        "table" => Ok(Audience::Table),
        "keeper" => Ok(Audience::Keeper),
        _ => Err(Failure::malformed(
            "invalid",
            "--audience is table or keeper",
        )),
    }
}

/// A text given on the command line, in a file or on standard input.
pub(crate) fn text(given: Option<String>, file: Option<&Path>) -> Result<Option<String>, Failure> {
    let Some(path) = file else {
        return Ok(given);
    };
    let fail = |error: std::io::Error| {
        Failure::malformed("invalid", format!("{}: {error}", path.display()))
    };
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin()
            .take(MAX_INPUT)
            .read_to_string(&mut text)
            .map_err(fail)?;
    } else {
        fs::File::open(path)
            .and_then(|file| file.take(MAX_INPUT).read_to_string(&mut text))
            .map_err(fail)?;
    }
    Ok(Some(text))
}
