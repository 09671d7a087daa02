# Processes: Python ends in good order whatever calls, holds or waits; who is refused at its door.
#
# Layer:   test
# Threads: Python's and C's, in processes of their own.
# SPDX-License-Identifier: MIT

import subprocess
import sys
import unittest

import support

PRELUDE = """
import atexit, gc, sys, threading, time
import keyway as kw
import support
from support import helper
d = kw.Dispatcher()
lib = kw.Library("e", dispatcher=d)
lib.define("f(int x) -> int")
lib.impl("f", None, lambda x: x)
f = d.operator("e::f")
"""


class ExitTest(unittest.TestCase):
    def run_program(self, text, times=1, first=""):
        for _ in range(times):
            done = subprocess.run([sys.executable, "-c", first + PRELUDE + text],
                                  capture_output=True, text=True, timeout=100)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_c_threads_may_call_while_python_ends(self):
        self.run_program("""
helper().background(f, 3)
while helper().background_count() < 100:
    time.sleep(0.001)
""", times=3)

    def test_python_threads_may_call_while_python_ends(self):
        self.run_program("""
def call():
    while True:
        try:
            f(1)
        except kw.Error:
            pass
for _ in range(3):
    threading.Thread(target=call, daemon=True).start()
time.sleep(0.02)
""", times=3)

    def test_end_waits_for_a_kernel_that_runs(self):
        out = self.run_program("""
entered = threading.Event()
@lib.impl("f")
def slow(x):
    entered.set()
    time.sleep(0.1)
    print("the kernel ended", flush=True)
    return x
helper().background(f, 1)
entered.wait()
""")
        self.assertTrue(out.startswith("the kernel ended\n"), out)

    def test_call_after_the_end_is_refused(self):
        out = self.run_program("""
keep = kw.snapshot().__enter__()  # the kernel stays reachable
kw._keyway._end()
print(helper().call(f, 1))
""")
        text = "the kernel is a Python function, and Python has ended; in `e::f`"
        self.assertEqual(out, f"(32, '{text}')\n")

    def test_end_closes_libraries_before_python_goes_down(self):
        # What is registered first runs last: after the package's own.
        out = self.run_program("""
@atexit.register
def before():
    print(d.operators(), f(2))
""", first="""
import atexit
@atexit.register
def after():
    print(lib.closed, d.operators())
""")
        self.assertEqual(out, "['e::f'] 2\nTrue []\n")

    def test_tensors_may_outlive_python(self):
        self.run_program("""
source = bytearray(100)
t = kw.from_buffer(source)
helper().retain(t.address)
try:
    import numpy as np
    a = kw.from_dlpack(np.ones(10))
    helper().retain(a.address)
except ImportError:
    pass
snapshot = kw.snapshot()
snapshot.__enter__()
shared = kw.SharedSnapshot()
guard = kw.include("Tracer")
guard.__enter__()
d.listen(lambda event: None)
d.observe(lambda seen: seen, lambda seen, word: None)
tx = d.transaction()
tx.impl(lib, "f", None, lambda x: 1)
p = d.load_plugin(support.plugin(1))
kw.default
""")

    def test_dispatcher_of_other_tensors_is_refused(self):
        # The process's dispatcher, so in a process of its own.
        self.run_program("""
assert helper().other_tensors() == 0
for use in (lambda: kw.Library("x"), lambda: kw.default.ops.other.f(1)):
    try:
        use()
    except kw.RegistrationError as error:
        assert error.name == "KW_TENSOR_TYPE_MISMATCH" and "other" in error.text, error.text
    else:
        raise AssertionError("it was let in")
""")

    def test_subinterpreter_is_refused(self):
        self.run_program("""
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    sys.exit()
one = interpreters.create()
try:
    interpreters.run_string(one, "import keyway")
except interpreters.RunFailedError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("it was let in")
assert f(1) == 1
interpreters.destroy(one)
""")

    def test_exception_at_the_end_is_shown_and_no_more(self):
        done = subprocess.run([sys.executable, "-c", PRELUDE + """
@lib.impl("f")
def bad(x):
    raise SystemExit(7)
f(1)
"""], capture_output=True, text=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (7, ""))


if __name__ == "__main__":
    support.main()
