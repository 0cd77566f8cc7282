"""Many Python threads at once: the plan cache, prepared calls, classes that are new, lengths that change."""

import threading

import numpy as np
import pytest
import retrograde
from together import together

@pytest.mark.parametrize("size", [64, 30_000, 600_000])
def test_calls_of_their_own(size):
    # Plans of the cache, outputs that are kept, and the pool, which other threads change meanwhile.
    def work(number):
        rng = np.random.default_rng(number)
        for turn in range(60):
            x = rng.integers(0, 99, (1 + turn % 7, size // 8), np.int16)
            lengths = rng.integers(0, x.shape[1] + 1, x.shape[0])
            assert np.array_equal(retrograde.reverse(x), x[::-1, ::-1])
            y = retrograde.reverse_sequence(x, lengths, time_axis=1, batch_axis=0)
            for row, given, length in zip(y, x, lengths, strict=True):
                assert np.array_equal(row[:length], given[:length][::-1])
                assert np.array_equal(row[length:], given[length:])
            if turn % 20 == number:
                retrograde.set_num_threads(1 + number % 3)
                retrograde.config.kept_memory = number << 20

    try:
        together(work)
    finally:
        retrograde.set_num_threads(None)
        retrograde.config.kept_memory = None


def test_one_prepared_call():
    x = np.arange(12_000, dtype=np.float32).reshape(3, 4000)
    prepared = retrograde.prepare("reverse_sequence", x, [4000, 10, 0], time_axis=1, batch_axis=0)
    wanted = prepared(x)

    def work(number):
        for turn in range(200):
            assert np.array_equal(prepared(x), wanted)
            other = prepared(x, [turn, 0, 1])
            assert np.array_equal(other[0, :turn], x[0, :turn][::-1])

    together(work)


def test_classes_that_are_new():
    # The first calls on a class look it up, in tables that all threads share.
    def work(number):
        for turn in range(50):
            kind = type(f"Own{number}_{turn}", (np.ndarray,), {})
            x = np.arange(5).view(kind)
            assert type(retrograde.reverse(x)) is kind and retrograde.flip(x).tolist() == [4, 3, 2, 1, 0]
            with retrograde.config(hint="read-soon"):
                assert retrograde.reverse([turn, number]).tolist() == [number, turn]

    together(work)


def test_lengths_that_change():
    # The result depends on when they are read; every value is one that was there.
    x, lists, long = np.arange(8.0).reshape(4, 2), [4, 4], np.full(1 << 18, 2)
    wide = np.arange(2 << 18, dtype=np.uint8).reshape(2, -1)
    stop = threading.Event()

    def work(number):
        if number == 0:
            for turn in range(300):
                lists[turn % 2] = turn % 5
                long[turn::97] = turn % 3
                lists.append(0), lists.pop()
            stop.set()
        while not stop.is_set():
            try:
                y = retrograde.reverse_sequence(x, lists)
                assert sorted(y.ravel()) == list(range(8))
            except ValueError as error:
                # Between the two, there are three.
                assert "3" in str(error)
            retrograde.reverse_sequence(wide, long)

    together(work)
