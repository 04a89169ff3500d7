//! The kernel's error numbers as rustix gives them.

pub use crate::errno::Errno;

impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Errno {
        Errno::new(error.raw_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
