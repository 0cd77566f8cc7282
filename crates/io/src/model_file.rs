//! The file of a model: mapped, with the folder that it lies in, and its name in errors.

use crate::error::Error;
use crate::external::Folder;
use crate::identity::FilesRead;
use crate::map;
use crate::model::ModelError;
use bytes::Bytes;
use std::path::Path;

/// Hands over the content of the file of a model.
pub(crate) fn read<T>(
    path: &Path,
    parse: impl FnOnce(Bytes) -> Result<T, ModelError>,
) -> Result<T, Error> {
    let content =
        map::file(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse(content)
        .map_err(|source| Error::Model { path: path.to_owned(), source: Box::new(source) })
}

/// The same with its folder. Temporary files go to `temporary`; the file, and those of the folder
/// that are opened, are noted.
pub(crate) fn read_in<T>(
    path: &Path,
    temporary: &Path,
    noted: &FilesRead,
    parse: impl FnOnce(Bytes, Folder) -> Result<T, ModelError>,
) -> Result<T, Error> {
    noted.add(path);
    let folder = Folder::of(path).spooling_in(temporary).noting(noted);
    read(path, |content| parse(content, folder))
}
