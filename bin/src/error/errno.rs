//! The kernel's error numbers in words.

use core::fmt;

/// An error number of the kernel, positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// Operation not permitted: a privilege or a seccomp filter.
    pub const EPERM: Errno = Errno(1);
    /// No such file or directory.
    pub const ENOENT: Errno = Errno(2);
    /// Bad address; of MADV_POPULATE_WRITE: a page could not be made.
    pub const EFAULT: Errno = Errno(14);
    /// Cannot allocate memory; of MAP_HUGETLB: the pool is too small.
    pub const ENOMEM: Errno = Errno(12);
    /// Invalid argument; of mbind: no allowed node in the mask.
    pub const EINVAL: Errno = Errno(22);
    /// No space left on device.
    pub const ENOSPC: Errno = Errno(28);
    /// Function not implemented: an old kernel or a seccomp filter.
    pub const ENOSYS: Errno = Errno(38);

    /// Its name and its meaning, for those that the calls of this program return.
    ///
    /// The numbers are those of x86-64 (include/uapi/asm-generic/errno-base.h and errno.h).
    #[must_use]
    pub const fn words(self) -> Option<(&'static str, &'static str)> {
        Some(match self.0 {
            1 => ("EPERM", "operation not permitted"),
            2 => ("ENOENT", "no such file or directory"),
            3 => ("ESRCH", "no such process"),
            4 => ("EINTR", "interrupted"),
            5 => ("EIO", "input/output error"),
            7 => ("E2BIG", "too large a structure"),
            9 => ("EBADF", "bad file descriptor"),
            11 => ("EAGAIN", "try again"),
            12 => ("ENOMEM", "out of memory"),
            13 => ("EACCES", "permission denied"),
            14 => ("EFAULT", "bad address"),
            16 => ("EBUSY", "busy"),
            17 => ("EEXIST", "file exists"),
            19 => ("ENODEV", "no such device"),
            20 => ("ENOTDIR", "not a directory"),
            21 => ("EISDIR", "is a directory"),
            22 => ("EINVAL", "invalid argument"),
            23 => ("ENFILE", "too many open files in the system"),
            24 => ("EMFILE", "too many open files"),
            26 => ("ETXTBSY", "the file is being executed"),
            27 => ("EFBIG", "file too large"),
            28 => ("ENOSPC", "no space left on device"),
            30 => ("EROFS", "read-only file system"),
            32 => ("EPIPE", "the reader is gone"),
            36 => ("ENAMETOOLONG", "file name too long"),
            38 => ("ENOSYS", "not implemented by this kernel, or filtered"),
            40 => ("ELOOP", "too many symbolic links"),
            95 => ("EOPNOTSUPP", "not supported"),
            122 => ("EDQUOT", "disk quota exceeded"),
            133 => ("EHWPOISON", "a memory page has a hardware error"),
            _ => return None,
        })
    }
}

/// `ENOMEM (out of memory)`, or `errno 999`.
impl fmt::Display for Errno {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some((name, meaning)) => write!(out, "{name} ({meaning})"),
            None => write!(out, "errno {}", self.0),
        }
    }
}
