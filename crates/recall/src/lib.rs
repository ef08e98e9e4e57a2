//! Recall: how a question finds the right span of lore, by words and by meaning.
//!
//! The crate is pure: text, vectors and filters come in as arguments; no clock, no randomness,
//! no files, no threads. It compiles for `wasm32-unknown-unknown`.
//!
//! * [`spans`] cuts a Markdown body into addressed pieces.
//! * [`RecallIndex`] holds them: an incremental fielded BM25 index beside an exact `int8`
//!   vector store.
//! * [`RecallIndex::search`] fuses both lists and explains each [`Hit`].
//!
//! There is no relevance cutoff, and an empty answer never means that the codex holds nothing:
//! it means that no indexed word matched and no vector could be compared. The formulas and the
//! source of every constant are in `docs/recall.md`.

mod fusion;
mod index;
mod kernel;
mod lexical;
mod matched;
mod ordinary;
mod relevance;
mod spans;
mod tokenise;
mod vector;

pub use fusion::POOL_DEPTH;
pub use index::{
    Document, Hit, MAX_RESULTS, MAX_WORDINGS, Query, RecallIndex, SpanKey, Why, embed_text,
};
pub use kernel::{Kernel, dot as dot_i8};
pub use matched::{MAX_MATCHED, MatchedRange};
pub use relevance::{Standing, relevance_percent};
pub use spans::{MAX_SPAN_CHARS, MAX_SPAN_LINES, Span, spans};
pub use tokenise::{MAX_QUERY_WORDS, MAX_WORD_CHARS, content_words, fold, stem, words};
pub use vector::{DIMENSIONS, QuantizedVector, VECTOR_BYTES, VectorError};
