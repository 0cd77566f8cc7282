"""``reverse_packed``: every sequence of a packed batch of ``torch.nn.utils.rnn``, without padding."""

import torch
from torch.nn.utils.rnn import PackedSequence


def reverse_packed(packed: PackedSequence) -> PackedSequence:
    """Reverses every sequence of a packed batch.

    The steps of all sequences are one tensor, in which those of each time are together; one pass moves them. There is
    no padding, and the gradient is PyTorch's.

    >>> from torch.nn.utils.rnn import pack_sequence, unpack_sequence
    >>> packed = pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5])])
    >>> [sequence.tolist() for sequence in unpack_sequence(retrograde.torch.reverse_packed(packed))]
    [[3, 2, 1], [5, 4]]
    """
    if not isinstance(packed, PackedSequence):
        raise TypeError(f"reverse_packed: packed is a {type(packed).__name__}, expected a torch.nn.utils.rnn.PackedSequence")
    places = _sources(packed.batch_sizes).to(packed.data.device, non_blocking=True)
    return packed._replace(data=packed.data.index_select(0, places))


def _sources(batch_sizes):
    """Where each step comes from; ``batch_sizes`` are how many sequences have each time, and never grow."""
    count = int(batch_sizes[0]) if len(batch_sizes) else 0
    # A sequence has so many steps as there are times with more sequences than are before it.
    lengths = torch.searchsorted(-batch_sizes, -torch.arange(1, count + 1), right=True)
    first = batch_sizes.cumsum(0) - batch_sizes
    time = torch.repeat_interleave(torch.arange(len(batch_sizes)), batch_sizes)
    sequence = torch.arange(len(time)) - first[time]
    return first[lengths[sequence] - 1 - time] + sequence
