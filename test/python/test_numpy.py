"""test_numpy.py - NumPy in and out, and what other array libraries are told of a buffer."""
import gshare
from gshare import Status
from harness import Skip, equal, raises, run, scene

try:
    import numpy as np
except ImportError:
    np = None


def _scene():
    if np is None:
        raise Skip("NumPy is not installed")
    return scene()


def arrays_go_in_and_come_out():
    with _scene() as (session, module):
        for kind in "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8 ?".split():
            array = np.arange(12).astype(kind).reshape(3, 4)
            buffer = session.upload(array)
            out = buffer.numpy()
            equal((buffer.shape, out.dtype, out.tolist()), ((3, 4), array.dtype, array.tolist()))
            equal(session.buffer(5, array.dtype).dtype, buffer.dtype)
            equal(session.buffer(5, array.dtype.type).dtype, buffer.dtype)
        equal(session.upload(np.array(7, "i4")).numpy().tolist(), 7)
        equal(session.upload(np.array(7, "i4")).download().tolist(), 7)
        x = np.linspace(0, 1, 1000, dtype="f4")
        buffer = session.upload(x)
        module.kernel("scale", "ptr", "f32", "u32").launch(4, 256, buffer, np.float64(3), np.int64(1000))
        equal(buffer.numpy().tolist(), (x * np.float32(3)).tolist())
        into = np.zeros(500, "f4")
        assert buffer.download(into, offset=2000) is into
        equal(into.tolist(), (x * np.float32(3))[500:].tolist())


def arrays_need_not_be_contiguous_or_writable_to_go_in():
    with _scene() as (session, _):
        array = np.arange(24, dtype="i4").reshape(4, 6)
        for view in (array.T, array[::2, ::-3], np.asfortranarray(array)):
            equal(session.upload(view).numpy().tolist(), view.tolist())
        array.flags.writeable = False
        equal(session.upload(array).numpy().tolist(), array.tolist())
        with raises(BufferError, "read-only"):
            session.upload(array).download(array)
        with raises(BufferError, "not contiguous"):
            session.upload(array).download(np.zeros((6, 4), "i4").T)
        with raises(TypeError, "no type of array elements"):
            session.upload(np.zeros(3, ">f4"))
        with raises(TypeError, "no type of array elements"):
            session.upload(np.zeros(3, "c8"))
        with raises(TypeError, "no type of array elements"):
            session.buffer(3, np.dtype(">f4"))


def host_blocks_are_arrays():
    with _scene() as (session, _):
        with session.host_block((2, 8), "f16") as block:
            array = block.numpy()
            array[:] = np.arange(16).reshape(2, 8)
            equal(session.upload(array).numpy().tolist(), array.tolist())
            buffer = session.upload(np.ones((2, 8), "f2"))
            buffer.download(array, stream=session.default_stream)
            session.sync()
        equal(array.sum(), 16)
        part = np.from_dlpack(array)[1:]
        session.close()
        del array, block
        equal(part.tolist(), [[1.0] * 8])


def numpy_scalars_tell_their_type():
    with _scene() as (session, module):
        out = session.buffer(8, "u32")
        module.kernel("fill").launch(1, 8, out, np.uint32(3), np.uint32(8))
        equal(out.numpy().tolist(), list(range(3, 11)))
        with raises(Status.ERR_PARAMS, "argument 1 is 8 bytes"):
            module.kernel("fill").launch(1, 8, out, np.uint64(3), np.uint32(8))


def other_libraries_are_told_the_truth():
    with _scene() as (session, module):
        buffer = session.upload(np.arange(6, dtype="f4").reshape(2, 3))
        interface = buffer.__cuda_array_interface__
        equal(interface["shape"], (2, 3))
        equal((interface["typestr"], interface["version"], interface["strides"]), ("<f4", 3, None))
        equal(interface["data"], (buffer.address, False))
        # An array of another library in the same session goes into a launch by that interface.
        other = type("Array", (), {"__cuda_array_interface__": interface})()
        module.kernel("scale", "ptr", "f32", "u32").launch(1, 6, other, 2, 6)
        equal(buffer.numpy().tolist(), [[0, 2, 4], [6, 8, 10]])
        equal(buffer.__dlpack_device__(), (12, session.info().device))
        with raises(BufferError, "through that session only"):
            buffer.__dlpack__()

        class Capsule:
            def __dlpack__(self, **_):
                return buffer.__dlpack__(dl_device=(1, 0))

            def __dlpack_device__(self):
                return 1, 0

        equal(np.from_dlpack(Capsule()).tolist(), [[0, 2, 4], [6, 8, 10]])
        equal(session.upload(Capsule()).numpy().tolist(), [[0, 2, 4], [6, 8, 10]])
        with raises(BufferError, "device type 2"):
            session.upload(type("Cuda", (), {"__dlpack__": None, "__dlpack_device__": lambda self: (2, 0)})())
        buffer.close()
        with raises(gshare.Error, "closed"):
            buffer.__cuda_array_interface__


if __name__ == "__main__":
    run(globals())
