# Memory: what goes is gone, cycles too; figures are the same after a thousand rounds.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import gc
import os
import sys
import unittest
import weakref

import keyway as kw

import support

np = support.numpy()
# A sanitizer, which is preloaded, looks at accesses, for which fewer rounds do.
ROUNDS = 1000 if "LD_PRELOAD" not in os.environ else 200
FIGURES = ("memory_bytes", "operator_count", "kernel_count", "retired_count", "tensor_count",
           "storage_count", "external_bytes", "storage_bytes", "python_kernel_count",
           "python_leaving_count")


def figures():
    gc.collect()
    kw.reclaim()
    statistics = kw.statistics()
    return {name: statistics[name] for name in FIGURES} | {"objects": len(gc.get_objects())}


class FlatTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()
        self.lib = kw.Library("m", dispatcher=self.d)
        self.lib.define("f(Tensor x, int[] n=[1, 2], *, str s='a') -> (Tensor, int[], str)")
        self.lib.impl("f", "CPU", lambda x, n, *, s: (x, n, s))
        self.lib.define("any(Any x) -> Any")
        self.lib.impl("any", None, lambda x: x)
        self.t = kw.empty(4)

    def flat(self, function):
        # Until Python's own caches are full.
        for _ in range(ROUNDS // 2):
            function()
        before = figures()
        blocks = sys.getallocatedblocks()
        for _ in range(ROUNDS):
            function()
        self.assertEqual(figures(), before)
        # Blocks of Python's allocator: caches may keep some hundred, a leak would keep a thousand.
        self.assertLess(sys.getallocatedblocks() - blocks, ROUNDS // 2)

    def test_calls(self):
        def call():
            self.d.ops.m.f(self.t, [3, 4, 5], s="b" * 500)
            self.d.ops.m.f(x=self.t)
            self.d.ops.m.any([self, {"a": (1, 2.5)}, 1j, self.t])
            try:
                self.d.ops.m.f(self.t, ["x"])
            except TypeError:
                pass

        self.flat(call)

    def test_failures(self):
        self.lib.define("bad(int x) -> int")

        @self.lib.impl("bad")
        def bad(x):
            raise ValueError("x" * 100)

        def call():
            for wrong in (lambda: self.d.ops.m.bad(1), lambda: self.d.operator("m::none"),
                          lambda: kw.Schema("m::f("), lambda: kw.Key("CPUU")):
                try:
                    wrong()
                except (ValueError, kw.Error):
                    pass

        self.flat(call)

    def test_registrations(self):
        def register():
            with kw.Library("other", dispatcher=self.d) as lib:
                lib.define("g(int x) -> int")
                lib.impl("g", None, lambda x: x)
                lib.impl("g", "CPU", kw.fallthrough)
                self.d.ops.other.g(1)
                with self.d.transaction() as tx:
                    tx.impl(lib, "g", "CUDA", lambda x: x)
                tx = self.d.transaction()
                tx.impl(lib, "g", "CUDA", lambda x: x)
                tx.abort()
            with self.d.listen(lambda event: None):
                pass
            with self.d.observe(lambda seen: seen):
                self.d.ops.m.f(self.t)

        self.flat(register)

    def test_dispatchers(self):
        def make():
            d = kw.Dispatcher()
            lib = kw.Library("other", dispatcher=d)
            lib.define("g(int x) -> int")
            lib.impl("g", None, lambda x: x)
            d.ops.other.g(1)
            d.listen(lambda event: d)
            d.operator("other::g").table()

        self.flat(make)

    def test_tensors_and_views(self):
        def make():
            t = kw.empty((3, 4), dtype="float64")
            t[0, 1:] = 3.5
            t.transpose(0, 1).contiguous().tolist()
            kw.from_dlpack(t.__dlpack__(max_version=(1, 0)))
            kw.from_buffer(bytearray(8))
            memoryview(t)[0, 0]
            repr(t), hash(t), t.keys, t.device, t.dtype

        self.flat(make)

    @unittest.skipIf(np is None, "NumPy is missing")
    def test_arrays(self):
        array = np.ones(5)
        fixed = np.ones(5)
        fixed.flags.writeable = False

        def exchange():
            np.asarray(kw.from_dlpack(array)).sum()
            np.from_dlpack(kw.asarray(array)).sum()
            kw.asarray(fixed)
            try:
                kw.asarray(array[::-1])
            except (BufferError, ValueError):
                pass

        self.flat(exchange)

    def test_plugins_and_snapshots(self):
        def use():
            with kw.snapshot() as snapshot:
                shared = snapshot.share()
            with shared.enter(), kw.include("Tracer"):
                pass
            kw.statistics(), kw.plugins()

        self.flat(use)


class CycleTest(unittest.TestCase):
    """Functions hold libraries, libraries hold functions: the collector sees both."""

    def setUp(self):
        gc.collect()
        self.before = kw.statistics()["python_kernel_count"]

    def make(self, d):
        """A library and its kernel, which hold each other: weak references to both."""
        lib = kw.Library("c", dispatcher=d)
        lib.define("f(int x) -> str")

        def f(x):
            return f"{x} {lib.closed}"

        lib.impl("f", None, f)
        return weakref.ref(lib), weakref.ref(f)

    def test_library_that_its_own_kernel_refers_to_is_collected(self):
        d = kw.Dispatcher()
        refs = [*self.make(d), weakref.ref(d)]
        self.assertEqual(d.ops.c.f(1), "1 False")
        self.assertIsNotNone(refs[0]())
        gc.collect()
        self.assertEqual(d.operators(), [])  # collecting closed it
        del d
        gc.collect()
        self.assertEqual([ref() for ref in refs], [None] * 3)
        self.assertEqual(kw.statistics()["python_kernel_count"], self.before)

    def test_dispatcher_that_its_listener_refers_to_is_collected(self):
        d = kw.Dispatcher()
        d.listen(lambda event: d)
        d.observe(lambda seen: d, lambda seen, word: d)
        ref = weakref.ref(d)
        del d
        gc.collect()
        self.assertIsNone(ref())

    def test_collection_during_a_call_leaves_its_kernels_alone(self):
        d = kw.Dispatcher()
        upper = kw.Library("_", "impl", dispatcher=d)
        refs = []

        @upper.fallback("Tracer", with_keyset=True)
        def collect(keys, op, x):
            # The library below is garbage, but for this call, whose table has its kernel.
            gc.collect()
            return op.redispatch(keys & kw.KeySet.full_after("Tracer"), x)

        refs += self.make(d)
        op = d.operator("c::f")
        with kw.include("Tracer"):
            self.assertEqual(op(1), "1 True")
        gc.collect()
        kw.reclaim()
        gc.collect()
        self.assertEqual([ref() for ref in refs], [None] * 2)
        with self.assertRaises(kw.Error):
            op(1)

    def test_transaction_that_is_dropped_gives_its_kernels_back(self):
        d = kw.Dispatcher()
        lib = kw.Library("c", dispatcher=d)
        tx = d.transaction()
        tx.define(lib, "f(int x) -> int")
        tx.impl(lib, "f", None, lambda x: tx)  # a cycle through the transaction
        del tx
        gc.collect()
        self.assertEqual(kw.statistics()["python_kernel_count"], self.before)


if __name__ == "__main__":
    support.main()
