# Element types, layouts, memory formats and devices, with PyTorch's numbers.
#
# Layer:   python
# Threads: any.
# SPDX-License-Identifier: MIT

import enum
import typing

from . import _keyway


class DType(enum.IntEnum):
    uint8 = 0
    int8 = 1
    int16 = 2
    int32 = 3
    int64 = 4
    float16 = 5
    float32 = 6
    float64 = 7
    complex32 = 8
    complex64 = 9
    complex128 = 10
    bool = 11
    qint8 = 12
    quint8 = 13
    qint32 = 14
    bfloat16 = 15
    quint4x2 = 16
    quint2x4 = 17
    bits1x8 = 18
    bits2x4 = 19
    bits4x2 = 20
    bits8 = 21
    bits16 = 22
    float8_e5m2 = 23
    float8_e4m3fn = 24
    float8_e5m2fnuz = 25
    float8_e4m3fnuz = 26
    uint16 = 27
    uint32 = 28
    uint64 = 29

    @property
    def itemsize(self):
        return _keyway._dtype_bytes(int(self))


class Layout(enum.IntEnum):
    strided = 0
    sparse = 1
    sparse_csr = 2
    mkldnn = 3
    sparse_csc = 4
    sparse_bsr = 5
    sparse_bsc = 6
    jagged = 7


class MemoryFormat(enum.IntEnum):
    contiguous = 0
    preserve = 1
    channels_last = 2
    channels_last_3d = 3


# The order is that of the numbers.
_DEVICES = (
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan",
    "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
)


class _Device(typing.NamedTuple):
    type: int
    index: int


class Device(_Device):
    """A device: `Device("cuda:1")`, `Device("cpu")`, or its numbers."""

    __slots__ = ()

    def __new__(cls, type, index=None):
        if isinstance(type, str):
            name, colon, number = type.partition(":")
            if name not in _DEVICES or (colon and (not number.isdecimal() or index is not None)):
                raise ValueError(f"{type!r} is no device")
            type = _DEVICES.index(name)
            index = int(number) if colon else index
        elif not isinstance(type, int):
            # Other libraries' devices print as such a text.
            return cls(str(type), index)
        return super().__new__(cls, int(type), -1 if index is None else int(index))

    @property
    def type_name(self):
        return _DEVICES[self.type] if 0 <= self.type < len(_DEVICES) else str(self.type)

    def __str__(self):
        return self.type_name if self.index < 0 else f"{self.type_name}:{self.index}"

    def __repr__(self):
        return f"Device({str(self)!r})"
