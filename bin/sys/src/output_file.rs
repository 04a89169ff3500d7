//! An output file that appears either complete or not at all.
//!
//! The output goes to an unnamed file in the target's directory, so nothing of it is left however the process ends. The
//! file is synced, and then gets the target's name. If the file system has no unnamed files, the file has a temporary
//! name in the same directory, and signals that would end the process are blocked. The module does not interpret the
//! output.
//!
//! Errors of `close` are ignored, because `fsync` has already reported them.

use super::errno::{Errno, patiently};
use super::path::Path;
use super::raw::process_id;
use super::signal;
use super::terminal::Stream;
use latency_core::Text;
use rustix::event::poll;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    Access, AtFlags, CWD, FileType, Gid, Mode, OFlags, Uid, access, fchmod, fchown, fstat, fsync, linkat,
    open, openat, readlinkat_raw, renameat, stat, unlinkat,
};
use rustix::io::Errno as SystemErrno;

/// An output file being written.
pub struct OutputFile {
    file: OwnedFd,
    /// The place of the target; `None` if the target is written directly.
    place: Option<FilePlace>,
}

/// Opens an existing file; a FIFO as soon as it has a reader.
fn open_existing(path: &Path, is_fifo: bool) -> Result<OwnedFd, Errno> {
    // The open must not block, because a signal would not end it.
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    loop {
        match patiently(|| open(path.as_c_str(), flags, Mode::empty())) {
            Err(Errno::ENXIO) if is_fifo => {}
            result => return result,
        }
        // Waits for the time only; if polling is forbidden, the loop just tries more often.
        let _ = poll(&mut [], Some(&signal::pause()));
        if signal::gives_up() {
            return Err(Errno::ECANCELED);
        }
    }
}

/// The place at which a file appears when it is complete.
struct FilePlace {
    directory: OwnedFd,
    target: Path,
    /// The temporary name of the file, if it has one; removed when dropped.
    temporary: Option<Path>,
}

/// The reason why a result is not safely in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// The file could not be written, or could not get its name: the target is unchanged.
    NotWritten(Errno),
    /// The file is in its place, but its directory could not be synced.
    NotSynced(Errno),
}

impl From<Errno> for Unfinished {
    fn from(error: Errno) -> Unfinished {
        Unfinished::NotWritten(error)
    }
}

/// Permissions of a new file, before the process's umask.
const NEW: Mode = Mode::from_raw_mode(0o666);

/// Permissions of a file that all users may read.
const PUBLIC: Mode = Mode::from_raw_mode(0o644);

