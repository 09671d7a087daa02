# Tensors: metadata, views, indices, buffers and DLPack, without a copy.
#
# Layer:   test
# Threads: one.
# SPDX-License-Identifier: MIT

import ctypes
import gc
import unittest
import weakref
import zlib

import keyway as kw

import support

np = support.numpy()


class MetadataTest(unittest.TestCase):
    def test_empty_has_what_it_was_asked_for(self):
        t = kw.empty((2, 3), dtype="int32")
        self.assertEqual((t.shape, t.strides, t.ndim, t.size), ((2, 3), (3, 1), 2, 6))
        self.assertEqual((t.itemsize, t.nbytes, t.storage_offset), (4, 24, 0))
        self.assertIs(t.dtype, kw.int32)
        self.assertEqual(t.device, kw.Device("cpu"))
        self.assertIs(t.layout, kw.Layout.strided)
        self.assertEqual(t.keys, kw.KeySet("CPU, ADInplaceOrView, AutogradCPU, AutocastCPU"))
        self.assertEqual(t.data_ptr % 64, 0)
        self.assertEqual(len(t), 2)
        self.assertIs(kw.empty(3).dtype, kw.float32)

    def test_repr_says_shape_type_and_device(self):
        self.assertEqual(repr(kw.empty((2,), dtype=kw.bool)),
                         "Tensor(shape=(2,), dtype=bool, device='cpu')")
        self.assertEqual(repr(kw.empty(1, device="meta")),
                         "Tensor(shape=(1,), dtype=float32, device='meta')")
        self.assertEqual(repr(kw.undefined()), "Tensor(undefined)")

    def test_meta_tensor_has_keys_and_no_memory(self):
        t = kw.empty((1000000, 1000000), device="meta")
        self.assertEqual(t.data_ptr, 0)
        self.assertIn("Meta", t.keys)
        with self.assertRaises(BufferError):
            memoryview(t)

    def test_inference_tensor_has_no_autograd_and_no_version(self):
        with kw.inference_mode():
            t = kw.empty(2)
        self.assertTrue(t.is_inference)
        self.assertNotIn("AutogradCPU", t.keys)
        with self.assertRaises(kw.NotSupported):
            t.version
        self.assertFalse(kw.empty(2, inference=False).is_inference)
        self.assertTrue(kw.empty(2, inference=True).is_inference)

    def test_wrong_arguments_say_what_is_wrong(self):
        with self.assertRaisesRegex(ValueError, "-1"):
            kw.empty((2, -1))
        with self.assertRaisesRegex(ValueError, "float33"):
            kw.empty(2, dtype="float33")
        with self.assertRaisesRegex(ValueError, "nowhere"):
            kw.empty(2, device="nowhere")
        with self.assertRaisesRegex(TypeError, "asarray"):
            kw.Tensor((2, 3))
        with self.assertRaises(ValueError):
            kw.empty((2, 3), strides=(1,))

    def test_equality_is_identity_of_the_c_tensor(self):
        t = kw.empty(2)
        self.assertNotEqual(t, t.alias())
        self.assertEqual(t, kw.asarray(t))
        self.assertEqual(len({t, t, t.alias()}), 2)
        self.assertEqual(t.address % 64, 0)

    def test_weak_reference_ends_with_the_object(self):
        t = kw.empty(2)
        ref = weakref.ref(t)
        self.assertIs(ref(), t)
        del t
        self.assertIsNone(ref())

    def test_functionality_keys_can_be_changed(self):
        t = kw.empty(2)
        t.change_keys(add="Functionalize")
        self.assertIn("Functionalize", t.keys)
        t.change_keys(remove=["Functionalize"])
        self.assertNotIn("Functionalize", t.keys)
        with self.assertRaises(kw.InvalidArgument):
            t.change_keys(add="CUDA")


