"""rten, a runtime in Rust. No package of it exists for Python, so this only says what to do."""

from protocol import serve


def start():
    raise ModuleNotFoundError("no Python package has it")


if __name__ == "__main__":
    serve("rten", ["ReverseSequence"], start, "write a program with the crate rten that speaks the protocol")
