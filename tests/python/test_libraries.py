# Libraries, transactions, events and observers.
#
# Layer:   test
# Threads: one, and one more where a call is held up.
# SPDX-License-Identifier: MIT

import threading
import unittest

import keyway as kw

import support


class LibraryTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()

    def test_block_closes_drains_and_destroys(self):
        with kw.Library("my", dispatcher=self.d) as lib:
            lib.define("f(int x) -> int")
            lib.impl("f", None, lambda x: x)
            self.assertEqual(self.d.ops.my.f(1), 1)
            self.assertFalse(lib.closed)
        self.assertTrue(lib.closed)
        self.assertEqual(self.d.operators(), [])
        with self.assertRaises(kw.LibraryClosed):
            lib.define("g(int x) -> int")
        lib.close()
        lib.drain(0)
        lib.destroy()

    def test_closing_twice_is_allowed_and_registering_after_it_is_not(self):
        lib = kw.Library("my", dispatcher=self.d)
        with self.assertRaises(kw.InvalidArgument):
            lib.drain(0)
        with self.assertRaises(kw.Busy):
            lib.destroy()
        lib.close()
        lib.close()
        with self.assertRaises(kw.LibraryClosed):
            lib.define("f(int x) -> int")
        lib.drain()
        lib.destroy()

    def test_kinds_are_the_original_s(self):
        definer = kw.Library("my", "def", dispatcher=self.d)
        definer.define("f(Tensor x) -> int")
        with self.assertRaises(kw.AlreadyDefined):
            kw.Library("my", "def", dispatcher=self.d)
        implementer = kw.Library("my", "impl", "CPU", dispatcher=self.d)
        implementer.impl("f", None, lambda x: 1)
        self.assertEqual(self.d.ops.my.f(kw.empty(1)), 1)
        with self.assertRaises(kw.RegistrationError):
            implementer.define("g(int x) -> int")
        with self.assertRaises(kw.RegistrationError):
            implementer.impl("f", "CUDA", lambda x: 2)
        kw.Library("my", "fragment", dispatcher=self.d).define("h(int x) -> int")
        with self.assertRaisesRegex(ValueError, "kind"):
            kw.Library("my", "strange", dispatcher=self.d)

    def test_name_and_place_of_a_library_are_known(self):
        lib = kw.Library("my", dispatcher=self.d, name="a library")
        self.assertEqual(lib.name, "a library")
        self.assertIs(lib.dispatcher, self.d)
        lib.define("f(int x) -> int")
        with self.assertRaisesRegex(kw.AlreadyDefined, "test_libraries.py"):
            lib.define("f(int x) -> int")

    def test_mapped_namespace_is_another(self):
        lib = kw.Library("my", dispatcher=self.d, ns_as="yours")
        lib.define("f(int x) -> int")
        self.assertEqual(self.d.operators(), ["yours::f"])

    def test_removed_kernel_uncovers_the_one_below(self):
        lib = kw.Library("my", dispatcher=self.d)
        lib.define("f(int x) -> int")
        lib.impl("f", None, lambda x: 1)
        second = lib.impl("f", None, lambda x: 2)
        f = self.d.ops.my.f
        self.assertEqual(f(0), 2)
        second.remove()
        second.remove()  # taken back already
        self.assertEqual(f(0), 1)
        with lib.impl("f", None, lambda x: 3) as third:
            self.assertEqual(f(0), 3)
            self.assertGreater(third.number, second.number)
        self.assertEqual(f(0), 1)

    def test_priority_and_policy_decide_between_kernels(self):
        lib = kw.Library("my", dispatcher=self.d)
        lib.define("f(int x) -> int")
        lib.impl("f", None, lambda x: 1, priority=5)
        lib.impl("f", None, lambda x: 2)
        self.assertEqual(self.d.ops.my.f(0), 1)
        with self.assertRaises(kw.DuplicateKernel):
            lib.impl("f", None, lambda x: 3, duplicates="refuse")
        lib.impl("f", None, lambda x: 4, duplicates="replace")
        self.assertEqual(self.d.ops.my.f(0), 4)
        self.assertEqual(len(self.d.operator("my::f").registrations()), 2)
        strict = kw.Dispatcher(duplicates="refuse")
        lib = kw.Library("my", dispatcher=strict)
        lib.define("f(int x) -> int")
        lib.impl("f", None, lambda x: 1)
        with self.assertRaises(kw.DuplicateKernel):
            lib.impl("f", None, lambda x: 2)

    def test_what_is_no_kernel_is_refused_and_nothing_is_kept(self):
        lib = kw.Library("my", dispatcher=self.d)
        lib.define("f(int x) -> int")
        before = kw.statistics()["python_kernel_count"]
        with self.assertRaisesRegex(TypeError, "kernel is a function"):
            lib.impl("f", None, 3)
        with self.assertRaises(kw.UnknownKey):
            lib.impl("f", "CPUU", lambda x: x)
        with self.assertRaises(kw.MalformedSchema):
            lib.impl("f(", None, lambda x: x)
        with self.assertRaises(kw.Error):
            lib.impl("f", None, lambda x: x, schema="my::f(str x) -> int")
        self.assertEqual(kw.statistics()["python_kernel_count"], before)

    def test_library_without_references_closes_itself(self):
        lib = kw.Library("my", dispatcher=self.d)
        lib.define("f(int x) -> int")
        del lib
        self.assertEqual(self.d.operators(), [])

    def test_drain_waits_for_a_call_and_says_who_holds(self):
        lib = kw.Library("my", dispatcher=self.d)
        lib.define("f(int x) -> int")
        entered, leave = threading.Event(), threading.Event()

        @lib.impl("f")
        def f(x):
            entered.set()
            self.assertTrue(leave.wait(60))
            return x

        results = []
        thread = threading.Thread(target=lambda: results.append(self.d.ops.my.f(7)))
        thread.start()
        self.assertTrue(entered.wait(60))
        lib.close()
        with self.assertRaisesRegex(kw.Busy, "my::f"):
            lib.drain(0.01)
        with self.assertRaises(kw.Busy):
            lib.destroy()
        self.assertRegex(lib.holders()[0], "^call of thread [0-9]+ through my::f$")
        leave.set()
        lib.drain(60)
        thread.join()
        lib.destroy()
        self.assertEqual(results, [7])

    def test_kernel_cannot_wait_for_itself(self):
        lib = kw.Library("my", dispatcher=self.d)
        lib.define("f(int x) -> int")

        @lib.impl("f")
        def f(x):
            lib.close()
            lib.drain(1)
            return x

        with self.assertRaises(kw.WouldWaitForSelf):
            self.d.ops.my.f(1)
        lib.drain(10)

    def test_waiting_for_a_definition_ends_with_it(self):
        lib = kw.Library("my", dispatcher=self.d)
        with self.assertRaises(kw.NotFound):
            self.d.wait("my::late", 0.0)
        found = []
        thread = threading.Thread(target=lambda: found.append(self.d.wait("my::late", 60)))
        thread.start()
        lib.define("late(int x) -> int")
        thread.join()
        self.assertIs(found[0], self.d.operator("my::late"))
        with self.assertRaises(ValueError):
            self.d.wait("my::late", -1)


