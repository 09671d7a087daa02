# Measures what a call from Python costs, beside NumPy and PyTorch, and prints a table.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT
#
# The cases take turns, so that a disturbance meets all of them; the median of the rounds is
# printed. Not a test: nothing here can fail by being slow.

import statistics
import sys
import timeit

import keyway as kw

import support
from support import helper

np = support.numpy()
ROUNDS, CALLS = 101, 1000
kept = []  # libraries without references would close themselves


def cases():
    """Yields (name, function): each one call on tensors of three numbers, or on an int."""
    d = kw.Dispatcher()
    lib = kw.Library("m", dispatcher=d)
    kept.append(lib)
    helper().plain(d, "m::same(int x) -> int")
    helper().mul(d, "m::mul(Tensor a, Tensor b) -> Tensor")
    lib.define("python(int x) -> int")
    lib.impl("python", None, lambda x: x)
    lib.define("tensor(Tensor a, Tensor b) -> Tensor")
    lib.impl("tensor", "CPU", lambda a, b: a)
    t = kw.empty(3, dtype="float64")
    t[...] = 1.5

    def nothing(a, b):
        return a

    same, mul = d.operator("m::same"), d.operator("m::mul")
    python, tensor = d.operator("m::python"), d.operator("m::tensor")
    packet = d.ops.m.mul
    yield "a Python function of two arguments", lambda: nothing(t, t)
    yield "C kernel, int -> int", lambda: same(1)
    yield "C kernel, Tensor x Tensor -> Tensor", lambda: mul(t, t)
    yield "the same by name, d.ops.m.mul(a, b)", lambda: packet(t, t)
    yield "Python kernel, int -> int", lambda: python(1)
    yield "Python kernel, Tensor x Tensor -> Tensor", lambda: tensor(t, t)
    if np is not None:
        a = np.ones(3)
        yield "numpy.multiply(a, b)", lambda: np.multiply(a, a)
        yield "C kernel, called with NumPy arrays", lambda: mul(a, a)
    if "--with-torch" in sys.argv:
        import torch

        torch.set_num_threads(1)
        x = torch.ones(3, dtype=torch.float64)
        aten_mul = torch.ops.aten.mul.Tensor
        yield "torch.mul(a, b)", lambda: torch.mul(x, x)
        yield "torch.ops.aten.mul.Tensor(a, b)", lambda: aten_mul(x, x)
        library = torch.library.Library("m", "DEF")
        kept.append(library)
        library.define("python(int x) -> int")
        library.impl("python", lambda x: x, "CompositeImplicitAutograd")
        theirs = torch.ops.m.python.default
        yield "torch: Python kernel, int -> int", lambda: theirs(1)


def main():
    found = list(cases())
    times = {name: [] for name, _ in found}
    for _ in range(ROUNDS):
        for name, function in found:
            times[name].append(timeit.timeit(function, number=CALLS) / CALLS * 1e9)
    overhead = statistics.median(times[found[0][0]])
    for name, values in times.items():
        print(f"{statistics.median(values):8.0f} ns  (least {min(values):6.0f})  {name}")
    print(f"of each, {overhead:.0f} ns are the loop's and a Python function's")


if __name__ == "__main__":
    main()