class ViewTest(unittest.TestCase):
    def setUp(self):
        self.t = kw.empty((2, 3, 4), dtype="int64")
        memoryview(self.t).cast("B").cast("q")[:] = memoryview(bytearray(24 * 8)).cast("q")
        flat = memoryview(self.t).cast("B").cast("q")
        for i in range(24):
            flat[i] = i

    def same_storage(self, view):
        self.assertTrue(view.shares_storage(self.t))
        self.assertTrue(view.is_view)
        return view

    def test_views_share_the_storage(self):
        t, same = self.t, self.same_storage
        self.assertEqual(same(t.view(6, 4)).shape, (6, 4))
        self.assertEqual(same(t.view((4, -1))).shape, (4, 6))
        self.assertEqual(same(t.transpose(0, -1)).shape, (4, 3, 2))
        self.assertEqual(same(t.permute(2, 0, 1)).strides, (1, 12, 4))
        self.assertEqual(same(t.T).shape, (4, 3, 2))
        self.assertEqual(same(t.select(1, 2)).tolist(), [[8, 9, 10, 11], [20, 21, 22, 23]])
        self.assertEqual(same(t.slice(2, 1, None, 2)).tolist()[0], [[1, 3], [5, 7], [9, 11]])
        self.assertEqual(same(t.narrow(0, 1, 1)).data_ptr, t.data_ptr + 12 * 8)
        self.assertEqual(same(t.unsqueeze(0)).shape, (1, 2, 3, 4))
        self.assertEqual(same(t.unsqueeze(0).squeeze(0)).shape, (2, 3, 4))
        self.assertEqual(same(t.select(0, 0).unsqueeze(0).expand(5, 3, 4)).strides[0], 0)
        self.assertEqual(same(t.as_strided((2, 2), (12, 1), 1)).tolist(), [[1, 2], [13, 14]])
        self.assertTrue(t.detach().shares_storage(t))

    def test_index_makes_the_view_that_numpy_makes(self):
        t = self.t
        self.assertEqual(t[1, 2, 3].item(), 23)
        self.assertEqual(t[-1].shape, (3, 4))
        self.assertEqual(t[..., 1].tolist(), [[1, 5, 9], [13, 17, 21]])
        self.assertEqual(t[:, None, 1:, ::2].shape, (2, 1, 2, 2))
        self.assertEqual(t[0, 1:99].shape, (2, 4))
        self.assertEqual([row.shape for row in t], [(3, 4), (3, 4)])
        self.same_storage(t[1])
        for wrong in ((0, 0, 0, 0), 2, (..., ...)):
            with self.assertRaises(IndexError):
                t[wrong]
        with self.assertRaisesRegex(ValueError, "negative"):
            t[::-1]
        with self.assertRaisesRegex(TypeError, "list"):
            t[[0, 1]]

    def test_assignment_writes_through_and_counts(self):
        t = self.t
        before = t.version
        t[0, 0] = 7
        self.assertEqual(t[0].tolist(), [[7] * 4, [4, 5, 6, 7], [8, 9, 10, 11]])
        t[1] = t[0]
        self.assertEqual(t[1].tolist(), t[0].tolist())
        self.assertEqual(t.version, before + 2)
        self.assertEqual(t[1].version, t.version)
        with self.assertRaises(TypeError):
            del t[0]

    def test_copies_have_memory_of_their_own(self):
        t = self.t
        copy = t.transpose(0, 1).contiguous()
        self.assertTrue(copy.is_contiguous())
        self.assertFalse(copy.shares_storage(t))
        self.assertIs(t.contiguous(), t)
        self.assertEqual(t.clone().tolist(), t.tolist())
        self.assertFalse(t.transpose(0, 1).reshape(24).shares_storage(t))
        with self.assertRaises(kw.NotSupported):
            t.transpose(0, 1).view(24)
        target = kw.empty((2, 3, 4), dtype="int64")
        self.assertIs(target.copy_(t), target)
        self.assertEqual(target.tolist(), t.tolist())

    def test_resize_is_refused_while_the_memory_is_known_elsewhere(self):
        t = kw.empty((2, 2))
        with memoryview(t):
            with self.assertRaises(kw.Busy):
                t.resize_(100)
        view = t[0]
        with self.assertRaises(kw.Busy):
            t.resize_(100)
        del view
        self.assertEqual(t.resize_(3, 4).shape, (3, 4))

    def test_item_and_truth_need_one_element(self):
        self.assertEqual(self.t[0, 0, 1].item(), 1)
        self.assertFalse(self.t[0, 0, 0])
        self.assertTrue(self.t[:1, :1, 1:2])
        with self.assertRaises(ValueError):
            self.t.item()
        with self.assertRaises(ValueError):
            bool(self.t)
        with self.assertRaises(TypeError):
            len(self.t[0, 0, 0])


