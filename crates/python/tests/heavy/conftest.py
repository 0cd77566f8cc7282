"""With RETROGRADE_TESTS_WITHOUT_PRIVATE set, tests run as if PyTorch had no name that it does not document."""

import os

if os.environ.get("RETROGRADE_TESTS_WITHOUT_PRIVATE"):
    # The native library needs none of them.
    os.environ["RETROGRADE_TORCH"] = "python"
    from retrograde import _kinds, _torch_private

    _torch_private.find = lambda path: None
    del _kinds._is_torch._dynamo_marked_constant
