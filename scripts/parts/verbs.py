"""The parts of scripts/test, check, build and setup: a table of them, and what the four programs do with it.

A part is an executable file `VERB/NAME` beside this one. It exits with 0 if all that ran passed, and with 77 if nothing
could run because something is missing; then it prints `skipped: REASON`.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

PARTS = Path(__file__).resolve().parent
ROOT = PARTS.parents[1]
SKIPPED = 77
# Measurements, which no test reads.
RECORDS = "bench/record/"


class Part(NamedTuple):
    verb: str
    name: str
    minutes: int  # on two cores, with nothing compiled
    does: str
    needs: str = ""
    # Changes to these lead to the part: folders (with a slash at the end) and patterns, in which * covers slashes too.
    paths: str = ""

    @property
    def file(self):
        return PARTS / self.verb / self.name

    def covers(self, path):
        return any(path.startswith(at) if at.endswith("/") else fnmatchcase(path, at) for at in self.paths.split())


# What is needed everywhere is not repeated: a Rust toolchain, python3, and registries of packages.
TABLE = [
    Part("test", "everyday", 10, "format, imports, lints, Rust and Python tests, a sample of the conformance suite on every backend, documents, comparison with other runtimes",
         paths="crates/ conformance/ examples/ bench/ fuzz/seeds/ fuzz/bodies/ fuzz/make_seeds.py scripts/ .ci/ .github/ README.md "
               "docs/architecture.md docs/cuda.md docs/dask.md docs/python.md docs/rust.md docs/sharding.md docs/torch.md "
               "Cargo.toml Cargo.lock pyproject.toml rustfmt.toml .gitignore LICENSE-*"),
    Part("test", "rust", 6, "what of the everyday tests needs no Python packages"),
    Part("test", "long", 25, "the whole conformance suite on every backend, all file formats and opsets, files larger than memory, documentation of the crates",
         paths="crates/retrograde/ crates/io/ crates/cuda/ crates/c/ crates/cli/ crates/picture/ conformance/suite/ conformance/truth/ conformance/peers/"),
    Part("test", "c", 2, "the installed C library: pkg-config, CMake, the examples under valgrind and AddressSanitizer", "cc, c++; valgrind", "crates/c/"),
    Part("test", "cuda", 5, "the CUDA kernels simulated on the CPU; with a device, the whole suite, device tests and compute-sanitizer", "c++; an NVIDIA GPU", "crates/cuda/"),
    Part("test", "emulated", 20, "engine, file formats and a sample of the suite on aarch64 (NEON) and s390x (big-endian)", "setup emulators",
         "crates/retrograde/src/cpu/ crates/retrograde/src/plan/ crates/io/src/"),
    Part("test", "frameworks", 20, "PyTorch, TensorFlow, a cluster of Dask, the example scripts, models that frameworks export", "gigabytes of packages",
         "crates/python/ crates/torch/ examples/python/ examples/torch/ docs/torch.md conformance/peers/exported.py"),
    Part("test", "hosts", 10, "the crates for candle and tract, and their examples", "", "crates/candle/ crates/tract/ docs/hosts.md"),
    Part("test", "kit", 5, "the conformance kit with ONNX's runner, MLIR's parser, ONNX Runtime, OpenVINO and XLA; its report page", "chromium", "conformance/kit/ conformance/reports/"),
    Part("test", "macos", 5, "macOS on both processors: type-checked, and the command linked; nothing is run", "setup zig", "crates/io/src/ crates/program/ crates/cli/src/ crates/c/src/"),
    Part("test", "onnxruntime", 5, "the execution provider with ONNX Runtime 1.23, 1.24 and 1.31", "", "crates/onnxruntime/ crates/python/*/*onnxruntime*"),
    Part("test", "targets", 60, "emulated, windows, macos and web in turn, with a dated line for the record of each", "what these need"),
    Part("test", "versions", 30, "the oldest and newest NumPy, PyTorch, JAX, ONNX Runtime, OpenVINO, Dask, xarray and zarr", "gigabytes of packages",
         "scripts/parts/versions.py scripts/parts/versions.toml crates/python/python/"),
    Part("test", "web", 5, "the browser package in node, and the playground in Chromium", "setup web; node, chromium", "crates/web/ docs/playground/"),
    Part("test", "wgpu", 10, "the wgpu backend: a sample of the suite on a GPU or lavapipe, its program, Python, WebAssembly", "an adapter", "crates/wgpu* conformance/wgpu/ docs/wgpu.md crates/python/*/*wgpu*"),
    Part("test", "windows", 15, "for Windows under wine: the command, Rust tests, a sample of the suite, the wheel and its Python tests", "setup wine windows-python; root",
         "crates/io/src/ crates/program/ crates/cli/src/ crates/python/src/"),
    Part("test", "zarr", 13, "Zarr and HDF5: stores that other libraries write and read, object stores, killed at random points", "", "crates/zarr/ crates/whole/ fuzz/zarr/"),
    Part("check", "api", 2, "the public items of the engine are those of crates/retrograde/public-api.txt", "setup nightly cargo-public-api", "crates/retrograde/src/ crates/retrograde/public-api.txt"),
    Part("check", "asan", 17, "every instruction set, and other crates with unsafe code, under AddressSanitizer", "setup nightly",
         "crates/retrograde/src/ crates/c/src/ crates/io/src/ crates/cuda/src/ crates/onnxruntime/src/ crates/deadline/src/ fuzz/bodies/"),
    Part("check", "asan-python", 15, "the extension module under AddressSanitizer", "setup nightly; c++, .venv", "crates/python/src/"),
    Part("check", "audit", 1, "licences, sources and known vulnerabilities of every lock file", "setup cargo-deny", "*Cargo.toml *Cargo.lock deny.toml"),
    Part("check", "docs", 1, "links, paths, lists of pages and commands, and examples of the command", "", "*.md docs/"),
    Part("check", "docsrs", 20, "the documentation of every published crate, as docs.rs builds it", "setup nightly", "crates/*/Cargo.toml"),
    Part("check", "fuzz", 60, "every fuzz target for five minutes, with libFuzzer under AddressSanitizer", "setup nightly cargo-fuzz; c++",
         "crates/io/src/ crates/directml/ crates/zarr/src/ fuzz/ .clusterfuzzlite/"),
    Part("check", "imports", 1, "no circles of imports; crates as docs/architecture.md says"),
    Part("check", "kernels", 5, "the embedded CUDA kernels are those of the sources", "", "crates/cuda/kernels/"),
    Part("check", "limits", 10, "the size of the wheel, and how long its import takes", "setup release", "crates/python/python/retrograde/__init__.py"),
    Part("check", "miri", 40, "undefined behaviour in the engine and the C interface, 64- and 32-bit, on the portable level", "setup nightly", "crates/retrograde/src/ crates/c/src/"),
    Part("check", "oldest", 15, "the published crates with the oldest Rust and the oldest dependencies that they accept", "setup oldest nightly", "*Cargo.toml"),
    Part("check", "onnxruntime-api", 1, "our declarations of ONNX Runtime's interface against its headers", "ONNXRUNTIME_HEADERS=FOLDER", "crates/onnxruntime/src/ffi/"),
    Part("check", "parts", 1, "this table, the workflows, and names of scripts anywhere", "git"),
    Part("check", "release", 90, "every artifact of a release, installed in an empty environment", "setup release web; roots, wine, windows-python",
         "scripts/release scripts/parts/release/ release.toml packaging/ CITATION.cff pyproject.toml crates/*/Cargo.toml"),
    Part("check", "reproducible", 150, "two builds of a release in two folders are the same bytes", "setup release web", "scripts/release scripts/parts/release/"),
    Part("check", "semver", 5, "the public items of libraries against the last tag", "setup cargo-semver-checks"),
    Part("check", "speed", 20, "the speed against the last tag"),
    Part("check", "spelling", 1, "the spelling of code and documents"),
    Part("check", "tsan", 3, "data races: the thread pool, shared plans and a conformance sample under ThreadSanitizer", "setup nightly",
         "crates/retrograde/src/cpu/schedule/ crates/retrograde/src/cpu/memory.rs crates/retrograde/src/prepared.rs crates/c/src/"),
    Part("check", "valgrind", 5, "a sample of the conformance suite under memcheck", "valgrind", "crates/retrograde/src/cpu/"),
    Part("build", "c", 3, "the C library, installed: c PREFIX [--without-cuda]"),
    Part("build", "headers", 3, "the headers of the C interface"),
    Part("build", "kernels", 5, "the embedded CUDA kernels: kernels [--check | --report]"),
    Part("build", "openvino", 3, "the native extension for OpenVINO: openvino [PYTHON]", "g++"),
    Part("build", "sizes", 20, "the command for release on every target, with its size: sizes [TARGET]...", "setup emulators wine zig"),
    Part("build", "torch", 1, "the native library for PyTorch: torch [PYTHON]", "g++"),
    Part("build", "web", 3, "the browser package and the playground: web [package]", "setup web"),
    Part("build", "wgpu", 5, "the library of retrograde.wgpu: wgpu [PYTHON]"),
    Part("setup", "cargo-deny", 5, "cargo-deny, for check audit"),
    Part("setup", "cargo-fuzz", 2, "cargo-fuzz, for check fuzz"),
    Part("setup", "cargo-public-api", 3, "cargo-public-api, for check api", "setup nightly"),
    Part("setup", "cargo-semver-checks", 6, "cargo-semver-checks, for check semver"),
    Part("setup", "emulators", 2, "QEMU and cross linkers, for test emulated", "Debian or Ubuntu"),
    Part("setup", "nightly", 1, "a nightly toolchain, for miri, the sanitizers, fuzz and api", "rustup"),
    Part("setup", "oldest", 1, "the oldest Rust that Cargo.toml names, for check oldest", "rustup"),
    Part("setup", "release", 8, "cargo-auditable, cargo-cyclonedx, mdbook and Rust's targets, for scripts/release"),
    Part("setup", "roots", 8, "libraries and Pythons of other kinds of Linux, for scripts/release", "Debian"),
    Part("setup", "web", 3, "wasm-bindgen, wasm-opt, playwright and TypeScript, for build web and test web", "npm"),
    Part("setup", "windows-python", 1, "a Python for Windows, for test windows", "setup wine; root"),
    Part("setup", "wine", 3, "wine and a linker, for test windows", "Debian, root"),
    Part("setup", "zig", 1, "zig, for test macos", "rustup"),
]  # fmt: skip


def parts_of(verb):
    return [part for part in TABLE if part.verb == verb]


def show(parts):
    """Prints rows of the table."""
    for part in parts:
        print(f"{part.name:16}{part.minutes:3} min  {part.does}")
        for word, text in (("needs", part.needs), ("paths", part.paths)):
            if text:
                print(f"{'':25}{word}: {text}")


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def steps(script):
    """Runs functions of the file that the parts in bash share; what they print to standard output."""
    done = subprocess.run(["bash", "-c", f'. "$0"; {script}', PARTS / "steps"], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def command_path():
    """The command, built with the selection of the other tests."""
    return Path(steps('programs >&2; echo "$retrograde"'))


def changed(base):
    """Paths that differ from a commit, in the working tree or since; without one, from where the branch left main.
    On main itself, from the commit before."""
    if not base:
        base = "HEAD~" if git("branch", "--show-current") == "main" else git("merge-base", "HEAD", "main")
    # Both names of a file that moved.
    found = git("diff", "--name-only", "--no-renames", base) + "\n" + git("ls-files", "--others", "--exclude-standard")
    return base, sorted(path for path in found.splitlines() if path and not path.startswith(RECORDS))


def leading(paths, table=TABLE):
    """The parts that changes to these paths lead to; a path that no row covers leads to the everyday tests."""
    wanted = {part for part in table for path in paths if part.covers(path)}
    if not all(any(part.covers(path) for part in table) for path in paths):
        wanted.add(table[0])
    return [part for part in table if part in wanted]


def command(part, arguments):
    """How to start a part. Windows does not read the first line of a script."""
    if os.name != "nt":
        return [str(part.file), *arguments]
    interpreter = part.file.read_text(encoding="utf-8").splitlines()[0].replace("/", " ").split()[-1]
    return [shutil.which(interpreter), str(part.file), *arguments]


def run(parts, arguments=()):
    """Runs parts in turn; the status to exit with. That of a single one is its own."""
    if len(parts) == 1:
        if os.name != "nt":
            os.execv(parts[0].file, command(parts[0], arguments))
        return subprocess.run(command(parts[0], arguments)).returncode
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    ended = {"passed": [], "failed": [], "skipped": []}
    for part in parts:
        print(f"\n==== scripts/{part.verb} {part.name}", flush=True)
        start = time.monotonic()
        with subprocess.Popen(command(part, ())) as process:
            try:
                status = process.wait()
            except BaseException:
                process.terminate()
                raise
        kind = {0: "passed", SKIPPED: "skipped"}.get(status, "failed")
        ended[kind].append(f"{part.verb} {part.name} ({(time.monotonic() - start) / 60:.1f} min)")
    print("\n" + "; ".join(f"{kind}: {', '.join(names)}" for kind, names in ended.items() if names))
    return 1 if ended["failed"] else 0 if ended["passed"] else SKIPPED


def named(verb, words):
    """The parts of these names. A wrong name ends the program with the list of the right ones."""
    known = {part.name: part for part in parts_of(verb)}
    if wrong := [word for word in words if word not in known]:
        print(f"scripts/{verb}: there is no part {wrong[0]}; there are:", file=sys.stderr)
        print(*(f"    {part.name:16} {part.does}" for part in known.values()), sep="\n", file=sys.stderr)
        sys.exit(2)
    return [known[word] for word in words]


def main(verb, usage, words):
    """What a program does with its arguments."""
    if "--help" in words or "-h" in words:
        print(usage.strip())
        return 0
    if words[:1] == ["--changed"]:
        dry = {"--dry-run", "--list"} & set(words)
        base, paths = changed(next(iter(word for word in words[1:] if word not in dry), None))
        parts = leading(paths)
        print(f"{len(paths)} paths differ from {base}: {sum(part.minutes for part in parts)} minutes or less")
        for part in parts:
            print(f"    scripts/{part.verb} {part.name}")
        return 0 if dry or not parts else run(parts)
    if words[:1] == ["--list"] or not words and verb != "test":
        show(parts_of(verb))
        return 0
    if verb == "build":
        # One part, and arguments of its own.
        return run(named(verb, words[:1]), words[1:])
    names, arguments = words, []
    if "--" in words:
        at = words.index("--")
        names, arguments = words[:at], words[at + 1 :]
        if len(names) != 1:
            sys.exit(f"scripts/{verb}: arguments after -- are for one part")
    return run(named(verb, names or ["everyday"]), arguments)


def start(verb, usage):
    try:
        sys.exit(main(verb, usage, sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        sys.exit(f"scripts/{verb}: {error}\n{error.stderr or ''}".rstrip())
