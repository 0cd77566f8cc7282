#!/usr/bin/env python3
"""Draws docs/images/latitude.svg: a dataset before and after its latitude is flipped.

    docs/images/latitude.py

Needs the Python package, xarray and matplotlib. The temperatures are a formula, so that the picture is
the same each time.
"""

from pathlib import Path

import matplotlib
import numpy as np
import xarray as xr

import retrograde.xarray  # noqa: F401

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "retrograde", "svg.fonttype": "none", "font.size": 9})
import matplotlib.pyplot as plt  # noqa: E402


def sample():
    """Surface temperatures, as many models write them: from north to south."""
    lat, lon = np.arange(87.5, -90, -5), np.arange(2.5, 360, 5)
    warm = 30 * np.cos(np.radians(lat))[:, None] ** 1.5 - 5
    land = 6 * np.sin(np.radians(2 * lon + lat[:, None])) * np.cos(np.radians(lat))[:, None]
    values = (warm + land - 12 * (lat < -65)[:, None]).astype(np.float32)
    return xr.Dataset(
        {"t2m": (("lat", "lon"), values, {"units": "°C"})},
        {"lat": ("lat", lat, {"units": "degrees_north"}), "lon": ("lon", lon)},
    )


def main():
    before = sample()
    after = before.retrograde.flip("lat")
    assert after.sel(lat=-87.5).equals(before.sel(lat=-87.5))
    figure, axes = plt.subplots(2, 2, figsize=(8, 4.6), layout="constrained", width_ratios=[3, 2])
    for (grid, profile), x, title in zip(axes, (before, after), ("before", 'after flip("lat")'), strict=True):
        # As stored: row 0 is at the top.
        grid.imshow(x.t2m, cmap="coolwarm", vmin=-30, vmax=30, aspect="auto", interpolation="none")
        grid.set(title=f"{title}: rows as stored", ylabel="row", xlabel="column")
        for row in (0, 17, 35):
            grid.annotate(f"lat[{row}] = {float(x.lat[row]):g}", (1, row), va=["top", "center", "bottom"][row // 17])
        profile.plot(x.lat, x.t2m.mean("lon"), color="#e8590c")
        profile.set(title="by label: unchanged", xlabel="lat", ylabel="mean t2m, °C", xlim=(-90, 90))
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
