//! Reads a model file: memory-maps it, resolves its folder, and adds its path to errors.

use crate::error::Error;
use crate::external::Folder;
use crate::identity::FilesRead;
use crate::map;
use crate::model::ModelError;
use bytes::Bytes;
use std::path::Path;

/// Parses the content of a model file, which is memory-mapped.
pub(crate) fn read<T>(
    path: &Path,
    parse: impl FnOnce(Bytes) -> Result<T, ModelError>,
) -> Result<T, Error> {
    read_noting(path, &FilesRead::default(), parse)
}

/// Like [`read`]. `noted` records the file.
fn read_noting<T>(
    path: &Path,
    noted: &FilesRead,
    parse: impl FnOnce(Bytes) -> Result<T, ModelError>,
) -> Result<T, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let file = map::open(path).map_err(failed)?;
    noted.add_open(path, &file);
    parse(map::content(&file, path).map_err(failed)?)
        .map_err(|source| Error::Model { path: path.to_owned(), source: Box::new(source) })
}

/// Like [`read`], and passes the folder of the file to `parse`. Temporary files are created in
/// `temporary`. `noted` records the file and every file in the folder that is opened.
pub(crate) fn read_in<T>(
    path: &Path,
    temporary: &Path,
    noted: &FilesRead,
    parse: impl FnOnce(Bytes, Folder) -> Result<T, ModelError>,
) -> Result<T, Error> {
    let folder = Folder::of(path).spooling_in(temporary).noting(noted);
    read_noting(path, noted, |content| parse(content, folder))
}
