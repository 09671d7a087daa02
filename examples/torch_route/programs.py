# Two programs of PyTorch that know nothing of Keyway: a network that learns, and a mix of operators.
#
# Layer:   example
# Threads: one.
# SPDX-License-Identifier: MIT
#
# Each is a function that returns named results, the same ones in every run: seeds are set inside.

import torch
from torch import nn


def learn(steps=3):
    """Trains a small convolutional network with momentum; returns losses, parameters, gradients."""
    torch.manual_seed(7)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(64, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 5))
    images, labels = torch.randn(6, 1, 8, 8), torch.randint(0, 5, (6,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    results = {}
    for step in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        results[f'loss {step}'] = loss.detach()
    for name, parameter in model.named_parameters():
        results[name] = parameter.detach()
        results[f'{name} gradient'] = parameter.grad
        results[f'{name} version'] = parameter._version
    for name, buffer in model.named_buffers():
        results[name] = buffer
    return results


def views():
    """Views and writes through them: who shares memory with whom, and how often it was written."""
    base = torch.arange(24.).reshape(2, 3, 4)
    part = base[:, 1:, ::2]
    same = part.add_(1)
    base[0, 0] = 5
    base[base > 20] = 0
    turned = base.transpose(1, 2)
    turned.mul_(2)
    diagonal = base.diagonal(0, 1, 2)
    first, *_ = base.unbind(0)
    pieces = base.split(1, dim=1)
    pieces[2].zero_()
    wide = base.expand(3, 2, 3, 4)
    strided = base.as_strided((2, 2), (1, 12), 2)
    strided.sub_(3)
    flat = base.view(-1).squeeze()
    shared = [part, turned, diagonal, first, *pieces, wide, strided, flat]
    return {
        'base': base, 'turned': turned.contiguous(), 'diagonal': diagonal, 'strided': strided,
        'in place is itself': same is part,
        'versions': [base._version, part._version, flat._version],
        'places': [(t.data_ptr() - base.data_ptr(), t.storage_offset(), t.stride()) for t in shared],
        'one storage': [t.storage().data_ptr() == base.storage().data_ptr() for t in shared],
    }


def reductions():
    """Reductions, sorting and indexing: several returns, lists, optional tensors."""
    torch.manual_seed(3)
    x, y = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    largest, where = x.max(1)
    top, at = torch.topk(x, 2)
    ordered, order = x.sort(descending=True)
    variance, mean = torch.var_mean(x)
    left, right = torch.cat([x, y], 1).chunk(2, 1)
    put = x.clone()
    put.index_put_((torch.tensor([0, 1]), torch.tensor([2, 0])), torch.tensor(1.), accumulate=True)
    return {
        'max': largest, 'argmax': where, 'top': top, 'top at': at, 'ordered': ordered, 'order': order,
        'variance': variance, 'mean': mean, 'deviation': x.std(0), 'norm': x.norm(), 'sum': x.sum(),
        'item': x.sum().item(), 'any': bool((x > 3).any()), 'cumsum': x.cumsum(0),
        'index': x[torch.tensor([0, 1]), :, torch.tensor([1, 2])], 'index put': put,
        'gather': x.gather(1, where.unsqueeze(1)), 'nonzero': (x > 0).nonzero(),
        'stack': torch.stack([x, y], -1), 'left': left, 'right': right,
        'chosen': torch.where(x > 0, x, -y), 'product': torch.bmm(x, y.transpose(1, 2)),
        'einsum': torch.einsum('bij,bkj->ik', x, y), 'clamped': x.clamp(min=-0.5), 'scaled': x * 2.5 + 1,
    }


def arguments():
    """Numbers, types, devices, layouts, memory formats, generators, and tensors to write into."""
    generator = torch.Generator().manual_seed(11)
    x = torch.rand(2, 3, 4, 5, generator=generator)
    out = torch.empty(2, 3, 4, 5)
    returned = torch.add(x, x, alpha=2, out=out)
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    torch.max(x, 0, out=(values, indices))
    last = x.to(memory_format=torch.channels_last)
    many = [torch.ones(2), torch.ones(3)]
    torch._foreach_add_(many, 2.0)
    return {
        'rand': x, 'out': out, 'out is itself': returned is out, 'values': values, 'indices': indices,
        'channels last': last, 'channels last strides': last.stride(),
        'double': x.to(torch.float64).mul_(2), 'half': x.half().float(), 'int': x.mul(9).to(torch.int32),
        'bool': torch.ones_like(x, dtype=torch.bool), 'complex': torch.full((2,), 1 + 2j).conj() * 2,
        'real': torch.complex(x, x).conj().imag, 'zeros': torch.zeros(2, layout=torch.strided, device='cpu'),
        'permutation': torch.randperm(9, generator=generator), 'linspace': torch.linspace(0, 1, 5),
        'meta shape': torch.empty(3, 4, device='meta').transpose(0, 1).shape, 'empty': torch.empty(0, 3) * 2,
        'plus true': x + True, 'power': x ** 2, 'scalar': torch.scalar_tensor(3) / 2, 'many': many,
        'channels first again': last.contiguous(), 'bfloat': x.bfloat16().float(),
    }


ALL = {'learn': learn, 'views': views, 'reductions': reductions, 'arguments': arguments}