class TransactionTest(unittest.TestCase):
    def setUp(self):
        self.d = kw.Dispatcher()
        self.lib = kw.Library("my", dispatcher=self.d)

    def test_block_commits_all_at_once(self):
        before = kw.version()
        with self.d.transaction() as tx:
            tx.define(self.lib, "f(int x) -> int", tags=["pointwise"])
            first = tx.impl(self.lib, "f", None, lambda x: 1)
            tx.define(self.lib, "g(int x) -> int")
            self.assertEqual(self.d.operators(), [])
        self.assertEqual(self.d.operators(), ["my::f", "my::g"])
        self.assertEqual(kw.version(), before + 1)
        with self.d.transaction() as tx:
            tx.remove(first)
            tx.impl(self.lib, "f", None, lambda x: 2)
        self.assertEqual(self.d.ops.my.f(0), 2)
        other = kw.Library("_", "impl", dispatcher=self.d)
        with self.d.transaction() as tx:
            tx.fallback(other, "Tracer", lambda op, *args: 3)
            tx.close(self.lib)
        self.assertTrue(self.d.operators() == [])

    def test_exception_aborts(self):
        before = kw.statistics()["python_kernel_count"]
        with self.assertRaises(ZeroDivisionError):
            with self.d.transaction() as tx:
                tx.define(self.lib, "f(int x) -> int")
                tx.impl(self.lib, "f", None, lambda x: 1)
                1 / 0
        self.assertEqual(self.d.operators(), [])
        self.assertEqual(kw.statistics()["python_kernel_count"], before)
        with self.assertRaises(kw.WrongOrder):
            tx.define(self.lib, "f(int x) -> int")

    def test_failed_commit_leaves_nothing(self):
        self.lib.define("f(int x) -> int")
        before = kw.statistics()["python_kernel_count"]
        with self.assertRaises(kw.AlreadyDefined):
            with self.d.transaction() as tx:
                tx.impl(self.lib, "f", None, lambda x: 1)
                tx.define(self.lib, "f(int x) -> int")
        self.assertEqual(kw.statistics()["python_kernel_count"], before)
        self.assertFalse(self.d.operator("my::f").has_kernel("CompositeImplicitAutograd"))
        with self.assertRaises(kw.WrongOrder):
            tx.commit()

    def test_commit_and_abort_can_be_called(self):
        tx = self.d.transaction()
        tx.define(self.lib, "f(int x) -> int")
        version = tx.commit(defer_reclaim=True)
        self.assertEqual(version, kw.version())
        tx = self.d.transaction()
        tx.define(self.lib, "g(int x) -> int")
        tx.abort()
        tx.abort()
        self.assertEqual(self.d.operators(), ["my::f"])

    def test_libraries_of_other_dispatchers_are_refused(self):
        other = kw.Library("my", dispatcher=kw.Dispatcher())
        tx = self.d.transaction()
        with self.assertRaises(kw.Error):
            tx.define(other, "f(int x) -> int")
        with self.assertRaises(TypeError):
            kw.Transaction(3)


