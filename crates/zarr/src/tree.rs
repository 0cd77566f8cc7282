//! What a store holds: its arrays, its groups, and the files that are neither chunks nor changed.

use crate::array::{Array, METADATA, json};
use crate::consolidated;
use crate::error::Error;
use crate::store::{Listing, Store, join};
use serde_json::Value;

/// Folders may be nested this deep.
const DEPTH: usize = 64;

/// A group and its attributes.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) path: String,
    /// The file that holds the attributes.
    pub(crate) key: String,
    /// Whether `attributes` is a field of the file (version 3) or the whole file.
    pub(crate) inline: bool,
    pub(crate) attributes: Value,
}

/// Says what is in a folder.
type List<'a> = dyn Fn(&str) -> Result<Listing, Error> + 'a;

/// What a store holds.
#[derive(Debug, Default)]
pub struct Tree {
    /// The arrays, in the order of their paths.
    pub arrays: Vec<Array>,
    pub(crate) groups: Vec<Group>,
    /// Keys that are copied: metadata of all arrays and groups, and other files of groups.
    pub(crate) files: Vec<String>,
}

impl Tree {
    /// Reads all metadata of a store.
    pub fn read(store: &dyn Store) -> Result<Tree, Error> {
        let mut tree = Tree::default();
        if store.lists() {
            let list = |folder: &str| {
                let listing = store.list(folder);
                listing.map_err(|source| Error::Read { at: store.name(folder), source })
            };
            tree.add(store, &list, "", 0)?;
        } else {
            let known = consolidated::listings(store)?;
            let list = |folder: &str| match &known {
                Some(known) => Ok(known.get(folder).cloned().unwrap_or_default()),
                None => Err(consolidated::needed(store)),
            };
            tree.add(store, &list, "", 0)?;
        }
        match tree.arrays.is_empty() && tree.groups.is_empty() {
            true => Err(Error::NotZarr { at: store.name("") }),
            false => Ok(tree),
        }
    }

    /// Whether the root is one array.
    pub fn is_array(&self) -> bool {
        matches!(&self.arrays[..], [only] if only.path.is_empty())
    }

    fn add(
        &mut self,
        store: &dyn Store,
        list: &List<'_>,
        path: &str,
        depth: usize,
    ) -> Result<(), Error> {
        if depth > DEPTH {
            let why = format!("folders are nested more than {DEPTH} deep");
            return Err(Error::Metadata { at: store.name(path), why });
        }
        if let Some(array) = Array::open(store, path)? {
            // Everything else in the folder of an array is a chunk. Listing it could take minutes.
            for name in METADATA {
                let key = join(path, name);
                let found = store.stat(&key);
                if found.map_err(|source| Error::Read { at: store.name(&key), source })?.is_some() {
                    self.files.push(key);
                }
            }
            self.arrays.push(array);
            return Ok(());
        }
        let listing = list(path)?;
        if let Some((key, metadata)) = json(store, path, "zarr.json")? {
            let attributes = metadata.get("attributes").cloned().unwrap_or_default();
            self.groups.push(Group { path: path.to_owned(), key, inline: true, attributes });
        } else if listing.files.iter().any(|name| name == ".zgroup") {
            let (key, attributes) = json(store, path, ".zattrs")?
                .unwrap_or_else(|| (join(path, ".zattrs"), Value::Null));
            self.groups.push(Group { path: path.to_owned(), key, inline: false, attributes });
        } else if depth == 0 {
            return Err(Error::NotZarr { at: store.name(path) });
        }
        self.files.extend(listing.files.iter().map(|name| join(path, name)));
        for folder in &listing.folders {
            self.add(store, list, &join(path, folder), depth + 1)?;
        }
        Ok(())
    }
}
