//! What a system says of its nodes, read through an injected reader.

/// Reads small files of the system; a test gives files of its own.
pub trait Files {
    /// The content of `path`, as much as `buffer` holds; `None` where it cannot be read.
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]>;
}
