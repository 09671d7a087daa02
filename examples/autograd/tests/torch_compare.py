#!/usr/bin/env python3
# Compares results and gradients of the functions in functions.c with PyTorch's.
#
# torch_compare.py <autograd_test>: runs `autograd_test json` and computes the same from the same
# leaves. Exit status 77: there is no PyTorch.

import json
import subprocess
import sys

try:
    import torch
except ImportError:
    print('PyTorch is not there')
    sys.exit(77)

# Both compute in float64, with at most a dozen roundings an element, in another order.
TOLERANCE = 1e-12


def fill_row(x):
    y = x[0] * 2
    y[1].fill_(7)
    return y * x[0]


def square_in_place(x):
    # PyTorch saves what the operator changes, and refuses: the same with a copy.
    y = x[0] * 2
    return y.mul_(y.clone())


def write_row(x):
    base = x[0] * 2
    row, column = base[1], base[:, 0]
    row.mul_(x[1])
    return base.exp() + row + column * column


def write_chain(x):
    base = x[0] * 2
    turned = base.transpose(0, 1)
    part = turned[1:3]
    flat = base.view(6)
    part.mul_(x[1])
    flat[1:3].add_(part[0], alpha=0.5)
    turned.mul_(turned.clone())
    return part * part + flat[5]


def write_into_constant(x):
    base = torch.full((3, 2), 2.0, dtype=torch.float64)
    middle, last = base.select(0, 1), base.select(0, 2)
    middle.mul_(x[0])
    return base * (middle + last)


def write_base(x):
    base = x[0] * 2
    row = base[1]
    base.mul_(x[1])
    return row.exp()


FUNCTIONS = {
    'add': lambda x: torch.add(x[0], x[1], alpha=-2.5),
    'sub': lambda x: x[0] - x[1],
    'mul': lambda x: x[0] * x[1],
    'mul_number': lambda x: x[0] * x[1],
    'divide': lambda x: x[0] / x[1],
    'square': lambda x: x[0] * x[0],
    'divide_by_itself': lambda x: x[0] / x[0],
    'scale': lambda x: x[0] * 3.5,
    'relu_above': lambda x: x[0].relu(),
    'relu_below': lambda x: x[0].relu(),
    'exponential': lambda x: x[0].exp(),
    'logarithm': lambda x: x[0].log(),
    'matmul': lambda x: x[0] @ x[1],
    'sum': lambda x: x[0].sum(),
    'sum_kept': lambda x: x[0].sum(dim=(0, 1, 2), keepdim=True),
    'sum_one': lambda x: x[0].sum(dim=-2),
    'sum_two': lambda x: x[0].sum(dim=(0, 2), keepdim=True),
    'mean': lambda x: x[0].mean(),
    'mean_number': lambda x: x[0].mean(),
    'mse_loss': lambda x: torch.nn.functional.mse_loss(x[0], x[1]),
    'clone': lambda x: x[0].clone(),
    'transpose': lambda x: x[0].transpose(0, -1),
    'transposed_product': lambda x: x[0].transpose(0, 1) * x[1],
    'select_last': lambda x: x[0].select(1, -1),
    'slice': lambda x: x[0][..., 1:],
    'view': lambda x: x[0].view(-1, 2),
    'expand': lambda x: x[0].expand(4, 2, 3),
    'reshape': lambda x: x[0].transpose(0, 1).reshape(6),
    'add_in_place': lambda x: x[0].clone().add_(x[1], alpha=1.5),
    'mul_in_place': lambda x: x[0].clone().mul_(x[1]),
    'square_in_place': square_in_place,
    'fill_row': fill_row,
    'write_row': write_row,
    'write_chain': write_chain,
    'write_into_constant': write_into_constant,
    'write_base': write_base,
}


def tensor(row):
    return torch.tensor(row['data'], dtype=torch.float64).reshape(row['sizes'])


def differs(ours, theirs):
    """Whether two tensors differ in shape, or by more than the tolerance in an element."""
    if ours.shape != theirs.shape:
        return True
    return bool(((ours - theirs).abs() > TOLERANCE * (1 + theirs.abs())).any())


def compare(case):
    """Yields what differs in a case."""
    leaves = [tensor(case[key]).requires_grad_() for key in sorted(case) if key.startswith('leaf')]
    result = FUNCTIONS[case['name']](leaves)
    if differs(tensor(case['result']), result.detach()):
        yield 'the result'
    (result * tensor(case['weights'])).sum().backward()
    for number, leaf in enumerate(leaves):
        if differs(tensor(case[f'grad_{number}']), leaf.grad):
            yield f'the gradient of leaf {number}'


def main():
    output = subprocess.run([sys.argv[1], 'json'], stdout=subprocess.PIPE, check=True).stdout
    cases = json.loads(output)
    found = [f"{case['name']}: {what} differs" for case in cases for what in compare(case)]
    print('\n'.join(found) or f'{len(cases)} functions agree with PyTorch {torch.__version__}')
    return 1 if found or len(cases) != len(FUNCTIONS) else 0


sys.exit(main())
