# Runs programs of PyTorch plainly and routed through Keyway, compares the results, and counts.
#
# Layer:   example
# Threads: one.
# SPDX-License-Identifier: MIT
#
#     main.py [--plugin FILE] [PROGRAM...]
#
# The exit status is 0 when the results are the same and no call went another way, 77 without PyTorch.

import argparse
import sys

try:
    import torch
except ImportError:
    print('PyTorch is not here')
    sys.exit(77)

import compare
import programs
from route import CountMode, Route

# How far kernels in C may be off, relative to the largest element: they round in another order.
TOLERANCE = 1e-6


def check(name, plugin):
    program = programs.ALL[name]
    plain = program()
    with CountMode() as counting:
        program()
    route = Route(plugin)
    try:
        differing = compare.differences(plain, route.run(program), TOLERANCE if plugin else 0)
        counts = route.counts()
    finally:
        route.close()
    wrong = compare.bypassed(counting.counts, counts)
    report(name, counts, len(plain), differing)
    for line in wrong:
        print(f'  bypassed: {line}')
    return not differing and not wrong


def report(name, counts, result_count, differing):
    calls, in_python, in_c = (sum(column) for column in zip(*counts.values()))
    print(f'{name}: {len(counts)} operators, {calls} calls, kernels run {in_python} in Python and {in_c} in C; '
          f'{result_count} results compared, {len(differing)} differ')
    for result in differing:
        print(f'  differs: {result}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--plugin', help='a shared object with kernels in C')
    parser.add_argument('programs', nargs='*', default=list(programs.ALL))
    options = parser.parse_args()
    torch.set_num_threads(1)
    return 0 if all([check(name, options.plugin) for name in options.programs]) else 1


if __name__ == '__main__':
    sys.exit(main())