class ListenerTest(unittest.TestCase):
    def test_listener_hears_of_every_change(self):
        d = kw.Dispatcher()
        lib = kw.Library("my", dispatcher=d)
        lib.define("f(int x) -> int")
        events = []
        with d.listen(events.append) as handle:
            self.assertEqual([(e.kind, e.op) for e in events], [("defined", "my::f")])
            kernel = lib.impl("f", "CPU", lambda x: x)
            self.assertEqual((events[1].kind, events[1].key.name), ("kernel", "CPU"))
            self.assertEqual(events[1].current_registration, kernel.number)
            self.assertIn("test_libraries.py", events[1].current)
            self.assertIsNone(events[1].previous)
            self.assertEqual(events[1].version, kw.version())
            lib.close()
            self.assertEqual({e.kind for e in events[2:]}, {"undefined", "kernel"})
            self.assertGreater(handle.number, 0)
        count = len(events)
        kw.Library("my", dispatcher=d).define("g(int x) -> int")
        self.assertEqual(len(events), count)

    def test_listener_may_register_and_its_exception_is_reported(self):
        d = kw.Dispatcher()
        lib = kw.Library("my", dispatcher=d)

        def follow(event):
            if event.op == "my::f" and event.kind == "defined":
                lib.impl("f", None, lambda x: x * 2)
            raise RuntimeError("the listener fails")

        reported = []
        import sys
        hook, sys.unraisablehook = sys.unraisablehook, lambda u: reported.append(u.exc_value)
        try:
            with d.listen(follow):
                lib.define("f(int x) -> int")
        finally:
            sys.unraisablehook = hook
        self.assertEqual(d.ops.my.f(4), 8)
        self.assertTrue(reported)
        self.assertIsInstance(reported[0], RuntimeError)

    def test_lint_is_for_those_who_ask(self):
        d = kw.Dispatcher()
        lib = kw.Library("my", dispatcher=d)
        quiet, loud = [], []
        with d.listen(quiet.append), d.listen(loud.append, lint=True):
            lib.define("f(Tensor x) -> int")
            lib.impl("f", None, lambda x: 1)
            lib.impl("f", "CPU", lambda x: 2)
        self.assertIn("hidden_composite", [e.kind for e in loud])
        self.assertNotIn("hidden_composite", [e.kind for e in quiet])


class ObserverTest(unittest.TestCase):
    def test_observer_sees_calls_with_what_it_asked_for(self):
        d = kw.Dispatcher()
        lib = kw.Library("my", dispatcher=d)
        lib.define("f(int x, str s='a') -> int")
        lib.impl("f", None, lambda x, s: x + 1)
        lib.define("g(int x) -> int")

        @lib.impl("g")
        def g(x):
            raise ValueError("no")

        seen = []

        def start(observation):
            return observation.name

        def end(observation, word):
            seen.append((word, observation.args, observation.returns, observation.status))

        with d.observe(start, end, inputs=True, outputs=True):
            d.ops.my.f(3)
            with self.assertRaises(ValueError):
                d.ops.my.g(1)
        d.ops.my.f(4)
        self.assertEqual(seen, [("my::f", (3, "a"), (4,), 0), ("my::g", (1,), None, 32)])

    def test_filters_choose_operators(self):
        d = kw.Dispatcher()
        lib = kw.Library("my", dispatcher=d)
        for name in ("f", "g"):
            lib.define(f"{name}(int x) -> int")
            lib.impl(name, None, lambda x: x)
        seen = []
        with d.observe(lambda o: seen.append(o.name), only=["my::f"]):
            d.ops.my.f(1)
            d.ops.my.g(1)
        with d.observe(lambda o: seen.append(o.name), exclude=["my::f"]):
            d.ops.my.f(1)
            d.ops.my.g(1)
        self.assertEqual(seen, ["my::f", "my::g"])
        with self.assertRaises(kw.InvalidArgument):
            d.observe(probability=5)


if __name__ == "__main__":
    support.main()
