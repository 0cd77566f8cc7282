//! A writer that remembers its first error and then discards everything, so that its user finishes
//! normally: `zip` panics if a write fails halfway.

use std::io::{self, Seek, SeekFrom, Write};

/// Forwards writes until one fails.
pub(crate) struct Latched<W> {
    inner: W,
    /// The current position, as if all writes had succeeded.
    position: u64,
    end: u64,
    error: Option<io::Error>,
}

impl<W> Latched<W> {
    pub(crate) fn new(inner: W) -> Latched<W> {
        Latched { inner, position: 0, end: 0, error: None }
    }

    /// The first error, if there was one.
    pub(crate) fn into_result(self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.inner),
        }
    }

    /// Calls `act` unless a write has failed before; `None` if it has, or fails now.
    fn attempt<T>(&mut self, act: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<Option<T>> {
        if self.error.is_some() {
            return Ok(None);
        }
        match act(&mut self.inner) {
            Ok(done) => Ok(Some(done)),
            // The caller retries.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.error = Some(error);
                Ok(None)
            }
        }
    }
}

impl<W: Write> Write for Latched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.attempt(|inner| match inner.write(bytes) {
            Ok(0) if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
            result => result,
        })?;
        let written = written.unwrap_or(bytes.len());
        self.position += written as u64;
        self.end = self.end.max(self.position);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(|inner| inner.flush()).map(|_| ())
    }
}

impl<W: Write + Seek> Seek for Latched<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let there = match to {
            SeekFrom::Start(start) => Some(start),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        let there = there.ok_or(io::ErrorKind::InvalidInput)?;
        self.position = self.attempt(|inner| inner.seek(to))?.unwrap_or(there);
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_kept_and_nothing_is_written_behind_it() {
        let mut room = [0; 4];
        let mut latched = Latched::new(io::Cursor::new(&mut room[..]));
        latched.write_all(&[1, 2, 3]).unwrap();
        // Room for four bytes: the fourth is written, the rest is discarded.
        latched.write_all(&[4, 5, 6]).unwrap();
        assert_eq!(latched.seek(SeekFrom::End(0)).unwrap(), 6);
        assert_eq!(latched.seek(SeekFrom::Start(0)).unwrap(), 0);
        latched.write_all(&[9]).unwrap();
        assert_eq!(latched.stream_position().unwrap(), 1);
        latched.flush().unwrap();
        assert_eq!(latched.into_result().unwrap_err().kind(), io::ErrorKind::WriteZero);
        assert_eq!(room, [1, 2, 3, 4]);
    }
}
