# The end of Python while C threads call operators that Python handles: they are refused, nothing breaks.
#
# Layer:   test
# Threads: each case runs a program of its own, with three C threads that never stop.
# SPDX-License-Identifier: MIT

import subprocess
import sys
import unittest

PROGRAM = '''
import os, sys
import keyway as kw

dispatcher = kw.Dispatcher()
plugin = dispatcher.load_plugin(os.environ['PYTHON_TEST_OBJECTS'] + '/python_hold.so')
plugin.pin()  # the threads go on calling what it defines
hold = dispatcher.ops.hold

class Handler(kw.Tensor):
    @classmethod
    def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
        return super().__kw_dispatch__(op, types, args, kwargs)

class Mode(kw.DispatchMode):
    def __kw_dispatch__(self, op, types, args=(), kwargs=None):
        return op(*args, **(kwargs or {}))

def storm(tensor):
    with kw.no_python_dispatch():
        hold.storm('hold::same', tensor)
        while hold.served() < 50:
            pass
'''

BODIES = {
    'subclass': 'storm(Handler.make_subclass(kw.empty((2,))))\n',
    'wrapper': 'w = Handler.make_wrapper((2,))\nw.me = w\nstorm(w)\ndel w\n',
    'mode': 'with Mode():\n    storm(kw.empty((2,)))\n',
    'mode left open': 'Mode().__enter__()\nstorm(kw.empty((2,)))\n',
    'exit status': 'storm(Handler.make_subclass(kw.empty((2,))))\nsys.exit(3)\n',
}


WAITED_FOR = '''
import atexit, threading
inside, ending = threading.Event(), threading.Event()

class Slow(kw.Tensor):
    @classmethod
    def __kw_dispatch__(cls, op, types, args=(), kwargs=None):
        inside.set()
        ending.wait()
        os.write(1, b'the handler has ended\\n')
        return super().__kw_dispatch__(op, types, args, kwargs)

x = Slow.make_subclass(kw.empty((2,)))
threading.Thread(target=lambda: hold.same(x), daemon=True).start()
inside.wait()
atexit.register(ending.set)  # the last to be registered is the first that runs
'''


class End(unittest.TestCase):
    def run_body(self, name, status=0):
        done = subprocess.run([sys.executable, '-c', PROGRAM + BODIES[name]], capture_output=True,
                              text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (status, "refused after Python's end; wrong: 0\n", ''))

    def test_threads_call_a_subclass(self):
        self.run_body('subclass')

    def test_threads_call_a_wrapper_whose_object_is_lent(self):
        self.run_body('wrapper')

    def test_threads_have_a_mode(self):
        self.run_body('mode')

    def test_block_of_a_mode_is_never_left(self):
        self.run_body('mode left open')

    def test_handler_that_runs_is_waited_for(self):
        """Python ends while a thread is inside a handler, which then goes on and returns."""
        done = subprocess.run([sys.executable, '-c', PROGRAM + WAITED_FOR], capture_output=True,
                              text=True, timeout=100)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, 'the handler has ended\n', ''))

    def test_exit_status_stays(self):
        self.run_body('exit status', 3)


if __name__ == '__main__':
    unittest.main()
