# Tensors and other values on their way between PyTorch and Keyway.
#
# Layer:   example
# Threads: any.
# SPDX-License-Identifier: MIT
#
# A tensor goes from PyTorch to Keyway by DLPack, without a copy, as a TorchTensor: a Keyway tensor that
# knows whom it stands for. What DLPack does not take (here booleans, conjugates, sparse tensors and
# those of the device "meta") goes as metadata only. On the way back a TorchTensor is whom it stands for;
# what a kernel in C has made goes by DLPack.

import keyway as kw
import torch

TYPES = {getattr(torch, t.name): t for t in kw.DType if isinstance(getattr(torch, t.name, None), torch.dtype)}
LAYOUTS = {torch.strided: kw.Layout.strided, torch.sparse_coo: kw.Layout.sparse, torch._mkldnn: kw.Layout.mkldnn,
           torch.sparse_csr: kw.Layout.sparse_csr, torch.sparse_csc: kw.Layout.sparse_csc,
           torch.sparse_bsr: kw.Layout.sparse_bsr, torch.sparse_bsc: kw.Layout.sparse_bsc}
FORMATS = {getattr(torch, f'{f.name}_format', getattr(torch, f.name, None)): f for f in kw.MemoryFormat}


class TorchTensor(kw.Tensor):
    """A Keyway tensor that stands for `torch`: a tensor of PyTorch, or a number in a tensor's place."""

    torch = None


def tensor_to_keyway(tensor):
    """The Keyway tensor that stands for a tensor of PyTorch, or for a number."""
    data = tensor if isinstance(tensor, torch.Tensor) else torch.tensor(tensor)
    try:
        made = TorchTensor.make_subclass(kw.from_dlpack(data.detach()))
    except (RuntimeError, BufferError, kw.NotSupported):
        made = wrapper(data)
    made.torch = tensor
    return made


def wrapper(tensor):
    """A Keyway tensor with the metadata of `tensor` and no memory."""
    strides = tensor.stride() if tensor.layout is torch.strided else None
    return TorchTensor.make_wrapper(
        tensor.shape, strides=strides, dtype=TYPES[tensor.dtype], device=device_to_keyway(tensor.device))


def tensor_to_torch(tensor):
    """The tensor of PyTorch that a Keyway tensor stands for, or one over its memory."""
    if isinstance(tensor, TorchTensor):
        return tensor.torch
    return torch.utils.dlpack.from_dlpack(tensor.__dlpack__())


def device_to_keyway(device):
    return kw.Device(str(device))


def device_to_torch(device):
    return torch.device(device.type_name, device.index) if device.index >= 0 else torch.device(device.type_name)


def reverse(table):
    return {int(theirs): ours for ours, theirs in table.items()}


# By the base type of an argument in its schema: to Keyway, and back. What is missing goes as it is.
CONVERSIONS = {
    'Tensor': (tensor_to_keyway, tensor_to_torch),
    'ScalarType': (TYPES.__getitem__, reverse(TYPES).__getitem__),
    'Layout': (LAYOUTS.__getitem__, reverse(LAYOUTS).__getitem__),
    'MemoryFormat': (FORMATS.__getitem__, reverse(FORMATS).__getitem__),
    'Device': (device_to_keyway, device_to_torch),
    'Generator': (kw.Generator, lambda generator: generator.value),
}


TO_KEYWAY, TO_TORCH = 0, 1


def converters(type_text):
    """Two functions for values of a schema's type, indexed by direction: lists are gone through."""
    base = type_text.split('(')[0].split('[')[0].rstrip('?')
    return tuple(through_lists(convert) for convert in CONVERSIONS.get(base, (None, None)))


def through_lists(convert):
    def through(value):
        if isinstance(value, (list, tuple)) and not isinstance(value, kw.Device):
            return [through(item) for item in value]
        return value if value is None else convert(value)

    return through if convert else lambda value: value


def result_to_torch(result):
    """What an operator returned: tensors become PyTorch's, alone and in lists and tuples."""
    if isinstance(result, (list, tuple)):
        return type(result)(result_to_torch(item) for item in result)
    return tensor_to_torch(result) if isinstance(result, kw.Tensor) else result


def result_to_keyway(result, arguments):
    """The reverse for a kernel. What was an argument stays that argument: it was written in place."""
    if isinstance(result, (list, tuple)):
        return [result_to_keyway(item, arguments) for item in result]
    if not isinstance(result, torch.Tensor):
        return result
    for argument in flat(arguments):
        if isinstance(argument, TorchTensor) and argument.torch is result:
            return argument
    return tensor_to_keyway(result)


def flat(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from flat(value)
        else:
            yield value
