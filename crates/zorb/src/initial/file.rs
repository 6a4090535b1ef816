//! Files that hold a reference (`file:///path`).

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest file that is read as a reference.
const MAX_FILE_OCTETS: u64 = 1 << 20;

/// Reads the text of a file: a regular one, of a known size that is within the limit.
///
/// The path may come from outside. So the file is opened without blocking (a FIFO, a device or a terminal would wait
/// there). Its type is checked once it is open, when no other file can take its place. Files of procfs are regular by
/// type, but have the size 0 and may block in `read` for ever, so an empty file is not read.
///
/// # Errors
/// Returns the errors of the operating system, and `InvalidInput` or `InvalidData` for a file that is refused. No error
/// shows contents of the file.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        let why = "expected a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size == 0 {
        let why = "expected a reference, found an empty file";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    if size > MAX_FILE_OCTETS {
        return Err(too_long());
    }
    let mut octets = Vec::new();
    // The file may have grown since its length was read.
    let read = File::from(file)
        .take(MAX_FILE_OCTETS + 1)
        .read_to_end(&mut octets)?;
    if u64::try_from(read).map_or(true, |read| read > MAX_FILE_OCTETS) {
        return Err(too_long());
    }
    String::from_utf8(octets).map_err(|_| not_a_reference("expected text in UTF-8"))
}

fn too_long() -> io::Error {
    let why = format!("expected a reference, found more than {MAX_FILE_OCTETS} octets");
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The error for a file that holds no object URL. `why` must not contain any part of the text.
pub(super) fn not_a_reference(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
