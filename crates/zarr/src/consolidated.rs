//! What a store holds by its consolidated metadata, where the server cannot be asked: plain HTTP has
//! no way to list a folder.

use crate::array::json;
use crate::error::Error;
use crate::store::{Listing, Store, check_key, join};
use serde_json::Value;
use std::collections::BTreeMap;

/// The folders of a store that consolidated metadata names; `None` if the root has none.
pub(crate) fn listings(store: &dyn Store) -> Result<Option<BTreeMap<String, Listing>>, Error> {
    let mut keys = Vec::new();
    let source;
    if let Some((name, root)) = json(store, "", "zarr.json")? {
        let known = root.pointer("/consolidated_metadata/metadata").and_then(Value::as_object);
        let Some(known) = known else { return Ok(None) };
        source = name;
        keys.push("zarr.json".to_owned());
        keys.extend(known.keys().map(|path| join(path, "zarr.json")));
    } else if let Some((name, root)) = json(store, "", ".zmetadata")? {
        let Some(known) = root.get("metadata").and_then(Value::as_object) else { return Ok(None) };
        source = name;
        keys.push(source.clone());
        keys.extend(known.keys().cloned());
    } else {
        return Ok(None);
    }
    let mut folders: BTreeMap<String, Listing> = BTreeMap::new();
    for key in keys {
        // What a server sends becomes the path of a file.
        check_key(&key, cfg!(windows))
            .map_err(|why| Error::Metadata { at: store.name(&source), why })?;
        let (mut folder, mut name) = key.rsplit_once('/').unwrap_or(("", &key));
        folders.entry(folder.to_owned()).or_default().files.push(name.to_owned());
        while !folder.is_empty() {
            (folder, name) = folder.rsplit_once('/').unwrap_or(("", folder));
            folders.entry(folder.to_owned()).or_default().folders.push(name.to_owned());
        }
    }
    for listing in folders.values_mut() {
        for names in [&mut listing.files, &mut listing.folders] {
            names.sort();
            names.dedup();
        }
    }
    Ok(Some(folders))
}

/// The error for a group that has none, or for no group at all.
pub(crate) fn needed(store: &dyn Store) -> Error {
    let is_there = |name| matches!(json(store, "", name), Ok(Some(_)));
    if !is_there("zarr.json") && !is_there(".zgroup") {
        return Error::NotZarr { at: store.name("") };
    }
    let what = "an HTTP server cannot be asked what a group holds, and this one has no consolidated \
                metadata; name an array (URL.zarr:PATH), or consolidate the metadata";
    Error::Unsupported { at: store.name(""), what: what.to_owned() }
}
