"""A bidirectional GRU over a padded batch, made by hand of two GRUs and `reverse_sequence`.

The second GRU must read every sequence from its own last step to its first, not from the padding:
so the batch is reversed by lengths before it and its outputs after it. PyTorch's own bidirectional GRU
on packed sequences, with the same weights, must give the same outputs, and a training step must change
the weights in the same way: gradients flow through the reversal, which is its own gradient.
"""

import retrograde.torch
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

STEPS, FEATURES, HIDDEN = 12, 5, 8
LENGTHS = torch.tensor([12, 7, 1, 9, 3, 12])


class Bidirectional(nn.Module):
    """Two GRUs, one of which reads backwards; time is the first axis, the batch the second."""

    def __init__(self, features, hidden):
        super().__init__()
        self.forwards = nn.GRU(features, hidden)
        self.backwards = nn.GRU(features, hidden)

    def forward(self, x, lengths):
        ahead, _ = self.forwards(x)
        turned = retrograde.torch.reverse_sequence(x, lengths)
        back, _ = self.backwards(turned)
        return torch.cat([ahead, retrograde.torch.reverse_sequence(back, lengths)], dim=-1)

    def take_weights(self, gru):
        """Those of PyTorch's own bidirectional GRU."""
        for name, own in self.forwards.named_parameters():
            own.data.copy_(getattr(gru, name))
        for name, own in self.backwards.named_parameters():
            own.data.copy_(getattr(gru, f"{name}_reverse"))


def packed(gru, x, lengths):
    """PyTorch's way."""
    outputs, _ = gru(pack_padded_sequence(x, lengths, enforce_sorted=False))
    return pad_packed_sequence(outputs, total_length=len(x))[0]


def main():
    torch.manual_seed(1)
    theirs = nn.GRU(FEATURES, HIDDEN, bidirectional=True)
    ours = Bidirectional(FEATURES, HIDDEN)
    ours.take_weights(theirs)

    x = torch.randn(STEPS, len(LENGTHS), FEATURES, requires_grad=True)
    target = torch.randn(STEPS, len(LENGTHS), 2 * HIDDEN)
    # 1 where a sequence has a step, 0 on its padding, where PyTorch gives zeros and we give anything.
    valid = (torch.arange(STEPS)[:, None] < LENGTHS)[..., None]

    outputs = ours(x, LENGTHS) * valid
    expected = packed(theirs, x, LENGTHS)
    apart = (outputs - expected).abs().max().item()
    print(f"outputs of {STEPS} steps, lengths {LENGTHS.tolist()}: at most {apart:.1e} from PyTorch's")
    torch.testing.assert_close(outputs, expected)

    # Without lengths the second GRU starts in the padding, and every shorter sequence is wrong.
    wrong, _ = ours.backwards(x.flip(0))
    wrong = (wrong.flip(0) * valid - expected[..., HIDDEN:]).abs().amax(dim=(0, 2))
    print(f"with x.flip(0) instead, by sequence: {[round(error, 2) for error in wrong.tolist()]}")
    assert all((error > 1e-3) == (length < STEPS) for error, length in zip(wrong, LENGTHS, strict=True))

    def loss_of(result):
        return ((result - target) * valid).square().sum() / valid.sum()

    # One step of training each.
    gradients = []
    for model, result in ((ours, outputs), (theirs, expected)):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = loss_of(result)
        (gradient,) = torch.autograd.grad(loss, x, retain_graph=True)
        gradients.append(gradient)
        loss.backward()
        optimizer.step()
    torch.testing.assert_close(gradients[0], gradients[1])
    assert torch.all(gradients[0] * ~valid == 0), "padding has no influence"
    for name, own in ours.forwards.named_parameters():
        torch.testing.assert_close(own, getattr(theirs, name))
    for name, own in ours.backwards.named_parameters():
        torch.testing.assert_close(own, getattr(theirs, f"{name}_reverse"))
    after, theirs_after = loss_of(ours(x, LENGTHS)), loss_of(packed(theirs, x, LENGTHS))
    print(f"one training step: loss {loss:.4f} -> {after:.4f}, PyTorch's own {theirs_after:.4f}")
    torch.testing.assert_close(after, theirs_after)
    assert after < loss


if __name__ == "__main__":
    main()
