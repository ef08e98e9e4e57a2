//! Entries as Automerge documents: revise, merge, contested, history.
