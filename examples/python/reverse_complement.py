"""The reverse complement of a padded batch of DNA reads.

Reads of different lengths lie in one array of ASCII codes, one per row, with padding behind them.
The other strand of each, read in its own direction, is every base complemented and the read
reversed; the padding must stay behind it.
"""

import random

import numpy as np
import retrograde

PAD = ord("-")


def batch(reads):
    """Reads as rows of equal width, and how long each is."""
    lengths = np.array([len(read) for read in reads])
    rows = np.full((len(reads), lengths.max(initial=0)), PAD, np.uint8)
    for row, read in zip(rows, reads, strict=True):
        row[: len(read)] = np.frombuffer(read.encode("ascii"), np.uint8)
    return rows, lengths


def reverse_complement(rows, lengths):
    """One pass; the padding stays."""
    return retrograde.reverse_complement(rows, lengths=lengths)


def text(rows):
    return [row.tobytes().decode("ascii") for row in rows]


def in_plain_python(read):
    return read[::-1].translate(str.maketrans("ACGTN", "TGCAN"))


def main():
    rows, lengths = batch(["GATTACA", "ACGT", "", "TTTTTCCN"])
    result = text(reverse_complement(rows, lengths))
    for before, after in zip(text(rows), result, strict=True):
        print(f"{before}  ->  {after}")
    # The second is its own reverse complement: what biology calls a palindrome.
    assert result == ["TGTAATC-", "ACGT----", "--------", "NGGAAAAA"]

    random.seed(1)
    reads = ["".join(random.choices("ACGTN", k=random.randint(0, 150))) for _ in range(20_000)]
    rows, lengths = batch(reads)
    result = reverse_complement(rows, lengths)
    expected, _ = batch([in_plain_python(read) for read in reads])
    assert np.array_equal(result, expected)
    assert np.array_equal(reverse_complement(result, lengths), rows)
    print(f"{len(reads)} reads of up to {rows.shape[1]} bases: as in plain Python, and back again")


if __name__ == "__main__":
    main()
