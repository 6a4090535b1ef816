//! Why a store is not opened.

use std::io;
use std::path::PathBuf;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has the folder.
    #[error("{} is in use by {holder}", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The process that has it, as far as it has said.
        holder: String,
    },
    /// The store is of another version of this program.
    #[error("{} is a store of version {found}, this program has version {expected}", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// The version of the store.
        found: u32,
        /// The version of this program's.
        expected: u32,
    },
    /// The file is no store of this program, or is damaged.
    #[error("{} cannot be used as a store", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What redb says.
        source: redb::Error,
    },
    /// The URL of a store is malformed.
    #[error("expected {expected}, found {url:?}")]
    Url {
        /// The URL.
        url: String,
        /// Its form.
        expected: &'static str,
    },
    /// The bucket that a URL names is not one that a store can be kept in.
    #[error("{url} cannot be used as a store: {why}")]
    Bucket {
        /// The URL.
        url: String,
        /// What it lacks.
        why: &'static str,
    },
    /// The engine does not let the program in.
    #[cfg(feature = "engines")]
    #[error("the store cannot be used")]
    Access(#[from] crate::access::AccessError),
    /// A file or folder cannot be made or opened.
    #[error("cannot open {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}
