# Plugins: shared objects that Python loads, replaces and unloads.
#
# Layer:   test
# Threads: one, and one more where a call is held up.
# SPDX-License-Identifier: MIT

import pathlib
import unittest

import keyway as kw

import support
from support import STEP, plugin


class PluginTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()

    def number(self, x=1):
        return self.d.ops.py_plugin.number(x)

    def test_plugin_serves_is_replaced_and_leaves(self):
        p = self.d.load_plugin(plugin(1))
        self.assertEqual(self.number(3), 3 * STEP + 1)
        self.assertEqual((p.name, p.version, p.state), ("number", "1.0", "serving"))
        p.replace(plugin(2), keep_previous=True, drain=10)
        self.assertEqual(self.number(), STEP + 2)
        self.assertEqual(p.version, "2.0")
        self.assertTrue(p.info().can_roll_back)
        p.rollback(drain=10)
        self.assertEqual(self.number(), STEP + 1)
        p.unload(10)
        self.assertEqual(p.state, "gone")
        self.assertEqual(self.d.operators(), [])
        with self.assertRaises(kw.LibraryClosed):
            p.unload()

    def test_block_and_path_objects(self):
        with self.d.load_plugin(pathlib.Path(plugin(1))) as p:
            self.assertEqual(self.number(), STEP + 1)
            p.self_test("py_plugin::number")
            with self.assertRaises(kw.NotSupported):
                p.self_test("py_plugin::other")
        self.assertEqual(self.d.operators(), [])

    def test_second_load_is_one_more_lease(self):
        first = self.d.load_plugin(plugin(1))
        second = self.d.load_plugin(plugin(1))
        self.assertEqual(first.info().lease_count, 2)
        first.unload()
        self.assertEqual(self.number(), STEP + 1)
        second.unload()
        self.assertEqual(self.d.operators(), [])

    def test_plugin_without_references_is_unloaded(self):
        p = self.d.load_plugin(plugin(1))
        self.assertEqual(len([i for i in kw.plugins() if i.state == "serving"]), 1)
        del p
        self.assertEqual([i for i in kw.plugins() if i.state == "serving"], [])

    def test_failure_of_a_plugin_s_kernel_has_its_text(self):
        with self.d.load_plugin(plugin(1)):
            with self.assertRaisesRegex(kw.KernelFailed, "-5 is negative; in `py_plugin::number`"):
                self.number(-5)

    def test_files_that_are_no_plugins_are_refused(self):
        for path, name in ((__file__, "KW_NOT_A_PLUGIN"), ("/nowhere", "KW_FILE_NOT_READABLE")):
            with self.assertRaises(kw.PluginError) as caught:
                self.d.load_plugin(path)
            self.assertEqual(caught.exception.name, name)
        with self.assertRaises(TypeError):
            self.d.load_plugin(3)

    def test_python_layer_lies_over_a_plugin_s_kernel(self):
        lib = kw.Library("_", "impl", dispatcher=self.d)

        @lib.fallback("Tracer", with_keyset=True)
        def double(keys, op, x):
            return 2 * op.redispatch(keys & kw.KeySet.full_after("Tracer"), x)

        with self.d.load_plugin(plugin(1)), kw.include("Tracer"):
            self.assertEqual(self.number(3), 2 * (3 * STEP + 1))
            # The fallback's table holds the plugin only while a call runs.

    def test_inspection_registers_nothing(self):
        info, items = kw.inspect_plugin(plugin(1))
        self.assertEqual(info.name, "number")
        self.assertEqual([item.kind for item in items], ["define", "kernel"])
        self.assertEqual(items[0].schema, "py_plugin::number(int x) -> int")
        self.assertEqual((items[1].op, items[1].c_signature), ("py_plugin::number", "i>i"))
        self.assertEqual(self.d.operators(), [])

    def test_snapshot_holds_the_plugin(self):
        p = self.d.load_plugin(plugin(1))
        with kw.snapshot():
            with self.assertRaises(kw.Error) as caught:
                p.unload(0)
            self.assertIn(caught.exception.name, ("KW_BUSY", "KW_WOULD_WAIT_FOR_SELF"))
            self.assertEqual(self.number(), STEP + 1)  # as of the snapshot
        p.unload(10)
        kw.reap_plugins()


if __name__ == "__main__":
    support.main()
