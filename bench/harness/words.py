"""Numbers formatted for people."""


def size(count):
    for unit in ["B", "KiB", "MiB"]:
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


def time(seconds):
    for unit, scale in [("s", 1), ("ms", 1e3), ("us", 1e6)]:
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(value):
    return f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"


def ratio_spread(row):
    return f"{ratio(row['ratio'])} ({ratio(row['low'])}-{ratio(row['high'])})"
