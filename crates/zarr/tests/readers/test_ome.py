"""OME-Zarr pyramids: every level is reversed, and all levels still lie on each other."""

import json

import numpy as np
import pytest
import zarr
from conftest import run
from ome_zarr.io import parse_url
from ome_zarr.reader import Reader
from test_readers import same, values


def pyramid(path, version, sizes, scales, translations, labels=False):
    """An image c, y, x whose levels have these sizes along x."""
    group = zarr.create_group(path, zarr_format=2 if version == "0.4" else 3)

    def level(x, number, group):
        data = values((2, 6, x), "u2")
        array = group.create_array(str(number), shape=data.shape, chunks=(1, 4, 16), dtype="u2")
        array[...] = data
        return data

    def image(group, sizes, scales, translations):
        datasets = []
        for number, (scale, translation) in enumerate(zip(scales, translations)):
            transforms = [{"type": "scale", "scale": [1.0, 0.5, scale]}]
            if translation is not None:
                transforms.append({"type": "translation", "translation": [0.0, 0.25, translation]})
            datasets.append({"path": str(number), "coordinateTransformations": transforms})
        axes = [{"name": "c", "type": "channel"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}]
        multiscales = [{"axes": axes, "datasets": datasets, "name": "image", "version": version}]
        content = {"multiscales": multiscales, "omero": {"channels": [{"color": "FF0000"}], "rdefs": {"defaultZ": 0, "defaultT": 0}}}
        group.attrs.update(content if version == "0.4" else {"ome": content | {"version": "0.5"}})
        return [level(x, number, group) for number, x in enumerate(sizes)]

    data = image(group, sizes, scales, translations)
    if labels:
        image(group.create_group("labels").create_group("cells"), sizes[1:], scales[1:], translations[1:])
    zarr.consolidate_metadata(path)
    return data


def transforms(attributes):
    """Scale and translation along x of every level."""
    found = []
    for dataset in attributes.get("ome", attributes)["multiscales"][0]["datasets"]:
        kinds = {entry["type"]: entry[entry["type"]] for entry in dataset["coordinateTransformations"]}
        found.append((kinds["scale"][-1], kinds.get("translation", [0.0])[-1]))
    return found


CASES = {
    "even": ([64, 32, 16], [1.0, 2.0, 4.0], [None, 0.5, 1.5]),
    "odd": ([101, 51, 26], [0.325, 0.65, 1.3], [0.0, 0.1625, 0.4875]),
    "cut": ([101, 50, 25], [0.325, 0.65, 1.3], [None, None, None]),
}


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("case", CASES)
def test_pyramids(folder, case, version):
    sizes, scales, translations = CASES[case]
    data = pyramid("in.ome.zarr", version, sizes, scales, translations, labels=True)
    run("reverse", "in.ome.zarr", "--axes", "x", "-o", "out.ome.zarr")
    source, out = zarr.open_group("in.ome.zarr", mode="r"), zarr.open_group("out.ome.zarr", mode="r")
    before, after = transforms(dict(source.attrs)), transforms(dict(out.attrs))
    scale, translation = before[0]
    mirror = 2 * translation + scale * (sizes[0] - 1)
    assert after[0] == before[0]
    for level, size in enumerate(sizes):
        assert same(out[str(level)][...], data[level][..., ::-1])
        for pixel in range(size):
            old = before[level][0] * (size - 1 - pixel) + before[level][1]
            new = after[level][0] * pixel + after[level][1]
            assert abs(old + new - mirror) < 1e-6
    # Labels are mirrored with their image.
    inner = zarr.open_group("out.ome.zarr/labels/cells", mode="r")
    for (_, old), (scale, new), size in zip(transforms(dict(source["labels/cells"].attrs)), transforms(dict(inner.attrs)), sizes[1:]):
        assert abs(old + new + scale * (size - 1) - mirror) < 1e-6
    # Consolidated metadata says the same as the groups.
    for path, group in [("labels/cells", inner)]:
        if version == "0.4":
            consolidated = json.loads((folder / "out.ome.zarr/.zmetadata").read_text())["metadata"]
            assert consolidated[f"{path}/.zattrs"] == dict(group.attrs)
            assert consolidated[".zattrs"] == json.loads((folder / "out.ome.zarr/.zattrs").read_text())
        else:
            root = json.loads((folder / "out.ome.zarr/zarr.json").read_text())
            assert root["consolidated_metadata"]["metadata"][path]["attributes"] == dict(group.attrs)
    run("reverse", "out.ome.zarr", "--axes", "x", "-o", "back.ome.zarr")
    back = transforms(dict(zarr.open_group("back.ome.zarr", mode="r").attrs))
    assert np.allclose(back, before)


