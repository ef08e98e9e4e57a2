//! How a command fails: a code for programs, a message for people, an exit code for shells.

use serde::Serialize;

/// A command that was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Failure {
    /// For programs; stable.
    pub(crate) code: &'static str,
    /// For people: what happened and what to do.
    pub(crate) message: String,
    #[serde(skip)]
    malformed: bool,
}

impl Failure {
    /// Refused, or failed underneath: exit code 1.
    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            malformed: false,
        }
    }

    /// What was asked makes no sense: exit code 2.
    pub(crate) fn malformed(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            malformed: true,
        }
    }

    /// The process's exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        if self.malformed { 2 } else { 1 }
    }
}

impl From<lore_replica::OpenError> for Failure {
    fn from(error: lore_replica::OpenError) -> Self {
        Self::refused("codex", error.to_string())
    }
}

impl From<lore_sample::SampleError> for Failure {
    fn from(error: lore_sample::SampleError) -> Self {
        Self::refused("sample", error.to_string())
    }
}

impl From<lore_replica::StoreError> for Failure {
    fn from(error: lore_replica::StoreError) -> Self {
        Self::refused("store", error.to_string())
    }
}

impl From<lore_replica::WriteError> for Failure {
    fn from(error: lore_replica::WriteError) -> Self {
        use lore_replica::WriteError;
        let message = error.to_string();
        match error {
            WriteError::Invalid(_) => Self::malformed("invalid", message),
            WriteError::NoEntry(_) => Self::refused("no-entry", message),
            WriteError::Forbidden { .. } => Self::refused("forbidden", message),
            WriteError::TooLarge => Self::malformed("too-large", message),
            _ => Self::refused("store", message),
        }
    }
}

impl From<lore_replica::TableError> for Failure {
    fn from(error: lore_replica::TableError) -> Self {
        use lore_replica::TableError;
        let message = error.to_string();
        match error {
            TableError::BadLink(_) => Self::malformed("bad-link", message),
            TableError::KeeperOnly => Self::refused("keeper-only", message),
            TableError::Solo => Self::refused("solo", message),
            _ => Self::refused("table", message),
        }
    }
}