impl OutputFile {
    /// Prepares to write `path`, following symbolic links; returns `None` if that is standard output.
    ///
    /// # Errors
    /// The errors of `open(2)`, including that of a target that exists and may not be written.
    pub fn create(path: &[u8]) -> Result<Option<OutputFile>, Errno> {
        let path = Path::new(path)?;
        let old = match stat(path.as_c_str()) {
            Err(SystemErrno::NOENT) => None,
            Err(error) => return Err(error.into()),
            Ok(target) => {
                let output = fstat(Stream::Output.descriptor());
                if output.is_ok_and(|output| (output.st_dev, output.st_ino) == (target.st_dev, target.st_ino))
                {
                    return Ok(None);
                }
                // Returns EISDIR for a directory, and prevents the replacement of a write-protected file.
                let kind = FileType::from_raw_mode(target.st_mode);
                let file = open_existing(&path, kind == FileType::Fifo)?;
                if kind != FileType::RegularFile {
                    return Ok(Some(OutputFile { file, place: None }));
                }
                Some(target)
            }
        };
        let (file, place) = FilePlace::take(&follow(path)?)?;
        if let Some(old) = old {
            // Owner and mode of another user's file may be refused; the contents matter more.
            let _ = fchown(&file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
            let _ = fchmod(&file, Mode::from_raw_mode(old.st_mode));
        }
        Ok(Some(OutputFile { file, place: Some(place) }))
    }

    /// Makes the file readable for all users, and writable for its owner.
    pub fn let_everybody_read(&self) {
        if self.place.is_some() {
            // The mode of another user's file may be refused; the contents matter more.
            let _ = fchmod(&self.file, PUBLIC);
        }
    }

    /// Returns whether both are the same file, whatever their names are.
    pub fn is_same(&self, other: &OutputFile) -> bool {
        let is_same = |one: &OwnedFd, other: &OwnedFd| match (fstat(one), fstat(other)) {
            (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
            _ => false,
        };
        match (&self.place, &other.place) {
            (Some(one), Some(other)) => {
                one.target.as_bytes() == other.target.as_bytes() && is_same(&one.directory, &other.directory)
            }
            (None, None) => is_same(&self.file, &other.file),
            _ => false,
        }
    }

    /// Returns the descriptor to write to.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Puts the file in the place of its target and syncs it, so that it survives a crash afterwards.
    ///
    /// # Errors
    /// The errors of `fsync(2)`, `link(2)` and `rename(2)`.
    pub fn commit(self) -> Result<(), Unfinished> {
        let Some(mut place) = self.place else { return Ok(()) };
        // The file is synced before it gets its name: otherwise a crash could replace an older result by an empty file.
        sync(&self.file)?;
        if place.temporary.is_none() {
            let unnamed = unnamed(&self.file);
            let link = |directory: &OwnedFd, name: &Path| {
                linkat(CWD, unnamed.as_str(), directory, name.as_c_str(), AtFlags::SYMLINK_FOLLOW)
            };
            match patiently(|| link(&place.directory, &place.target)) {
                Ok(()) => return place.sync(),
                // A link does not replace an existing file.
                Err(Errno::EEXIST) => place.name_for_now(link)?,
                Err(error) => return Err(error.into()),
            }
        }
        let FilePlace { directory, target, temporary } = &place;
        if let Some(temporary) = temporary {
            patiently(|| renameat(directory, temporary.as_c_str(), directory, target.as_c_str()))?;
        }
        place.temporary = None;
        place.sync()
    }
}

impl FilePlace {
    /// Creates a file that will become `target`.
    fn take(target: &Path) -> Result<(OwnedFd, FilePlace), Errno> {
        let (parent, target_name) = target.split();
        if target_name.is_empty() {
            return Err(if parent.is_empty() { Errno::ENOENT } else { Errno::EISDIR });
        }
        let parent = if parent.is_empty() { Path::new(b".")? } else { Path::new(parent)? };
        let directory = |kind: OFlags| {
            let flags = kind | OFlags::DIRECTORY | OFlags::CLOEXEC;
            patiently(|| open(parent.as_c_str(), flags, Mode::empty()))
        };
        // A directory that may be written and not read cannot be synced.
        let directory = directory(OFlags::RDONLY).or_else(|_| directory(OFlags::PATH))?;
        let mut place = FilePlace { directory, target: Path::new(target_name)?, temporary: None };
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        // Whatever the reason of a failure, a named file is tried next, and returns the error.
        if let Ok(file) = patiently(|| openat(&place.directory, ".", flags | OFlags::TMPFILE, NEW)) {
            // Without /proc, the file could not get a name.
            if access(unnamed(&file).as_str(), Access::EXISTS).is_ok() {
                return Ok((file, place));
            }
        }
        let flags = flags | OFlags::CREATE | OFlags::EXCL;
        let file = place.name_for_now(|directory, name| openat(directory, name.as_c_str(), flags, NEW))?;
        Ok((file, place))
    }

    /// Calls `make` with a temporary name to make a file.
    fn name_for_now<T>(
        &mut self,
        mut make: impl FnMut(&OwnedFd, &Path) -> Result<T, SystemErrno>,
    ) -> Result<T, Errno> {
        // If signals cannot be blocked, they end the process as usual, and the name shows which program left the file.
        let _ = signal::hold_back_all();
        // A process of the same number in another container may have left a file behind.
        for attempt in 0..100 {
            let name = temporary_name(self.target.as_bytes(), attempt)?;
            match patiently(|| make(&self.directory, &name)) {
                Err(Errno::EEXIST) => {}
                Err(error) => return Err(error),
                Ok(made) => {
                    self.temporary = Some(name);
                    return Ok(made);
                }
            }
        }
        Err(Errno::EEXIST)
    }

    /// Syncs the directory, so that the name survives a crash.
    fn sync(&self) -> Result<(), Unfinished> {
        match sync(&self.directory) {
            // The directory was opened without read permission.
            Ok(()) | Err(Errno::EBADF) => Ok(()),
            Err(error) => Err(Unfinished::NotSynced(error)),
        }
    }
}

impl Drop for FilePlace {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            // If the file cannot be removed, its name shows which program made it and that it can be deleted.
            let _ = unlinkat(&self.directory, name.as_c_str(), AtFlags::empty());
        }
    }
}

