//! Puts an array or group inside a store that exists, or that it begins: `out.zarr:path/to/array`.
//! Groups around it are created, and consolidated metadata above it learns of it.

use crate::array::{METADATA, json};
use crate::error::Error;
use crate::store::{Store, join};
use serde_json::{Map, Value, json};

/// The groups around a node, from the root to its parent, and the path of the node in each.
fn around(path: &str) -> Vec<(&str, &str)> {
    let mut groups = vec![("", path)];
    groups.extend(path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..])));
    groups
}

/// Fails unless every group around the path is absent or a group of this version.
pub(crate) fn check(store: &dyn Store, path: &str, version: u8) -> Result<(), Error> {
    if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        let why = format!("{path:?} is not a path inside a store");
        return Err(Error::Metadata { at: store.name(""), why });
    }
    for (group, _) in around(path) {
        let bad = |what: String| Err(Error::Unsupported { at: store.name(group), what });
        let is_array = |metadata: &Value| metadata["node_type"] == "array";
        let new = json(store, group, "zarr.json")?.map(|(_, metadata)| metadata);
        let old = json(store, group, ".zgroup")?.is_some();
        if new.as_ref().is_some_and(is_array) || json(store, group, ".zarray")?.is_some() {
            return bad("is an array, and can hold nothing else".to_owned());
        }
        if new.is_some() && version != 3 || old && version != 2 {
            let found = if old { 2 } else { 3 };
            return bad(format!("is a group of version {found}, but the input has {version}"));
        }
        let listing = store.list(group);
        let listing = listing.map_err(|source| Error::Read { at: store.name(group), source })?;
        if new.is_none() && !old && group.is_empty() && !listing.files.is_empty() {
            return bad("is neither a Zarr group nor empty".to_owned());
        }
    }
    Ok(())
}

/// Creates the groups around a node that is complete, and mends consolidated metadata. To be called
/// again if it was interrupted.
pub(crate) fn adopt(store: &dyn Store, path: &str, version: u8) -> Result<(), Error> {
    let name = if version == 3 { "zarr.json" } else { ".zgroup" };
    let write = |key: String, value: &Value| {
        let bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
        let written = store.write(&key, bytes);
        written.map(|_| ()).map_err(|source| Error::Write { at: store.name(&key), source })
    };
    for (group, _) in around(path) {
        if json(store, group, name)?.is_none() {
            let new = json!({ "zarr_format": 3, "node_type": "group", "attributes": {} });
            let old = json!({ "zarr_format": 2 });
            write(join(group, name), if version == 3 { &new } else { &old })?;
        }
    }
    // From the innermost group outwards, although only the root usually has any.
    for (group, rest) in around(path).into_iter().rev() {
        let file = if version == 3 { "zarr.json" } else { ".zmetadata" };
        let pointer = if version == 3 { "/consolidated_metadata/metadata" } else { "/metadata" };
        let Some((key, mut whole)) = json(store, group, file)? else { continue };
        let Some(known) = whole.pointer_mut(pointer).and_then(Value::as_object_mut) else {
            continue;
        };
        let inside = |key: &String| *key == rest || key.starts_with(&format!("{rest}/"));
        known.retain(|key, _| !inside(key));
        let mut found = Map::new();
        collect(store, group, rest, version, &mut found)?;
        // The groups between this one and the node.
        for (between, _) in around(rest).into_iter().skip(1) {
            if let Some((_, metadata)) = json(store, &join(group, between), name)? {
                let entry = if version == 3 { between.to_owned() } else { join(between, name) };
                found.entry(entry).or_insert(metadata);
            }
        }
        for (entry, metadata) in found {
            known.entry(entry).or_insert(metadata);
        }
        write(key, &whole)?;
    }
    Ok(())
}

/// The metadata of a node and all nodes in it, by the keys of consolidated metadata.
fn collect(
    store: &dyn Store,
    group: &str,
    path: &str,
    version: u8,
    into: &mut Map<String, Value>,
) -> Result<(), Error> {
    let folder = join(group, path);
    let mut is_array = false;
    for name in METADATA {
        let wanted = if version == 3 {
            name == "zarr.json"
        } else {
            name.starts_with(".za") || name == ".zgroup"
        };
        let Some((_, mut metadata)) = (if wanted { json(store, &folder, name)? } else { None })
        else {
            continue;
        };
        is_array |= name == ".zarray" || metadata["node_type"] == "array";
        if let Some(object) = metadata.as_object_mut().filter(|_| version == 3) {
            object.remove("consolidated_metadata");
        }
        into.insert(if version == 3 { path.to_owned() } else { join(path, name) }, metadata);
    }
    if is_array {
        return Ok(());
    }
    let listing = store.list(&folder);
    let listing = listing.map_err(|source| Error::Read { at: store.name(&folder), source })?;
    for name in listing.folders {
        collect(store, group, &join(path, &name), version, into)?;
    }
    Ok(())
}
