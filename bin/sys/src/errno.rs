//! The kernel's error numbers, with their symbolic names and customary descriptions.
//!
//! The module knows neither the failed call nor the consequence for a measurement.

use core::fmt;

/// An error number of the Linux kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Errno(i32);

macro_rules! errnos {
    ($($name:ident = $value:literal, $description:literal;)*) => {
        impl Errno {
            $(#[doc = $description] pub const $name: Errno = Errno($value);)*

            /// Returns the symbolic name and the customary description, if the number is named here.
            const fn entry(self) -> Option<(&'static str, &'static str)> {
                match self.0 {
                    $($value => Some((stringify!($name), $description)),)*
                    _ => None,
                }
            }
        }
    };
}

// The numbers of include/uapi/asm-generic/errno-base.h and errno.h, which both instruction sets use;
// the descriptions are those of strerror(3).
errnos! {
    EPERM = 1, "Operation not permitted";
    ENOENT = 2, "No such file or directory";
    ESRCH = 3, "No such process";
    EINTR = 4, "Interrupted system call";
    EIO = 5, "Input/output error";
    ENXIO = 6, "No such device or address";
    E2BIG = 7, "Argument list too long";
    EBADF = 9, "Bad file descriptor";
    EAGAIN = 11, "Resource temporarily unavailable";
    ENOMEM = 12, "Cannot allocate memory";
    EACCES = 13, "Permission denied";
    EFAULT = 14, "Bad address";
    EBUSY = 16, "Device or resource busy";
    EEXIST = 17, "File exists";
    ENODEV = 19, "No such device";
    ENOTDIR = 20, "Not a directory";
    EISDIR = 21, "Is a directory";
    EINVAL = 22, "Invalid argument";
    ENFILE = 23, "Too many open files in system";
    EMFILE = 24, "Too many open files";
    ENOTTY = 25, "Inappropriate ioctl for device";
    ETXTBSY = 26, "Text file busy";
    EFBIG = 27, "File too large";
    ENOSPC = 28, "No space left on device";
    EROFS = 30, "Read-only file system";
    EPIPE = 32, "Broken pipe";
    ENAMETOOLONG = 36, "File name too long";
    ENOSYS = 38, "Function not implemented";
    ELOOP = 40, "Too many levels of symbolic links";
    EOVERFLOW = 75, "Value too large for defined data type";
    EOPNOTSUPP = 95, "Operation not supported";
    EDQUOT = 122, "Disk quota exceeded";
    ECANCELED = 125, "Operation canceled";
    EHWPOISON = 133, "Memory page has hardware error";
}

impl Errno {
    /// Returns the error with the kernel's number `code` (positive).
    pub const fn new(code: i32) -> Errno {
        Errno(code)
    }

    /// Returns the number.
    pub const fn code(self) -> i32 {
        self.0
    }
}

/// Writes `Operation not permitted (EPERM)`, or `error 4095` if the number has no name here.
impl fmt::Display for Errno {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry() {
            Some((name, description)) => write!(out, "{description} ({name})"),
            None => write!(out, "error {}", self.0),
        }
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Errno {
        Errno::new(error.raw_os_error())
    }
}

/// Repeats a call while signals interrupt it. The maximum number of repeats is reached only by a fault, because this
/// program lets few signals through.
///
/// # Errors
/// The errors of the call, and `EINTR` after the maximum number of repeats.
pub(super) fn patiently<T>(mut call: impl FnMut() -> Result<T, rustix::io::Errno>) -> Result<T, Errno> {
    const REPEATS: u32 = 100;
    for _ in 0..REPEATS {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
    Err(Errno::EINTR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn interrupted_calls_are_repeated_but_not_for_ever() {
        let calls = |interruptions: u32| {
            let mut count = 0;
            let result = patiently(|| {
                count += 1;
                if count > interruptions { Ok(count) } else { Err(rustix::io::Errno::INTR) }
            });
            (result, count)
        };
        assert_eq!(calls(0), (Ok(1), 1));
        assert_eq!(calls(99), (Ok(100), 100));
        assert_eq!(calls(u32::MAX), (Err(Errno::EINTR), 100));
        assert_eq!(patiently(|| Err::<(), _>(rustix::io::Errno::NOSPC)), Err(Errno::ENOSPC));
    }

    #[test]
    fn common_errors_have_their_name_and_description() {
        assert_eq!(Errno::EPERM.to_string(), "Operation not permitted (EPERM)");
        assert_eq!(Errno::new(28).to_string(), "No space left on device (ENOSPC)");
        assert_eq!(Errno::ENOMEM.entry().map(|(name, _)| name), Some("ENOMEM"));
        assert_eq!(Errno::new(4095).to_string(), "error 4095");
    }

    #[test]
    fn every_name_agrees_with_the_kernel_headers() {
        use linux_raw_sys::errno as kernel;
        for (ours, theirs) in [
            (Errno::EPERM, kernel::EPERM),
            (Errno::ENOENT, kernel::ENOENT),
            (Errno::ESRCH, kernel::ESRCH),
            (Errno::EINTR, kernel::EINTR),
            (Errno::EIO, kernel::EIO),
            (Errno::ENXIO, kernel::ENXIO),
            (Errno::E2BIG, kernel::E2BIG),
            (Errno::EBADF, kernel::EBADF),
            (Errno::EAGAIN, kernel::EAGAIN),
            (Errno::ENOMEM, kernel::ENOMEM),
            (Errno::EACCES, kernel::EACCES),
            (Errno::EFAULT, kernel::EFAULT),
            (Errno::EBUSY, kernel::EBUSY),
            (Errno::EEXIST, kernel::EEXIST),
            (Errno::ENODEV, kernel::ENODEV),
            (Errno::ENOTDIR, kernel::ENOTDIR),
            (Errno::EISDIR, kernel::EISDIR),
            (Errno::EINVAL, kernel::EINVAL),
            (Errno::ENFILE, kernel::ENFILE),
            (Errno::EMFILE, kernel::EMFILE),
            (Errno::ENOTTY, kernel::ENOTTY),
            (Errno::ETXTBSY, kernel::ETXTBSY),
            (Errno::EFBIG, kernel::EFBIG),
            (Errno::ENOSPC, kernel::ENOSPC),
            (Errno::EROFS, kernel::EROFS),
            (Errno::EPIPE, kernel::EPIPE),
            (Errno::ENAMETOOLONG, kernel::ENAMETOOLONG),
            (Errno::ENOSYS, kernel::ENOSYS),
            (Errno::ELOOP, kernel::ELOOP),
            (Errno::EOVERFLOW, kernel::EOVERFLOW),
            (Errno::EOPNOTSUPP, kernel::EOPNOTSUPP),
            (Errno::EDQUOT, kernel::EDQUOT),
            (Errno::EHWPOISON, kernel::EHWPOISON),
        ] {
            assert_eq!(ours.code() as u32, theirs);
        }
    }
}
