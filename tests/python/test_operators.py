# Operators: by name and overload, calls, redispatches, fallbacks, tables, handles.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import gc
import unittest

import keyway as kw

import support


class OperatorTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()
        self.lib = kw.Library("my", dispatcher=self.d)
        self.t = kw.empty(2)

    def define(self, schema, function, key=None):
        self.lib.define(schema)
        self.lib.impl(schema.partition("(")[0], key, function)

    def test_arguments_go_by_position_and_by_name(self):
        self.define("f(int a, int b=2, *, int c=3, str d) -> int[]",
                    lambda a, b, *, c, d: [a, b, c, len(d)])
        f = self.d.ops.my.f
        self.assertEqual(f(1, d="x"), [1, 2, 3, 1])
        self.assertEqual(f(b=5, a=4, d="", c=6), [4, 5, 6, 0])
        self.assertEqual(f(1, **{"b": 7, "d": "xyz"}), [1, 7, 3, 3])

    def test_wrong_calls_name_operator_argument_and_type(self):
        self.define("f(int a, *, str d) -> ()", lambda a, *, d: None)
        f = self.d.ops.my.f
        for arguments, names, text in (
                ((), {"d": "x"}, r"my::f: missing argument 'a' \(position 1\) of type int"),
                ((1,), {}, r"my::f: missing argument 'd' \(position 2\) of type str"),
                ((1, "x"), {}, "my::f: takes 1 positional arguments at most, and 2 are given"),
                ((1,), {"d": "x", "e": 1}, "my::f: no argument is named 'e'"),
                ((1,), {"d": "x", "a": 1}, "my::f: an argument is given by position and by name"),
                ((1,), {"d": 3}, r"my::f: argument 'd' \(position 2\): expected str, but got int")):
            with self.subTest(text), self.assertRaisesRegex(TypeError, text):
                f(*arguments, **names)

    def test_many_arguments_fit(self):
        names = [f"a{i}" for i in range(64)]
        self.define(f"f({', '.join(f'int {name}' for name in names)}) -> int",
                    lambda *args: sum(args))
        self.assertEqual(self.d.ops.my.f(*range(64)), sum(range(64)))

    def test_many_returns_fit(self):
        self.define(f"f(int x) -> ({', '.join(['int'] * 16)})", lambda x: tuple(range(16)))
        self.assertEqual(self.d.ops.my.f(0), tuple(range(16)))

    def test_operator_is_one_object_for_its_name(self):
        self.define("f(int x) -> int", lambda x: x)
        op = self.d.operator("my::f")
        self.assertIs(op, self.d.ops.my.f.default)
        self.assertEqual((op.name, str(op.schema)), ("my::f", "my::f(int x) -> int"))
        self.assertIs(op.dispatcher, self.d)
        self.assertIn("my::f", repr(op))

    def test_overloads_are_found_and_chosen(self):
        self.define("f.int(int x) -> str", lambda x: "int")
        self.define("f.str(str x) -> str", lambda x: "str")
        f = self.d.ops.my.f
        self.assertEqual(sorted(f.overloads()), ["int", "str"])
        self.assertEqual((f(1), f("x")), ("int", "str"))
        self.assertEqual(f.str.name, "my::f.str")
        self.assertTrue(f.int.accepts(1))
        self.assertFalse(f.int.accepts("x"))
        with self.assertRaisesRegex(TypeError, r"no overload takes[\s\S]*my::f.int"):
            f(None)
        with self.assertRaises(AttributeError):
            f.nothing
        self.assertIn("str", dir(f))

    def test_one_overload_serves_without_its_name(self):
        self.define("g.only(int x) -> int", lambda x: x)
        self.assertEqual(self.d.ops.my.g(3), 3)
        self.assertEqual(self.d.ops.my.g.table()[0].rule, "implicit")

    def test_operators_are_listed(self):
        self.define("f(int x) -> int", lambda x: x)
        self.lib.impl("dangling", "CPU", lambda x: x)
        self.assertEqual(self.d.operators(), ["my::dangling", "my::f"])
        self.assertEqual(self.d.operators(dangling=True), ["my::dangling"])
        self.assertEqual(self.d.operators(key="CPU"), ["my::dangling"])
        self.assertIn("my", dir(self.d.ops))
        self.assertIn("f", dir(self.d.ops.my))
        with self.assertRaises(AttributeError):
            self.d.ops.my.nothing
        self.assertFalse(hasattr(self.d.ops.my, "nothing"))
        with self.assertRaises(kw.NotFound):
            self.d.operator("my::nothing")
        with self.assertRaises(kw.MalformedSchema):
            self.d.operator("my::")

    def test_operator_that_goes_and_comes_back_is_found_by_name(self):
        registration = self.lib.define("f(int x) -> int")
        self.lib.impl("f", None, lambda x: 1)
        packet, op = self.d.ops.my.f, self.d.operator("my::f")
        self.assertEqual(packet(0), 1)
        registration.remove()
        with self.assertRaises(kw.OperatorRemoved):
            op(0)
        self.lib.define("f(int y) -> int")  # the same C signature, another name
        self.assertEqual(packet(y=0), 1)
        self.assertEqual(op(y=0), 1)
        with self.assertRaisesRegex(TypeError, "'x'"):
            op(x=0)

    def test_call_follows_the_schema_of_its_snapshot(self):
        registration = self.lib.define("f(int x) -> int")
        self.lib.impl("f", None, lambda v: v)
        op = self.d.operator("my::f")
        with kw.snapshot():
            registration.remove()
            self.lib.define("f(int y) -> int")
            self.assertEqual(op(x=3), 3)
        self.assertEqual(op(y=3), 3)

    def test_tags_are_words(self):
        self.lib.define("f(int x) -> int", tags=["pointwise", "core"])
        self.assertEqual(self.d.operator("my::f").tags, ("core", "pointwise"))
        with self.assertRaisesRegex(ValueError, "fast"):
            self.lib.define("g(int x) -> int", tags=["fast"])

    def test_schema_tells_its_parts(self):
        schema = kw.Schema("my::f.o(Tensor(a!) x, int[2] n=1, *, str? s=None) -> (Tensor(a!), int)")
        self.assertEqual(schema.name, "my::f.o")
        x, n, s = schema.args
        self.assertEqual((x.name, x.type, x.written, x.default), ("x", "Tensor", True, None))
        self.assertEqual((n.type, n.default, n.keyword_only), ("int[2]", "1", False))
        self.assertEqual((s.type, s.default, s.keyword_only), ("str?", "None", True))
        self.assertEqual([r.type for r in schema.returns], ["Tensor", "int"])
        self.assertEqual(schema.c_signature, "tIs>ti")
        self.assertEqual(kw.Schema(str(schema)), schema)
        with self.assertRaises(kw.MalformedSchema) as caught:
            kw.Schema("my::f(int) -> int")
        self.assertEqual(caught.exception.position, 9)


class DispatchTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()
        self.lib = kw.Library("my", dispatcher=self.d)
        self.t = kw.empty(2)
        self.lib.define("f(Tensor x, *, int n=0) -> str")
        self.op = self.d.operator("my::f")

    def test_kernel_that_wants_the_key_set_gets_it_first(self):
        self.lib.impl("f", "CPU", lambda keys, x, *, n: f"{keys.highest} {n}", with_keyset=True)
        self.assertEqual(self.op(self.t), "CPU 0")
        registered = self.lib.impl("f", "CPU", lambda keys, op, x, *, n: op.name,
                                   with_keyset=True, with_op=True)
        self.assertEqual(self.op(self.t), "my::f")
        registered.remove()
        self.assertEqual(self.op(self.t, n=5), "CPU 5")

    def test_layer_redispatches_below_itself(self):
        self.lib.impl("f", "CPU", lambda x, *, n: f"cpu {n}")

        @self.lib.impl(self.op, "AutogradCPU", with_keyset=True)
        def layer(keys, x, *, n):
            below = keys & kw.KeySet.full_after("AutogradCPU")
            return "autograd " + self.op.redispatch(below, x, n=n + 1)

        self.assertEqual(self.op(self.t), "autograd cpu 1")
        with kw.below_autograd():
            self.assertEqual(self.op(self.t), "cpu 0")
        self.assertEqual(self.d.ops.my.f.redispatch("CPU", self.t, n=9), "cpu 9")

    def test_redispatch_that_goes_nowhere_is_refused(self):
        self.lib.impl("f", "CPU", lambda keys, x, *, n: self.op.redispatch(keys, x, n=n),
                      with_keyset=True)
        with self.assertRaises(kw.CallError) as caught:
            self.op(self.t)
        self.assertEqual(caught.exception.name, "KW_NO_PROGRESS")

    def test_fallback_serves_every_operator(self):
        self.lib.define("g(int a, *, int b) -> str")
        fallbacks = kw.Library("_", "impl", dispatcher=self.d)

        @fallbacks.fallback("Tracer", with_keyset=True)
        def trace(keys, op, *args, **kwargs):
            return f"{op.name} {len(args)} {sorted(kwargs)} {keys.highest}"

        with kw.include("Tracer"):
            self.assertEqual(self.op(self.t), "my::f 1 ['n'] Tracer")
            self.assertEqual(self.d.ops.my.g(1, b=2), "my::g 1 ['b'] Tracer")
        fallbacks.close()
        with kw.include("Tracer"), self.assertRaises(kw.NoKernel):
            self.op(self.t)

    def test_fallthrough_leaves_its_key_out(self):
        self.lib.impl("f", "CPU", lambda x, *, n: "cpu")
        with kw.include("Tracer"):
            with self.assertRaises(kw.NoKernel):
                self.op(self.t)
            self.lib.impl("f", "Tracer", kw.fallthrough)
            self.assertEqual(self.op(self.t), "cpu")
        self.assertIn("falls through", self.op.explain("CPU", "Tracer"))
        self.assertIn("CPU: ", self.op.explain("CPU, Tracer"))
        with self.assertRaises(kw.Error):
            self.op.redispatch("Tracer", self.t)

    def test_missing_kernel_says_what_there_is(self):
        with self.assertRaisesRegex(kw.NoKernel, "my::f") as caught:
            self.op(self.t)
        # It has fallbacks, those of the keys that Python takes over.
        self.assertEqual(caught.exception.name, "KW_NO_KERNEL_FOR_KEY")
        self.lib.impl("f", "CUDA", lambda x, *, n: "cuda")
        with self.assertRaisesRegex(kw.NoKernel, "CPU") as caught:
            self.op(self.t)
        self.assertEqual(caught.exception.name, "KW_NO_KERNEL_FOR_KEY")

    def test_call_for_one_key_takes_no_alias(self):
        self.lib.impl("f", "CompositeExplicitAutograd", lambda x, *, n: "composite")
        self.lib.impl("f", "CUDA", lambda x, *, n: "cuda")
        self.assertEqual(self.op.call_for_key("CUDA", self.t), "cuda")
        with self.assertRaises(kw.NoKernel):
            self.op.call_for_key("CPU", self.t)
        with self.assertRaises(TypeError):
            self.op.call_for_key()

    def test_handle_calls_its_kernel_while_that_serves(self):
        registration = self.lib.impl("f", "CPU", lambda x, *, n: f"cpu {n}")
        handle = self.op.computed_kernel("CPU")
        self.assertEqual(handle("CPU", self.t, n=4), "cpu 4")
        self.assertEqual(handle.registration, registration.number)
        registration.remove()
        with self.assertRaises(kw.NoKernel) as caught:
            handle("CPU", self.t)
        self.assertEqual(caught.exception.name, "KW_KERNEL_GONE")
        with self.assertRaises(kw.NoKernel):
            self.op.computed_kernel("CUDA")

    def test_table_and_registrations_say_who_serves(self):
        def cpu_kernel(x, *, n):
            return "cpu"

        self.lib.impl("f", "CPU", cpu_kernel, priority=3)
        rows = {row.key: row for row in self.op.table()}
        self.assertEqual(len(rows), 138)
        row = rows[kw.Key("CPU")]
        self.assertIn("cpu_kernel", row.kernel)
        self.assertEqual((row.library, row.rule, row.registered.name), ("my", "direct", "CPU"))
        self.assertTrue(row.file.endswith("test_operators.py"))
        self.assertGreater(row.line, 0)
        kernel, definition = self.op.registrations()
        self.assertEqual((kernel.kind, kernel.priority, kernel.key.name), ("boxed", 3, "CPU"))
        self.assertTrue(definition.is_definition and definition.file.endswith("test_operators.py"))
        self.assertIn("cpu_kernel", self.op.dump())
        self.assertIn("cpu_kernel", self.op.dump_table())
        self.assertTrue(self.op.has_kernel("CPU"))
        self.assertFalse(self.op.has_kernel("CUDA"))
        self.assertTrue(self.op.has_computed_kernel("CPU"))

    def test_default_dispatcher_is_one(self):
        self.assertIs(kw.default, kw.default)
        with kw.Library("py_default_test") as lib:
            self.assertIs(lib.dispatcher, kw.default)
            lib.define("f(int x) -> int")
            lib.impl("f", None, lambda x: x + 1)
            self.assertEqual(kw.default.ops.py_default_test.f(1), 2)

    def test_inference_mode_reaches_the_kernel(self):
        self.lib.impl("f", "CPU", lambda x, *, n: str(kw.empty(1).is_inference))
        with kw.inference_mode():
            self.assertEqual(self.op(self.t), "True")
            with kw.inference_mode(False):
                self.assertEqual(self.op(self.t), "False")
        self.assertEqual(self.op(self.t), "False")

    def test_kernel_may_collect_garbage_and_register(self):
        def kernel(x, *, n):
            gc.collect()
            with kw.Library("other", dispatcher=self.d) as other:
                other.define("f(int x) -> int")
                other.impl("f", None, lambda x: x * 2)
                other.close()
                return str(self.d.operators())

        # Inside a call a wait for ever could wait for itself; nothing is held here.
        self.lib.impl("f", "CPU", kernel)
        self.assertEqual(self.op(self.t), "['my::f']")


if __name__ == "__main__":
    support.main()
