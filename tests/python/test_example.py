# The examples of docs/python.md, which are cut out of this file.
#
# Layer:   test
# Threads: one, and one more where an example has it.
# SPDX-License-Identifier: MIT

import contextlib
import io
import unittest

import keyway as kw

import support

np = support.numpy()


@unittest.skipIf(np is None, "NumPy is missing")
class ExampleTest(unittest.TestCase):
    def setUp(self):
        self.out = io.StringIO()
        redirect = contextlib.redirect_stdout(self.out)
        redirect.__enter__()
        self.addCleanup(redirect.__exit__, None, None, None)

    def printed(self, *lines):
        self.assertEqual(self.out.getvalue().splitlines(), list(lines))

    def test_first(self):
        # snippet: first
        import keyway as kw
        import numpy as np

        d = kw.Dispatcher()  # or kw.default, the one of the process
        lib = kw.Library("my", dispatcher=d)
        lib.define("mul(Tensor a, Tensor b) -> Tensor")

        @lib.impl("mul", "CPU")
        def mul_cpu(a, b):
            return kw.asarray(np.multiply(np.asarray(a), np.asarray(b)))

        y = d.ops.my.mul(np.arange(3.0), np.full(3, 2.0))
        print(y, y.tolist())
        # end of snippet
        self.printed("Tensor(shape=(3,), dtype=float64, device='cpu') [0.0, 2.0, 4.0]")

    def library(self):
        d = kw.Dispatcher()
        lib = kw.Library("my", dispatcher=d)
        lib.define("scale(Tensor x, float factor=2.0, *, str? note=None) -> Tensor")
        lib.impl("scale", "CPU", lambda x, factor, *, note: kw.asarray(np.asarray(x) * factor))
        return d, lib, np.ones(2)

    def test_layers(self):
        d, lib, x = self.library()
        # snippet: layers
        scale = d.ops.my.scale.default

        @lib.impl("scale", "AutogradCPU", with_keyset=True)
        def scale_autograd(keys, x, factor, *, note):
            below = keys & kw.KeySet.full_after("AutogradCPU")
            return scale.redispatch(below, x, factor, note=note)

        traces = kw.Library("_", "impl", dispatcher=d)

        @traces.fallback("Tracer", with_keyset=True)
        def trace(keys, op, *args, **kwargs):
            print("calls", op.name)
            return op.redispatch(keys & kw.KeySet.full_after("Tracer"), *args, **kwargs)

        with kw.include("Tracer"):
            d.ops.my.scale(x, 3.0)
        print(scale.explain("CPU", "AutogradCPU").splitlines()[-1].strip())
        # end of snippet
        self.printed("calls my::scale",
                     "direct: A kernel registered for exactly this key wins, even if it is a "
                     "fallthrough.")

    def test_change(self):
        d, lib, x = self.library()
        # snippet: change
        first = lib.impl("scale", "CPU", lambda x, factor, *, note: x)

        with d.transaction() as tx:  # visible at one instant, for every thread
            tx.remove(first)
            tx.define(lib, "twice(Tensor x) -> Tensor")
            tx.impl(lib, "twice", "CPU", lambda x: d.ops.my.scale(x, 2.0))

        with kw.snapshot():  # this thread sees the registry as it is here
            lib.impl("scale", "CPU", kw.fallthrough)
            print(d.ops.my.scale(x, 3.0).tolist())

        lib.close()  # takes everything back; calls that run go on
        lib.drain(10)  # seconds: until nothing of it is in use
        # end of snippet
        self.printed("[3.0, 3.0]")

    def test_memory(self):
        # snippet: memory
        array = np.arange(6.0).reshape(2, 3)
        t = kw.from_dlpack(array)  # anything with __dlpack__
        t[0, 1:] = 9.0
        same = np.asarray(t.T)  # a buffer: writable, strides and all
        print(array[0].tolist(), same.shape, same.ctypes.data == array.ctypes.data, t.version)
        # end of snippet
        self.printed("[0.0, 9.0, 9.0] (3, 2) True 1")

    def test_errors(self):
        d, lib, x = self.library()
        # snippet: errors
        @lib.impl("scale", "CUDA")
        def scale_cuda(x, factor, *, note):
            raise RuntimeError("out of memory")

        try:
            d.ops.my.scale.default.call_for_key("CUDA", x)
        except RuntimeError as error:
            print(error, error.__notes__)

        try:
            d.ops.my.scale(x, "three")
        except TypeError as error:
            print(error)

        try:
            d.operator("my::nothing")
        except kw.NotFound as error:
            print(error.name, error.status)
        # end of snippet
        self.printed("out of memory ['in `my::scale`']",
                     "my::scale: argument 'factor' (position 2): expected float, but got str",
                     "KW_NOT_FOUND 5")

    def test_plugin(self):
        d = kw.Dispatcher()
        fast, faster = support.plugin(1), support.plugin(2)
        # snippet: plugin
        p = d.load_plugin(fast)
        print(d.ops.py_plugin.number(3), p.version)
        p.replace(faster, drain=5, keep_previous=True)  # while calls run
        print(d.ops.py_plugin.number(3), p.version)
        p.rollback()
        p.unload(10)
        # end of snippet
        self.printed("3000001 1.0", "3000002 2.0")

    def test_events(self):
        d, lib, x = self.library()
        # snippet: events
        with d.listen(lambda event: print(event.kind, event.op, event.key)):
            lib.impl("scale", "Meta", lambda x, factor, *, note: x)

        seen = []
        with d.observe(lambda o: o.args, lambda o, args: seen.append((o.name, args[1], o.status)),
                       only=["my::scale"], inputs=True):
            d.ops.my.scale(x)
        print(seen)
        # end of snippet
        self.printed("defined my::scale Undefined", "kernel my::scale Meta",
                     "[('my::scale', 2.0, 0)]")


if __name__ == "__main__":
    support.main()
