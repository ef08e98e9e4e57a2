//! One SQLite file, one writer: documents, view, log, vectors, conditional writes.
