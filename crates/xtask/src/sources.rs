//! Whether what was built was built from these sources: by what is in them.
//!
//! Times tell nothing where folders are copied: what was built from other sources looks new there, and sources that were
//! just checked out newer than what was built from them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files that something is built from, and what they were when it was built last.
#[derive(Debug)]
pub(crate) struct Sources {
    /// Hashes of what is in them, by their paths below `root`.
    now: BTreeMap<String, u64>,
    root: PathBuf,
    note: PathBuf,
}

impl Sources {
    /// Reads the files at `paths` below `root`, and in the folders there. `built` is the folder of what is built from
    /// them, where a note about them is kept.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(crate) fn read(root: &Path, paths: &[&str], built: &Path) -> Result<Self, String> {
        let mut now = BTreeMap::new();
        for path in paths {
            hash(root, &root.join(path), built, &mut now)?;
        }
        Ok(Self {
            now,
            root: root.to_path_buf(),
            note: built.join("sources.txt"),
        })
    }

    /// Whether these are the sources that were noted last.
    pub(crate) fn are_noted(&self) -> bool {
        self.noted().is_some_and(|noted| noted == self.now)
    }

    /// Gives those that are others than they were a new time, so that `make` sees it; all of them if it is not known
    /// what was built, or one is gone.
    ///
    /// # Errors
    /// The time of one cannot be set.
    pub(crate) fn touch_changed(&self) -> Result<(), String> {
        let noted = self.noted().unwrap_or_default();
        let gone = noted.keys().any(|path| !self.now.contains_key(path));
        for (path, hash) in &self.now {
            if gone || noted.get(path) != Some(hash) {
                let file = self.root.join(path);
                File::options()
                    .append(true)
                    .open(&file)
                    .and_then(|file| file.set_modified(SystemTime::now()))
                    .map_err(|e| format!("cannot touch {}: {e}", file.display()))?;
            }
        }
        Ok(())
    }

    /// Notes that all of these have been built.
    ///
    /// # Errors
    /// The note cannot be written.
    pub(crate) fn note(&self) -> Result<(), String> {
        let lines = self
            .now
            .iter()
            .map(|(path, hash)| format!("{hash:016x} {path}\n"));
        fs::write(&self.note, lines.collect::<String>())
            .map_err(|e| format!("cannot write {}: {e}", self.note.display()))
    }

    /// The noted sources, if they can be read.
    fn noted(&self) -> Option<BTreeMap<String, u64>> {
        let text = fs::read_to_string(&self.note).ok()?;
        let line = |line: &str| {
            let (hash, path) = line.split_once(' ')?;
            Some((path.to_owned(), u64::from_str_radix(hash, 16).ok()?))
        };
        text.lines().map(line).collect()
    }
}

/// Adds the file at `path`, or those in the folder.
fn hash(
    root: &Path,
    path: &Path,
    built: &Path,
    all: &mut BTreeMap<String, u64>,
) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("cannot read {}: {e}", path.display());
    if path == built {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            hash(root, &entry.map_err(failed)?.path(), built, all)?;
        }
        return Ok(());
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&fs::read(path).map_err(failed)?);
    let name = path.strip_prefix(root).unwrap_or(path);
    all.insert(name.to_string_lossy().into_owned(), hasher.finish());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A folder with two sources and something that was built from them.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let place = Self(std::env::temp_dir().join(format!("{name}-{}", std::process::id())));
            let _ = fs::remove_dir_all(&place.0);
            fs::create_dir_all(place.0.join("src/build")).unwrap();
            place.write("src/a.idl", "a");
            place.write("src/b.cc", "b");
            place.write("src/build/b.o", "built");
            place
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.0.join(path), text).unwrap();
        }

        fn sources(&self) -> Sources {
            Sources::read(&self.0, &["src"], &self.0.join("src/build")).unwrap()
        }

        /// Sets all times back, touches what has changed, and says what that was.
        fn touched(&self) -> Vec<&'static str> {
            let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
            let all = ["src/a.idl", "src/b.cc", "src/build/b.o"];
            for path in all {
                let file = File::options().append(true).open(self.0.join(path));
                if let Ok(file) = file {
                    file.set_modified(long_ago).unwrap();
                }
            }
            self.sources().touch_changed().unwrap();
            let is_new = |path: &&str| {
                let meta = fs::metadata(self.0.join(path));
                meta.is_ok_and(|meta| meta.modified().unwrap() > long_ago)
            };
            all.into_iter().filter(is_new).collect()
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_was_built_from_other_sources_is_not_taken_for_new_however_new_it_is() {
        let place = Place::new("zorb-xtask-stale");
        assert!(!place.sources().are_noted());
        assert_eq!(place.touched(), ["src/a.idl", "src/b.cc"]);
        place.sources().note().unwrap();
        assert!(place.sources().are_noted());
        assert!(place.touched().is_empty());
        // Built files are not among the sources.
        place.write("src/build/b.o", "built again");
        assert!(place.sources().are_noted());

        place.write("src/b.cc", "other");
        assert!(!place.sources().are_noted());
        assert_eq!(place.touched(), ["src/b.cc"]);
        place.write("src/b.cc", "b");
        assert!(place.sources().are_noted());
    }

    #[test]
    fn all_is_built_anew_when_a_source_is_gone_or_the_note_says_nothing() {
        let place = Place::new("zorb-xtask-gone");
        place.sources().note().unwrap();
        fs::remove_file(place.0.join("src/b.cc")).unwrap();
        assert_eq!(place.touched(), ["src/a.idl"]);
        place.write("src/b.cc", "b");
        place.write("src/build/sources.txt", "no hash\n");
        assert_eq!(place.touched(), ["src/a.idl", "src/b.cc"]);
    }
}