def test_other_axes_and_transforms(folder):
    data = pyramid("in.ome.zarr", "0.5", [16, 8], [1.0, 2.0], [None, 0.5])
    assert "expected one of c, x, y" in run("reverse", "in.ome.zarr", "--axes", "z", "-o", "out.ome.zarr", code=1)
    run("reverse", "in.ome.zarr", "--axes", "y", "-o", "y.ome.zarr")
    out = zarr.open_group("y.ome.zarr", mode="r")
    assert same(out["1"][...], data[1][:, ::-1])
    group = zarr.open_group("in.ome.zarr", mode="r+")
    ome = dict(group.attrs)["ome"]
    ome["multiscales"][0]["datasets"][1]["coordinateTransformations"] = [{"type": "affine", "affine": []}]
    group.attrs["ome"] = ome
    error = run("reverse", "in.ome.zarr", "--axes", "x", "-o", "out.ome.zarr", code=1)
    assert '"affine" cannot be mended' in error and not (folder / "out.ome.zarr").exists()


def by_ome_zarr(path):
    """What the reader of ome-zarr finds: for each image and level, the pixels and the world coordinates along each axis."""
    images = []
    for node in Reader(parse_url(path))():
        if not node.data:
            continue  # the list of labels
        levels = []
        for level, transforms in zip(node.data, node.metadata["coordinateTransformations"], strict=True):
            world = [np.arange(size, dtype="f8") for size in level.shape]
            for transform in transforms:
                for axis, coordinates in enumerate(world):
                    if transform["type"] == "scale":
                        coordinates *= transform["scale"][axis]
                    else:
                        coordinates += transform["translation"][axis]
            levels.append((level.compute(), world))
        images.append(levels)
    return images


@pytest.mark.parametrize("axis", [1, 2], ids=["y", "x"])
@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("case", CASES)
def test_a_reader_sees_the_mirrored_image(folder, case, version, axis):
    """By ome-zarr: every pixel of every level is at the mirror image of its place, and nothing else moved."""
    pyramid("in.ome.zarr", version, *CASES[case], labels=True)
    (folder / "in.ome.zarr/labels").mkdir(exist_ok=True)
    group = zarr.open_group("in.ome.zarr", mode="r+")
    listed = {"labels": ["cells"]}
    group["labels"].attrs.update(listed if version == "0.4" else {"ome": listed | {"version": "0.5"}})
    zarr.consolidate_metadata("in.ome.zarr")
    run("reverse", "in.ome.zarr", "--axes", "yx"[axis - 1], "-o", "out.ome.zarr")
    before, after = by_ome_zarr("in.ome.zarr"), by_ome_zarr("out.ome.zarr")
    assert len(before) == len(after) == 2, "the image and its labels"
    _, first = before[0][0]
    mirror = first[axis][0] + first[axis][-1]
    for old, new in zip(before, after):
        assert len(old) == len(new)
        for (pixels, world), (mirrored, there) in zip(old, new):
            for other in range(3):
                expected = mirror - world[other][::-1] if other == axis else world[other]
                assert np.allclose(there[other], expected, rtol=0, atol=1e-9)
            assert same(mirrored, np.flip(pixels, axis))