class BufferTest(unittest.TestCase):
    def test_every_type_with_a_code_keeps_its_values(self):
        values = {"uint8": 200, "int8": -3, "int16": -300, "int32": -70000, "int64": -1 << 40,
                  "uint16": 60000, "uint32": 4000000000, "uint64": 1 << 63, "float32": 0.5,
                  "float64": 0.1, "bool": True}
        for name, value in values.items():
            with self.subTest(name):
                t = kw.empty((3,), dtype=name)
                t[...] = value
                self.assertEqual(t.tolist(), [value] * 3)

    def test_buffer_shares_memory_and_is_writable(self):
        t = kw.empty((2, 3), dtype="float64")
        view = memoryview(t)
        self.assertEqual((view.shape, view.strides, view.format), ((2, 3), (24, 8), "d"))
        self.assertFalse(view.readonly)
        view[1, 2] = 42.0
        self.assertEqual(t[1, 2].item(), 42.0)
        address = ctypes.addressof(ctypes.c_char.from_buffer(t))
        self.assertEqual(address, t.data_ptr)

    def test_buffer_keeps_the_memory(self):
        t = kw.empty((1000,), dtype="float64")
        t[...] = 1.5
        view = memoryview(t)
        del t
        gc.collect()
        self.assertEqual(sum(view), 1500.0)

    def test_views_without_contiguity_need_a_consumer_that_takes_strides(self):
        t = kw.empty((2, 3), dtype="float64").transpose(0, 1)
        self.assertEqual(memoryview(t).strides, (8, 24))
        with self.assertRaises(BufferError):
            zlib.crc32(t)

    def test_types_without_a_code_are_refused(self):
        with self.assertRaisesRegex(BufferError, "code"):
            memoryview(kw.empty(2, dtype="bfloat16"))

    def test_from_buffer_shares_memory_and_its_protection(self):
        source = bytearray(range(12))
        t = kw.from_buffer(memoryview(source).cast("h", (2, 3)))
        self.assertEqual((t.dtype, t.shape), (kw.int16, (2, 3)))
        t[0, 0] = 5
        self.assertEqual(source[0], 5)
        self.assertFalse(t.readonly)
        fixed = kw.from_buffer(b"abcd")
        self.assertTrue(fixed.readonly)
        self.assertEqual(fixed.tolist(), list(b"abcd"))
        with self.assertRaises(kw.Error):
            fixed[0] = 1
        with self.assertRaises((BufferError, TypeError)):
            ctypes.c_char.from_buffer(fixed)

    def test_from_buffer_holds_its_source_until_the_last_view(self):
        source = bytearray(8)
        view = kw.from_buffer(source)[2:]
        with self.assertRaises(BufferError):
            source.append(1)
        del view
        source.append(1)

    def test_buffers_that_are_no_tensors_are_refused(self):
        with self.assertRaisesRegex(BufferError, "negative"):
            kw.from_buffer(memoryview(bytearray(4))[::-1])
        with self.assertRaises(TypeError):
            kw.asarray(object())


