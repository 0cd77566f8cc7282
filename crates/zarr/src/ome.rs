//! OME-Zarr images: every level of a pyramid is reversed, and its transform is mended, so that all
//! levels still lie on each other.
//!
//! Along an axis, pixel `i` of level `l` has its centre at `s_l * i + t_l`. The image is mirrored in
//! the middle of its first level, which takes `x` to `m - x` with `m = 2 t_0 + s_0 (n_0 - 1)`. After
//! the level is reversed, pixel `j` is the old pixel `n_l - 1 - j`, so its scale stays and its
//! translation becomes `m - t_l - s_l (n_l - 1)`. Labels are mirrored in the middle of their image.

use crate::array::{Array, json};
use crate::error::Error;
use crate::store::{Store, join};
use crate::tree::{Group, Tree};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Differences below this part of a pixel are rounding.
const ROUNDING: f64 = 1e-9;

/// The images of a group: the attributes that hold them.
fn multiscales(attributes: &Value) -> Option<&Vec<Value>> {
    let new = attributes.get("ome").and_then(|ome| ome.get("multiscales"));
    new.or_else(|| attributes.get("multiscales"))?.as_array()
}

fn multiscales_mut(attributes: &mut Value) -> Option<&mut Vec<Value>> {
    let holder = match attributes.get("ome").is_some_and(|ome| ome.get("multiscales").is_some()) {
        true => attributes.get_mut("ome")?,
        false => attributes,
    };
    holder.get_mut("multiscales")?.as_array_mut()
}

/// The names of the axes of an image; version 0.2 and older have none but a fixed order.
fn axes(image: &Value) -> Vec<String> {
    let Some(axes) = image.get("axes").and_then(Value::as_array) else {
        return ["t", "c", "z", "y", "x"].map(str::to_owned).to_vec();
    };
    let name = |axis: &Value| axis.as_str().or(axis.get("name")?.as_str()).map(str::to_owned);
    axes.iter().map(|axis| name(axis).unwrap_or_default()).collect()
}

/// The arrays of an image, by their paths in the store.
fn levels(group: &Group, image: &Value) -> Vec<String> {
    let datasets = image.get("datasets").and_then(Value::as_array).into_iter().flatten();
    let path = |dataset: &Value| Some(join(&group.path, dataset.get("path")?.as_str()?));
    datasets.filter_map(path).collect()
}

/// Gives the arrays of images the names of their axes.
pub(crate) fn name_axes(tree: &mut Tree) {
    for group in &tree.groups {
        for image in multiscales(&group.attributes).into_iter().flatten() {
            let names = axes(image);
            for path in levels(group, image) {
                let array = tree.arrays.iter_mut().find(|array| array.path == path);
                if let Some(array) = array.filter(|array| array.grid.rank() == names.len()) {
                    array.axes = names.iter().cloned().map(Some).collect();
                }
            }
        }
    }
}

/// The metadata that changes when these axes are reversed: the new bytes by their keys.
pub(crate) fn mend(
    store: &dyn Store,
    tree: &Tree,
    flipped: &[Vec<bool>],
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let arrays: BTreeMap<&str, (&Array, &[bool])> = tree
        .arrays
        .iter()
        .zip(flipped)
        .map(|(array, flipped)| (array.path.as_str(), (array, flipped.as_slice())))
        .collect();
    let mut changed: Vec<(&Group, Value)> = Vec::new();
    for group in &tree.groups {
        let mut attributes = group.attributes.clone();
        let parent = parent_image(tree, group);
        let bad = |why: String| Error::Metadata { at: store.name(&group.key), why };
        let mut defaults = Vec::new();
        for image in multiscales_mut(&mut attributes).into_iter().flatten() {
            let paths = levels(group, image);
            let found: Vec<_> = paths.iter().map(|path| arrays.get(path.as_str())).collect();
            let mirrors = mirrors(image, &found, parent, &arrays).map_err(bad)?;
            mend_image(image, &found, &mirrors).map_err(bad)?;
            if let Some(Some((array, flipped))) = found.first() {
                defaults = (0..flipped.len())
                    .filter(|&axis| flipped[axis])
                    .filter_map(|axis| Some((array.axes[axis].clone()?, array.grid.shape()[axis])))
                    .collect();
            }
        }
        mend_defaults(&mut attributes, &defaults);
        if attributes != group.attributes {
            changed.push((group, attributes));
        }
    }
    documents(store, tree, &changed)
}

