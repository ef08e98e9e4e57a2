//! Spans, lexical index, vectors, fusion.