class DLPackTest(unittest.TestCase):
    def name(self, capsule):
        get = ctypes.pythonapi.PyCapsule_GetName
        get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
        return get(capsule)

    def test_capsules_old_and_versioned_share_the_memory(self):
        t = kw.empty((2, 3), dtype="float64")
        for version, name in ((None, b"dltensor"), ((0, 8), b"dltensor"),
                              ((1, 0), b"dltensor_versioned"), ((9, 9), b"dltensor_versioned")):
            with self.subTest(version):
                capsule = t.__dlpack__(max_version=version)
                self.assertEqual(self.name(capsule), name)
                again = kw.from_dlpack(capsule)
                self.assertEqual(self.name(capsule), b"used_" + name)
                self.assertEqual((again.data_ptr, again.shape), (t.data_ptr, t.shape))
                with self.assertRaisesRegex(ValueError, "used once"):
                    kw.from_dlpack(capsule)

    def test_capsule_that_nobody_takes_gives_its_tensor_back(self):
        def storages():
            return kw.statistics()["storage_count"]

        before = storages()
        t = kw.empty(2)
        capsules = [t.__dlpack__(), t.__dlpack__(max_version=(1, 0))]
        del t
        self.assertEqual(storages(), before + 1)
        del capsules
        self.assertEqual(storages(), before)

    def test_what_an_export_cannot_do_is_refused(self):
        t = kw.empty(2)
        for arguments in ({"copy": True}, {"stream": 1}, {"dl_device": (2, 0)}):
            with self.subTest(arguments), self.assertRaises(BufferError):
                t.__dlpack__(**arguments)
        self.assertEqual(t.__dlpack_device__(), (1, 0))
        self.assertIsNotNone(t.__dlpack__(copy=False, dl_device=(1, 0)))
        with self.assertRaises(TypeError):
            t.__dlpack__(None)

    def test_read_only_memory_needs_the_versioned_capsule(self):
        fixed = kw.from_buffer(b"abcd")
        with self.assertRaises(BufferError):
            fixed.__dlpack__()
        again = kw.from_dlpack(fixed)  # asks for 1.0
        self.assertTrue(again.readonly)
        self.assertEqual(again.data_ptr, fixed.data_ptr)

    def test_objects_that_export_nothing_say_so(self):
        with self.assertRaisesRegex(TypeError, "__dlpack__"):
            kw.from_dlpack(3)

        class Wrong:
            def __dlpack__(self, **kwargs):
                return 3

        class Broken:
            def __dlpack__(self, **kwargs):
                raise RuntimeError("no")

        with self.assertRaisesRegex(TypeError, "instead of a capsule"):
            kw.from_dlpack(Wrong())
        with self.assertRaisesRegex(RuntimeError, "no"):
            kw.from_dlpack(Broken())

    def test_last_reference_on_a_foreign_thread_frees_the_source(self):
        source = bytearray(16)
        t = kw.from_buffer(source)
        support.helper().retain(t.address)
        address = t.address
        del t
        with self.assertRaises(BufferError):
            source.append(1)
        self.assertEqual(support.helper().release_elsewhere(address), 0)
        source.append(1)


@unittest.skipIf(np is None, "NumPy is missing")
class NumPyTest(unittest.TestCase):
    def test_arrays_come_and_go_without_a_copy(self):
        array = np.arange(24.0).reshape(2, 3, 4)
        t = kw.from_dlpack(array)
        self.assertEqual(t.data_ptr, array.ctypes.data)
        back = np.asarray(t)
        self.assertEqual(back.ctypes.data, array.ctypes.data)
        self.assertTrue(back.flags.writeable)
        back[0, 0, 0] = 99
        self.assertEqual(array[0, 0, 0], 99)
        self.assertEqual(np.from_dlpack(t).ctypes.data, array.ctypes.data)

    def test_every_type_that_both_have_keeps_its_bits(self):
        for name in ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
                     "float16", "float32", "float64", "complex64", "complex128"):
            with self.subTest(name):
                array = np.arange(6).astype(name)
                t = kw.asarray(array)
                self.assertEqual(t.dtype.name, name)
                self.assertTrue((np.asarray(t) == array).all())
                self.assertEqual(np.asarray(t).dtype, array.dtype)
                self.assertEqual(kw.empty(1, dtype=array.dtype).dtype.name, name)
        self.assertIs(kw.asarray(np.ones(2, bool)).dtype, kw.bool)

    def test_strides_survive_in_both_directions(self):
        array = np.arange(24.0).reshape(4, 6)
        for view in (array.T, array[::2, 1:5], array[:, 0], np.broadcast_to(array[0], (3, 6))):
            t = kw.asarray(view)
            self.assertEqual(t.tolist(), view.tolist())
            self.assertEqual(t.data_ptr, view.ctypes.data)
            self.assertEqual(np.asarray(t.transpose(0, 0)).tolist(), view.tolist())

    def test_read_only_array_becomes_a_read_only_tensor(self):
        array = np.arange(3.0)
        array.flags.writeable = False
        t = kw.asarray(array)
        self.assertTrue(t.readonly)
        self.assertFalse(np.asarray(t).flags.writeable)
        with self.assertRaises(kw.Error):
            t[0] = 1.0

    def test_array_lives_as_long_as_its_tensor(self):
        array = np.arange(3.0)
        ref = weakref.ref(array)
        t = kw.from_dlpack(array)
        view = t[1:]
        del array, t
        gc.collect()
        self.assertIsNotNone(ref())
        self.assertEqual(view.tolist(), [1.0, 2.0])
        del view
        gc.collect()
        self.assertIsNone(ref())


if __name__ == "__main__":
    support.main()
