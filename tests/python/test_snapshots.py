# Snapshots and guards: what the calling thread sees.
#
# Layer:   test
# Threads: two.
# SPDX-License-Identifier: MIT

import threading
import unittest

import keyway as kw

import support


def in_thread(function):
    """Runs a function in a thread of its own and gives its result or exception back."""
    results = []

    def run():
        try:
            results.append((function(), None))
        except Exception as error:
            results.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    result, error = results[0]
    if error is not None:
        raise error
    return result


class SnapshotTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()
        self.lib = kw.Library("s", dispatcher=self.d)
        self.lib.define("f(int x) -> int")
        self.lib.impl("f", None, lambda x: 1)
        self.f = self.d.operator("s::f")

    def test_block_keeps_its_version(self):
        with kw.snapshot() as snapshot:
            self.lib.impl("f", None, lambda x: 2)
            self.assertEqual(self.f(0), 1)
            self.assertLess(snapshot.version, kw.version())
            with kw.snapshot() as inner:
                self.assertEqual(inner.version, snapshot.version)
            self.assertEqual(kw.statistics()["snapshot_count"], 1)
        self.assertIsNone(snapshot.version)
        self.assertEqual(self.f(0), 2)
        with snapshot:  # a new one
            self.assertEqual(snapshot.version, kw.version())

    def test_order_is_kept(self):
        outer, inner = kw.snapshot(), kw.snapshot()
        outer.__enter__()
        inner.__enter__()
        with self.assertRaises(kw.WrongOrder):
            outer.__exit__(None, None, None)
        with self.assertRaises(kw.WrongOrder):
            outer.__enter__()
        with self.assertRaises(kw.WrongOrder):
            in_thread(lambda: inner.__exit__(None, None, None))
        inner.__exit__(None, None, None)
        outer.__exit__(None, None, None)
        with self.assertRaises(kw.WrongOrder):
            outer.__exit__(None, None, None)
        self.assertEqual(kw.statistics()["snapshot_count"], 0)

    def test_dropped_snapshot_is_closed(self):
        snapshot = kw.snapshot()
        snapshot.__enter__()
        snapshot = None
        self.assertEqual(kw.statistics()["snapshot_count"], 0)

    def test_shared_snapshot_serves_other_threads(self):
        shared = kw.SharedSnapshot()
        with kw.snapshot() as snapshot:
            again = snapshot.share()
        self.assertEqual(shared.version, again.version)
        self.lib.impl("f", None, lambda x: 2)

        def call():
            with shared.enter() as inside:
                self.assertEqual(inside.version, shared.version)
                return self.f(0)

        self.assertEqual(in_thread(call), 1)
        self.assertEqual(in_thread(lambda: self.f(0)), 2)
        with kw.snapshot():
            with self.assertRaises(kw.WrongOrder):  # another version is open
                shared.enter().__enter__()
        del shared, again
        self.assertEqual(kw.statistics()["shared_snapshot_count"], 0)

    def test_sharing_a_closed_snapshot_is_refused(self):
        with self.assertRaises(kw.WrongOrder):
            kw.snapshot().share()


class GuardTest(unittest.TestCase):
    def test_guards_nest_and_restore(self):
        before = kw.local_sets()
        with kw.include("Tracer", "Batched"):
            self.assertTrue(kw.is_included("Tracer"))
            with kw.exclude("Tracer"):
                self.assertTrue(kw.is_excluded("Tracer"))
                self.assertTrue(kw.is_included("Tracer"))
            self.assertFalse(kw.is_excluded("Tracer"))
            with kw.force("Fake", kw.KeySet()):
                self.assertEqual(kw.local_sets(), (kw.KeySet("Fake"), kw.KeySet()))
        self.assertEqual(kw.local_sets(), before)

    def test_exception_restores(self):
        before = kw.local_sets()
        with self.assertRaises(ZeroDivisionError):
            with kw.below_view(), kw.inference_mode():
                1 / 0
        self.assertEqual(kw.local_sets(), before)

    def test_guard_is_of_its_thread(self):
        guard = kw.include("Tracer")
        with guard:
            self.assertFalse(in_thread(lambda: kw.is_included("Tracer")))
            with self.assertRaises(kw.WrongOrder):
                in_thread(lambda: guard.__exit__(None, None, None))
            with self.assertRaises(kw.WrongOrder):
                guard.__enter__()
        with guard:  # again
            self.assertTrue(kw.is_included("Tracer"))
        with self.assertRaises(kw.WrongOrder):
            guard.__exit__(None, None, None)

    def test_guards_of_layers(self):
        with kw.below_autograd():
            self.assertTrue(kw.is_excluded("AutogradOther"))
            self.assertTrue(kw.is_included("ADInplaceOrView"))
        with kw.below_view():
            self.assertTrue(kw.is_excluded("ADInplaceOrView"))
        with self.assertRaises(kw.UnknownKey):
            kw.include("Nothing")


class ProcessTest(unittest.TestCase):
    def test_figures_and_limits(self):
        self.assertEqual(kw.statistics()["version"], kw.version())
        kw.reclaim()
        self.assertEqual(kw.statistics()["deferred_count"], 0)
        before = kw.backlog_limits()
        self.assertEqual(kw.backlog_limits(table_count=7, wait=0.5)["table_count"], 7)
        self.assertEqual(kw.backlog_limits()["wait"], 0.5)
        kw.backlog_limits(**before)
        self.assertEqual(kw.backlog_limits(), before)
        kw.startup(kw.Dispatcher())
        with self.assertRaises(TypeError):
            kw.startup(3)

    def test_private_backend_gets_a_name(self):
        name = kw.claim_backend("pytest_npu")
        self.assertEqual(name, kw.claim_backend("pytest_npu"))
        self.assertIn("PYTEST_NPU", kw.Key("AutogradPrivateUse1").name)
        with self.assertRaises(kw.RegistrationError):
            kw.rename_backend("PrivateUse1", "another")
        with self.assertRaises(TypeError):
            kw.rename_backend(1, "another")


if __name__ == "__main__":
    support.main()
