# Compares the results of two runs of a program, and what a route counted with what was to be counted.
#
# Layer:   example
# Threads: any.
# SPDX-License-Identifier: MIT

import torch


def same(plain, routed, tolerance):
    """Whether two results are the same: 0 means bit for bit, else relative to the largest element."""
    if isinstance(plain, (list, tuple)):
        return len(plain) == len(routed) and all(same(a, b, tolerance) for a, b in zip(plain, routed))
    if not isinstance(plain, torch.Tensor):
        return same_number(plain, routed, tolerance)
    if (plain.dtype, plain.shape, plain.stride()) != (routed.dtype, routed.shape, routed.stride()):
        return False
    if tolerance == 0 or not plain.is_floating_point():
        return bits(plain) == bits(routed)
    largest = plain.abs().max().item() if plain.numel() else 0
    return plain.numel() == 0 or (plain - routed).abs().max().item() <= tolerance * largest


def same_number(plain, routed, tolerance):
    if isinstance(plain, float) and tolerance:
        return abs(plain - routed) <= tolerance * abs(plain)
    return type(plain) is type(routed) and plain == routed


def bits(tensor):
    """All bits of a tensor's elements: NaN equals NaN, and 0 does not equal -0."""
    return tensor.resolve_conj().contiguous().view(-1).numpy().tobytes() if tensor.dtype is not torch.bfloat16 \
        else bits(tensor.float())


def differences(plain, routed, tolerance):
    """The names of results that differ."""
    names = [name for name in plain if name not in routed or not same(plain[name], routed[name], tolerance)]
    return names + [name for name in routed if name not in plain]


def bypassed(expected, counts):
    """Operators whose calls, or runs of kernels, are not as many as the program makes."""
    names = set(expected) | set(counts)
    wrong = []
    for name in sorted(names):
        called, in_python, in_c = counts.get(name, (0, 0, 0))
        if not expected.get(name, 0) == called == in_python + in_c:
            wrong.append(f'{name}: {expected.get(name, 0)} calls, {called} came, {in_python} + {in_c} ran')
    return wrong