/// The image that a group of labels belongs to.
fn parent_image<'t>(tree: &'t Tree, group: &Group) -> Option<&'t Group> {
    let path = match group.path.rfind("/labels/") {
        Some(at) => &group.path[..at],
        None if group.path.starts_with("labels/") => "",
        None => return None,
    };
    let parent = tree.groups.iter().find(|parent| parent.path == path)?;
    multiscales(&parent.attributes).map(|_| parent)
}

type Level<'a> = Option<&'a (&'a Array, &'a [bool])>;

/// For each axis of an image that is reversed, the sum of a position and its mirror image.
fn mirrors(
    image: &Value,
    levels_of_image: &[Level<'_>],
    parent: Option<&Group>,
    arrays: &BTreeMap<&str, (&Array, &[bool])>,
) -> Result<Vec<Option<f64>>, String> {
    let names = axes(image);
    let Some(Some((array, flipped))) = levels_of_image.first() else { return Ok(Vec::new()) };
    let own = |axis: usize| mirror(image, array, axis);
    let of_parent = |name: &String| {
        let group = parent?;
        let image = multiscales(&group.attributes)?.first()?;
        let axis = axes(image).iter().position(|known| known == name)?;
        let path = levels(group, image).into_iter().next()?;
        Some(mirror(image, arrays.get(path.as_str())?.0, axis))
    };
    let of_axis = |axis: usize| match flipped[axis] {
        false => Ok(None),
        true => of_parent(&names[axis]).unwrap_or_else(|| own(axis)).map(Some),
    };
    (0..flipped.len().min(names.len())).map(of_axis).collect()
}

/// The sum of a position and its mirror image in the middle of the first level.
fn mirror(image: &Value, first: &Array, axis: usize) -> Result<f64, String> {
    let dataset = image.pointer("/datasets/0").unwrap_or(&Value::Null);
    let transform = Transform::of(dataset, first.grid.rank())?.unwrap_or_default();
    let last = first.grid.shape().get(axis).copied().unwrap_or(0).saturating_sub(1) as f64;
    Ok(2.0 * transform.translation_at(axis) + transform.scale_at(axis) * last)
}

/// The transform of a level: a scale, then a translation.
#[derive(Debug, Default, Clone, PartialEq)]
struct Transform {
    scale: Vec<f64>,
    translation: Option<Vec<f64>>,
}

impl Transform {
    /// The transform of a dataset, if it has one.
    fn of(dataset: &Value, rank: usize) -> Result<Option<Transform>, String> {
        let Some(list) = dataset.get("coordinateTransformations").and_then(Value::as_array) else {
            return Ok(None);
        };
        let mut transform = Transform::default();
        for entry in list {
            let kind = entry.get("type").and_then(Value::as_str).unwrap_or("?");
            if kind == "identity" {
                continue;
            }
            let numbers = entry.get(kind).and_then(Value::as_array);
            let numbers: Option<Vec<f64>> =
                numbers.and_then(|list| list.iter().map(Value::as_f64).collect());
            let numbers = numbers.filter(|numbers| numbers.len() == rank);
            match (kind, numbers) {
                ("scale", Some(numbers)) => transform.scale = numbers,
                ("translation", Some(numbers)) => transform.translation = Some(numbers),
                (kind, _) => {
                    return Err(format!(
                        "the coordinate transformation {kind:?} cannot be mended, expected a scale \
                         and a translation of {rank} numbers"
                    ));
                }
            }
        }
        Ok(Some(transform))
    }

    fn scale_at(&self, axis: usize) -> f64 {
        self.scale.get(axis).copied().unwrap_or(1.0)
    }

    fn translation_at(&self, axis: usize) -> f64 {
        let translation = self.translation.as_ref();
        translation.and_then(|numbers| numbers.get(axis)).copied().unwrap_or(0.0)
    }
}

/// Mends the translations of all levels.
fn mend_image(
    image: &mut Value,
    found: &[Level<'_>],
    mirrors: &[Option<f64>],
) -> Result<(), String> {
    let datasets = image.get_mut("datasets").and_then(Value::as_array_mut);
    for (dataset, level) in datasets.into_iter().flatten().zip(found) {
        let Some((array, _)) = level else { continue };
        let rank = array.grid.rank();
        // Without a transform, levels have no positions that could be wrong.
        let Some(transform) = Transform::of(dataset, rank)? else { continue };
        let mut translation: Vec<f64> =
            (0..rank).map(|axis| transform.translation_at(axis)).collect();
        for (axis, mirror) in mirrors.iter().enumerate().take(rank) {
            let Some(mirror) = mirror else { continue };
            let (scale, old) = (transform.scale_at(axis), transform.translation_at(axis));
            let last = array.grid.shape()[axis].saturating_sub(1) as f64;
            let new = mirror - old - scale * last;
            let near = |to: f64| (new - to).abs() <= ROUNDING * scale.abs().max(old.abs());
            translation[axis] = if near(old) {
                old
            } else if near(0.0) {
                0.0
            } else {
                new
            };
        }
        let old: Vec<f64> = (0..rank).map(|axis| transform.translation_at(axis)).collect();
        if translation == old {
            continue;
        }
        let list = dataset.get_mut("coordinateTransformations").and_then(Value::as_array_mut);
        if let Some(list) = list {
            list.retain(|entry| entry.get("type").and_then(Value::as_str) != Some("translation"));
            list.push(json!({ "type": "translation", "translation": translation }));
        }
    }
    Ok(())
}

/// The plane and the time that viewers show first move with the data.
fn mend_defaults(attributes: &mut Value, flipped: &[(String, u64)]) {
    let holder = match attributes.get("ome") {
        Some(_) => attributes.get_mut("ome"),
        None => Some(attributes),
    };
    let Some(defaults) = holder.and_then(|holder| holder.pointer_mut("/omero/rdefs")) else {
        return;
    };
    for (axis, name) in [("z", "defaultZ"), ("t", "defaultT")] {
        let size = flipped.iter().find(|(known, _)| known == axis).map(|(_, size)| *size);
        let at = defaults.get(name).and_then(Value::as_u64);
        if let (Some(size), Some(at)) = (size, at)
            && at < size
        {
            defaults[name] = json!(size - 1 - at);
        }
    }
}

/// The files in which attributes change: those of the groups, and consolidated metadata.
fn documents(
    store: &dyn Store,
    tree: &Tree,
    changed: &[(&Group, Value)],
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut documents: BTreeMap<String, Value> = BTreeMap::new();
    let mut edit = |folder: &str, name: &str, change: &dyn Fn(&mut Value)| -> Result<(), Error> {
        let key = join(folder, name);
        if !documents.contains_key(&key) {
            let Some((_, document)) = json(store, folder, name)? else { return Ok(()) };
            documents.insert(key.clone(), document);
        }
        if let Some(document) = documents.get_mut(&key) {
            change(document);
        }
        Ok(())
    };
    for (group, attributes) in changed {
        let path = group.path.as_str();
        match group.inline {
            true => edit(path, "zarr.json", &|file| file["attributes"] = attributes.clone())?,
            false => edit(path, ".zattrs", &|file| *file = attributes.clone())?,
        }
        for holder in &tree.groups {
            let Some(inside) = inside(&holder.path, path) else { continue };
            if holder.inline {
                edit(&holder.path, "zarr.json", &|file| {
                    let node = file
                        .pointer_mut("/consolidated_metadata/metadata")
                        .and_then(|nodes| nodes.get_mut(inside));
                    if let Some(node) = node {
                        node["attributes"] = attributes.clone();
                    }
                })?;
            } else {
                let name = join(inside, ".zattrs");
                edit(&holder.path, ".zmetadata", &|file| {
                    let files = file.get_mut("metadata");
                    if let Some(entry) = files.and_then(|files| files.get_mut(&name)) {
                        *entry = attributes.clone();
                    }
                })?;
            }
        }
    }
    let text = |document: &Value| serde_json::to_vec_pretty(document).unwrap_or_default();
    Ok(documents.iter().map(|(key, document)| (key.clone(), text(document))).collect())
}

/// The path of a group inside another, or the group itself.
fn inside<'p>(outer: &str, path: &'p str) -> Option<&'p str> {
    match path.strip_prefix(outer)? {
        "" => Some(""),
        rest if outer.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}
