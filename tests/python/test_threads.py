# Threads: calls of Python's threads and of C's while Python replaces kernels.
#
# Layer:   test
# Threads: Python's and C's.
# SPDX-License-Identifier: MIT

import os
import signal
import threading
import unittest

import keyway as kw

import support
from support import STEP, helper

REPLACEMENTS = 1000


class ReplaceTest(unittest.TestCase):
    """Kernels give argument * STEP + their number back; a thread never sees numbers go down."""

    def setUp(self):
        self.d = kw.Dispatcher()
        self.lib = kw.Library("t", dispatcher=self.d)
        self.lib.define("f(int x) -> int")
        self.op = self.d.operator("t::f")
        self.done = threading.Event()
        self.wrong = []
        self.calls = 0
        self.put(0)

    def put(self, number):
        return self.lib.impl("f", None, lambda x: x * STEP + number)

    def call_until_done(self):
        newest = count = 0
        while not self.done.is_set():
            try:
                result = self.op(count)
            except Exception as error:
                self.wrong.append(error)
                continue
            argument, number = divmod(result, STEP)
            if argument != count or number < newest:
                self.wrong.append((count, newest, result))
            newest = number
            count += 1
        self.calls += count

    def storm_until_done(self):
        while not self.done.is_set():
            wrong = helper().storm(self.op, 2, 200)
            if wrong:
                self.wrong.append(wrong)
            self.calls += 400

    def test_no_answer_is_lost_or_wrong_while_kernels_change(self):
        threads = [threading.Thread(target=target)
                   for target in 2 * (self.call_until_done, self.storm_until_done)]
        before = self.put(1)
        for thread in threads:
            thread.start()
        for number in range(2, REPLACEMENTS + 2):
            with self.d.transaction() as tx:
                after = tx.impl(self.lib, "f", None,
                                lambda x, number=number: x * STEP + number)
                tx.remove(before)
            before = after
        self.done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(self.wrong, [])
        self.assertGreater(self.calls, 0)
        self.assertEqual(self.op(1), STEP + REPLACEMENTS + 1)
        self.lib.close()
        self.lib.drain(60)
        self.assertEqual(kw.statistics()["python_kernel_count"], 0)

    def test_storm_finds_a_wrong_answer(self):
        # The checker itself: a kernel that forgets its argument is seen.
        self.lib.impl("f", None, lambda x: 5)
        self.assertGreater(helper().storm(self.op, 2, 50), 0)

    def test_exceptions_of_threads_do_not_mix(self):
        @self.lib.impl("f")
        def f(x):
            raise KeyError(x)

        wrong = []

        def call(first):
            for x in range(first, first + 200):
                try:
                    self.op(x)
                    wrong.append(x)
                except KeyError as error:
                    if error.args != (x,):
                        wrong.append((x, error))

        threads = [threading.Thread(target=call, args=(1000 * i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class WaitTest(unittest.TestCase):
    def test_nothing_that_waits_holds_the_gil(self):
        """Each waits for a kernel that needs the GIL; with it held they would never end."""
        d = kw.Dispatcher()

        def hold():
            lib = kw.Library("w", dispatcher=d)
            lib.define("f(int x) -> int")
            entered, leave = threading.Event(), threading.Event()

            @lib.impl("f")
            def f(x):
                entered.set()
                leave.wait(60)
                return x

            thread = threading.Thread(target=helper().call, args=(d.operator("w::f"), 1))
            thread.start()
            self.assertTrue(entered.wait(60))
            threading.Timer(0.08, leave.set).start()
            return lib, thread

        lib, thread = hold()
        lib.close()
        lib.drain(60)
        lib.destroy()
        thread.join()
        lib, thread = hold()
        with lib:
            pass
        thread.join()
        lib, thread = hold()
        del lib  # closes; the kernel goes on, and ends later
        thread.join()
        kw.reclaim()
        self.assertEqual(kw.statistics()["python_leaving_count"], 0)

    def test_writers_of_both_languages_do_not_wait_for_each_other(self):
        """The writer lock and the GIL are wanted by all of them, in either order."""
        d = kw.Dispatcher()
        heard, wrong = [], []

        def of_c(number):
            library = helper().plain(d, f"c{number}::f(int x) -> int")
            if not library or helper().library_end(library) != 0:
                wrong.append(number)

        def of_python(number):
            with kw.Library(f"p{number}", dispatcher=d) as lib:
                lib.define("f(int x) -> int")
                lib.impl("f", None, lambda x: x + number)
                if d.operator(f"p{number}::f")(1) != 1 + number:
                    wrong.append(number)

        def repeat(function, number):
            for _ in range(50):
                function(number)

        with d.listen(lambda event: heard.append(event.op)):
            threads = [threading.Thread(target=repeat, args=(function, number))
                       for number in range(3) for function in (of_c, of_python)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(d.operators(), [])
        self.assertEqual(set(heard), {f"{l}{n}::f" for l in "cp" for n in range(3)})

    def test_signal_ends_a_wait(self):
        d = kw.Dispatcher()
        lib = kw.Library("w", dispatcher=d)
        lib.define("f(int x) -> int")
        shared = kw.SharedSnapshot()  # holds w::f
        lib.close()

        def interrupt(number, frame):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            for wait in (lib.drain, lambda: d.wait("w::nothing"), lambda: lib.drain(60)):
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                with self.assertRaises(KeyboardInterrupt):
                    wait()
        finally:
            signal.signal(signal.SIGALRM, before)
        del shared
        lib.drain(60)

    def test_waiting_for_ever_inside_a_call_or_snapshot_is_refused(self):
        d = kw.Dispatcher()
        other = kw.Library("o", dispatcher=d)
        lib = kw.Library("w", dispatcher=d)
        lib.define("f(int x) -> int")
        other.define("g(int x) -> int")
        shared = kw.SharedSnapshot()  # holds o::g
        other.close()
        lib.impl("f", None, lambda x: other.drain())
        with self.assertRaises(kw.WouldWaitForSelf):
            d.ops.w.f(1)
        with kw.snapshot(), self.assertRaises(kw.WouldWaitForSelf):
            other.drain()
        del shared
        other.drain(60)

    def test_child_of_a_fork_goes_on(self):
        d = kw.Dispatcher()
        lib = kw.Library("w", dispatcher=d)
        lib.define("f(int x) -> int")
        lib.impl("f", None, lambda x: x * STEP)
        self.assertEqual(helper().storm(d.operator("w::f"), 2, 10), 0)
        child = os.fork()
        if child == 0:
            try:
                lib.impl("f", None, lambda x: x * STEP + 2)
                good = helper().storm(d.operator("w::f"), 2, 10) == 0 and d.ops.w.f(1) == STEP + 2
                lib.close()
                lib.drain(10)
                os._exit(0 if good else 1)
            except BaseException:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        self.assertEqual(d.ops.w.f(1), STEP)

    def test_list_may_change_while_its_call_runs(self):
        d = kw.Dispatcher()
        lib = kw.Library("w", dispatcher=d)
        lib.define("f(Tensor[] x, int[] n) -> int")
        numbers, tensors = list(range(100)), [kw.empty(i) for i in range(100)]
        seen = []

        @lib.impl("f", "CPU")
        def f(x, n):
            numbers.clear()  # the caller's own, which the frame borrows from
            tensors.clear()
            return 1

        # At the end of a call an observer reads its arguments once more.
        with d.observe(None, lambda o, word: seen.append(o.args), inputs=True):
            d.ops.w.f(tensors, numbers)
        self.assertEqual([t.size for t in seen[0][0]], list(range(100)))
        self.assertEqual(seen[0][1], list(range(100)))

    def test_tensor_in_a_call_is_in_use(self):
        d = kw.Dispatcher()
        library = helper().mul(d, "w::mul(Tensor a, Tensor b) -> Tensor")
        t = kw.empty(4, dtype="float64")
        caught = []

        def resize(observation):
            try:
                t.resize_(1000000)
            except kw.Busy as error:
                caught.append(error)

        # An observer that wants no arguments runs inside the call and makes no objects of them.
        with d.observe(resize):
            d.ops.w.mul(t, t)
        self.assertEqual(len(caught), 1)
        self.assertEqual(t.resize_(8).shape, (8,))
        self.assertEqual(helper().library_end(library), 0)

    def test_destructor_runs_on_a_thread_python_never_saw(self):
        d = kw.Dispatcher()
        lib = kw.Library("w", dispatcher=d)
        lib.define("f(int x) -> int")
        ended = []

        class Function:
            def __call__(self, x):
                return x

            def __del__(self):
                ended.append(threading.get_ident())

        with kw.snapshot():  # keeps the table, and so the kernel
            registration = lib.impl("f", None, Function())
            registration.remove()
        library = helper().plain(d, "w::other(int x) -> int")
        self.assertEqual(helper().library_end(library), 0)  # commits, and so reclaims
        self.assertEqual(len(ended), 1)


if __name__ == "__main__":
    support.main()
