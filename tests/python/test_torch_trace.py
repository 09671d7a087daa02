# Handlers in PyTorch and in Keyway: the same scenario gives the same order of events.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import sys
import unittest

try:
    import torch  # noqa: F401: whether it is there
except ImportError:
    sys.exit(77)

import trace_random
import trace_scenarios
import trace_worlds


SEEDS = 300


class Traces(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.worlds = trace_worlds.TorchWorld(), trace_worlds.KeywayWorld()

    @classmethod
    def tearDownClass(cls):
        for world in cls.worlds:
            world.close()

    def traces(self, scenario):
        for world in self.worlds:
            world.trace.clear()
            scenario(world)
        return tuple(list(world.trace) for world in self.worlds)


    def test_random_scenarios(self):
        lines = 0
        for seed in range(SEEDS):
            original, ours = self.traces(trace_random.scenario(seed))
            self.assertEqual(original, ours, f'seed {seed}')
            lines += len(original)
        self.assertGreater(lines, 10 * SEEDS)


def test_of(scenario):
    def test(self):
        original, ours = self.traces(scenario)
        self.assertGreater(len(original), 1)
        self.assertEqual(original, ours)
    return test


for scenario in trace_scenarios.ALL:
    setattr(Traces, f'test_{scenario.__name__}', test_of(scenario))

if __name__ == '__main__':
    unittest.main()