/// Syncs a file or a directory to its disk, if there is one.
fn sync(file: &OwnedFd) -> Result<(), Errno> {
    match patiently(|| fsync(file)) {
        // These are errors of file systems that have nothing to sync.
        Err(Errno::EINVAL | Errno::EROFS | Errno::ENOSYS) => Ok(()),
        result => result,
    }
}

/// Returns the target of `path` through symbolic links, even if there is no file.
fn follow(mut path: Path) -> Result<Path, Errno> {
    // The kernel has the same limit of links.
    for _ in 0..40 {
        let mut buffer = [0; super::path::PATH_MAX];
        let link = match readlinkat_raw(CWD, path.as_c_str(), &mut buffer) {
            Err(SystemErrno::INVAL | SystemErrno::NOENT) => return Ok(path),
            Err(error) => return Err(error.into()),
            Ok(length) => buffer.get(..length).unwrap_or_default(),
        };
        let (parent, _) = path.split();
        path = if link.starts_with(b"/") { Path::new(link)? } else { Path::join(&[parent, link])? };
    }
    Err(Errno::ELOOP)
}

/// Returns a path of an open file that has no name.
fn unnamed(file: &OwnedFd) -> Text<32> {
    let mut path = Text::EMPTY;
    // Every one of these paths fits.
    let _ = write!(path, "/proc/self/fd/{}", file.as_raw_fd());
    path
}

/// Returns the temporary name of a file that will become `target`: `.TARGET.PID.tmp`.
fn temporary_name(target: &[u8], attempt: u32) -> Result<Path, Errno> {
    /// Maximum bytes of the target's name that are kept: the longest name in a directory (`NAME_MAX`), minus room for
    /// the rest, which is at most 23 bytes long.
    const MOST_KEPT: usize = 255 - 32;
    let mut rest = Text::<32>::EMPTY;
    let _ = write!(rest, ".{}", process_id());
    if attempt > 0 {
        let _ = write!(rest, ".{attempt}");
    }
    let kept = target.get(..MOST_KEPT).unwrap_or(target);
    Path::join(&[b".", kept, rest.as_str().as_bytes(), b".tmp"])
}

#[cfg(test)]
mod tests {
    use super::super::out::write_all;
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;
    use std::string::String;
    use std::vec::Vec;
    use std::{format, fs};

