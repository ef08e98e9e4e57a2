//! all-MiniLM-L6-v2 as one deterministic kernel.