    /// An empty directory for one test, removed at the end of the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("latency-bench-{}-{test}", process_id()));
            fs::create_dir(&path).unwrap();
            Scratch(path)
        }

        fn path(&self, name: &str) -> Vec<u8> {
            self.0.join(name).to_str().unwrap().as_bytes().to_vec()
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn text(&self, name: &str) -> String {
            fs::read_to_string(self.0.join(name)).unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn create(path: &[u8], text: &[u8]) -> OutputFile {
        let file = OutputFile::create(path).unwrap().unwrap();
        write_all(file.descriptor(), text).unwrap();
        file
    }

    #[test]
    fn the_file_appears_when_it_is_complete() {
        let scratch = Scratch::new("appears");
        let file = create(&scratch.path("result.json"), b"{}");
        assert_eq!(scratch.names(), [""; 0]);
        file.commit().unwrap();
        assert_eq!(scratch.names(), ["result.json"]);
        assert_eq!(scratch.text("result.json"), "{}");
    }

    #[test]
    fn an_uncommitted_file_leaves_and_changes_nothing() {
        let scratch = Scratch::new("dropped");
        fs::write(scratch.0.join("old"), "old").unwrap();
        drop(create(&scratch.path("old"), b"new"));
        drop(create(&scratch.path("new"), b"new"));
        assert_eq!(scratch.names(), ["old"]);
        assert_eq!(scratch.text("old"), "old");
    }

    #[test]
    fn an_existing_file_keeps_its_mode() {
        let scratch = Scratch::new("mode");
        fs::write(scratch.0.join("old"), "a longer text than the new one").unwrap();
        fs::set_permissions(scratch.0.join("old"), fs::Permissions::from_mode(0o604)).unwrap();
        create(&scratch.path("old"), b"new").commit().unwrap();
        assert_eq!(scratch.text("old"), "new");
        assert_eq!(fs::metadata(scratch.0.join("old")).unwrap().permissions().mode() & 0o777, 0o604);
    }

    #[test]
    fn symbolic_links_are_followed_and_kept() {
        let scratch = Scratch::new("links");
        fs::create_dir(scratch.0.join("deep")).unwrap();
        symlink("deep/second", scratch.0.join("first")).unwrap();
        symlink("target", scratch.0.join("deep/second")).unwrap();
        create(&scratch.path("first"), b"text").commit().unwrap();
        assert_eq!(scratch.text("deep/target"), "text");
        assert!(scratch.0.join("first").is_symlink() && scratch.0.join("deep/second").is_symlink());
        symlink("loop", scratch.0.join("loop")).unwrap();
        assert_eq!(OutputFile::create(&scratch.path("loop")).err(), Some(Errno::ELOOP));
    }

    #[test]
    fn an_unwritable_target_is_refused_at_creation() {
        let scratch = Scratch::new("refused");
        let refused = |path: &[u8]| OutputFile::create(path).err();
        assert_eq!(refused(&scratch.path("")), Some(Errno::EISDIR));
        assert_eq!(refused(b"/tmp"), Some(Errno::EISDIR));
        assert_eq!(refused(&scratch.path("no/such/directory")), Some(Errno::ENOENT));
        assert_eq!(refused(&scratch.path("new/")), Some(Errno::EISDIR));
        assert_eq!(refused(b""), Some(Errno::ENOENT));
        assert_eq!(refused(&scratch.path(&"n".repeat(256))), Some(Errno::ENAMETOOLONG));
        assert_eq!(refused(b"/proc/version").map(|_| ()), Some(()));
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn the_longest_name_and_a_left_over_file_are_handled() {
        let scratch = Scratch::new("long");
        let longest = "n".repeat(255);
        create(&scratch.path(&longest), b"text").commit().unwrap();
        assert_eq!(scratch.names(), [longest]);
        fs::write(scratch.0.join(format!(".again.{}.tmp", process_id())), "left over").unwrap();
        fs::write(scratch.0.join("again"), "older").unwrap();
        create(&scratch.path("again"), b"text").commit().unwrap();
        assert_eq!(scratch.text("again"), "text");
    }

    #[test]
    fn a_file_is_recognized_under_another_name() {
        let scratch = Scratch::new("same");
        fs::create_dir(scratch.0.join("deep")).unwrap();
        symlink("deep/new", scratch.0.join("link")).unwrap();
        let create = |name: &str| OutputFile::create(&scratch.path(name)).unwrap().unwrap();
        for (one, other, same) in [
            ("new", "./new", true),
            ("link", "deep/../deep/new", true),
            ("new", "deep/new", false),
            ("new", "newer", false),
        ] {
            assert_eq!(create(one).is_same(&create(other)), same, "{one} {other}");
        }
        let device = |path: &[u8]| OutputFile::create(path).unwrap().unwrap();
        assert!(device(b"/dev/null").is_same(&device(b"/dev/./null")));
        assert!(
            !device(b"/dev/null").is_same(&device(b"/dev/full"))
                && !device(b"/dev/null").is_same(&create("new"))
        );
    }

    #[test]
    fn devices_are_written_directly() {
        let file = create(b"/dev/null", b"text");
        assert!(file.place.is_none());
        file.commit().unwrap();
        assert!(std::path::Path::new("/dev/null").exists());
    }
}
