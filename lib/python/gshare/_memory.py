"""_memory.py - device memory, and host memory that the device copies from and to directly."""
import ctypes
import math
import mmap
import operator
import os
import weakref

from . import _abi
from ._abi import lib
from ._base import Error, Owned, Status, check, number
from ._stream import on
from ._types import element_type, type_of_view

# DLPack's device types, of which a process without a CUDA context can tell the truth by these.
DL_CPU = 1
DL_CUDA_HOST = 3
DL_EXT_DEV = 12


def shape_of(shape):
    """A tuple of sizes, of one size or several."""
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(operator.index(n) for n in shape)


def _numpy():
    try:
        import numpy
    except ImportError:
        raise ImportError("this call needs NumPy: apt install python3-numpy, or pip install numpy") from None
    return numpy


def host_view(source):
    """A memoryview of host memory: of what has the buffer protocol, else of what DLPack exports."""
    try:
        return memoryview(source)
    except TypeError:
        if not hasattr(source, "__dlpack__"):
            raise
    device, _ = source.__dlpack_device__()
    if device not in (DL_CPU, DL_CUDA_HOST):
        raise BufferError(
            f"the array is in memory of DLPack device type {device}, which this process cannot reach "
            "through gshare: copy it to the host first"
        )
    return memoryview(_numpy().from_dlpack(source))


def _memory_of(view, writable):
    """The view's memory as what ctypes passes by address, which holds the memory while it lives."""
    if writable and (view.readonly or not view.c_contiguous):
        raise BufferError(f"the memory is {'read-only' if view.readonly else 'not contiguous'}")
    if view.nbytes == 0:
        return b""
    if not view.c_contiguous:
        return view.tobytes()
    if not view.readonly:
        return (ctypes.c_char * view.nbytes).from_buffer(view)
    if isinstance(view.obj, bytes) and len(view.obj) == view.nbytes:
        return view.obj
    return (ctypes.c_char * view.nbytes).from_buffer_copy(view)


class Buffer(Owned):
    """Device memory with a shape and a type of elements, in C order; zeroed when it is made.

    The memory is freed when the work is done that the session was given before, so the last reference may
    go while a launch uses it. __cuda_array_interface__ is for libraries that reach the device
    through this session, as by libgshare_cudart: a library with a CUDA context of its own has
    other memory at these addresses, or none. For that reason DLPack's device type is kDLExtDev.
    """

    def __init__(self, session, address, shape, dtype, end=None, keep=None):
        self._session = session
        self._address = address
        self._keep = keep
        self.dtype = element_type(dtype)
        self.shape = shape_of(shape)
        if end is not None:
            self._own(end, session.handle, address)

    @classmethod
    def _allocate(cls, session, shape, dtype):
        shape, kind = shape_of(shape), element_type(dtype)
        address = ctypes.c_uint64()
        size = number("the size of a buffer", math.prod(number("a length", n) for n in shape) * kind.size)
        check(lib.gs_malloc(session.handle, size, ctypes.byref(address)))
        return cls(session, address.value, shape, kind, lib.gs_free)

    @property
    def closed(self):
        return super().closed if self._keep is None else self._keep.closed

    @property
    def address(self):
        """The device address; a kernel's argument may be this plus an offset in bytes."""
        if self.closed:
            raise Error(Status.ERR_INVALID_POINTER, "the buffer is closed")
        return self._address

    def address_in(self, session):
        """The address for a call of the session, which must be the buffer's own: another session
        may have memory of its own there."""
        if session is not self._session:
            raise Error(Status.ERR_INVALID_POINTER, "the buffer is another session's")
        return self.address

    @property
    def nbytes(self):
        return math.prod(self.shape) * self.dtype.size

    def __len__(self):
        return self.shape[0] if self.shape else 1

    def __repr__(self):
        return f"<gshare.Buffer {self.dtype.name}{list(self.shape)}{' closed' if self.closed else ''}>"

    def view(self, shape, dtype):
        """Returns the same memory, from its beginning, as other elements. It is closed with this buffer."""
        other = Buffer(self._session, self.address, shape, dtype, keep=self)
        self._range(other.nbytes, 0)
        return other

    def _range(self, size, offset):
        """The address of so many bytes from the byte `offset` on."""
        number("offset", offset)
        if offset + size > self.nbytes:
            raise Error(Status.ERR_INVALID_POINTER, f"{size} bytes from byte {offset} on, of {self.nbytes}")
        return self.address + offset

    # ---- Copies: with a stream they are queued, else they use the default stream and block ----

    def upload(self, source, offset=0, stream=None):
        """Copies all of the source, anything with the buffer protocol or host memory by DLPack, to
        the byte `offset`. Memory of a HostBlock must stay untouched until the stream has passed the
        copy; other memory has been read when the call returns."""
        view = host_view(source)
        address, memory = self._range(view.nbytes, offset), _memory_of(view, False)
        if stream is None:
            check(lib.gs_memcpy_htod(self._session.handle, address, memory, view.nbytes))
        else:
            queue = on(stream, self._session, self, source)
            check(lib.gs_memcpy_htod_async(self._session.handle, address, memory, view.nbytes, queue))

    def download(self, into=None, offset=0, stream=None):
        """Copies from the byte `offset` on into all of `into`, which is writable memory, and returns it.
        Without `into` it copies the rest of the buffer into new memory, and returns a memoryview of the
        elements. With a stream the call blocks all the same if the memory is not a HostBlock's."""
        if into is None:
            self._range(0, offset)
            into = memoryview(bytearray(self.nbytes - offset))
            if offset == 0 and self.dtype.code != "e":
                into = into.cast(self.dtype.code, self.shape)
        view = memoryview(into)
        address, memory = self._range(view.nbytes, offset), _memory_of(view, True)
        if stream is None:
            check(lib.gs_memcpy_dtoh(self._session.handle, memory, address, view.nbytes))
        else:
            queue = on(stream, self._session, self, into)
            check(lib.gs_memcpy_dtoh_async(self._session.handle, memory, address, view.nbytes, queue))
        return into

    def copy_from(self, other, offset=0, stream=None):
        """Copies all of another buffer of the session to the byte `offset`."""
        address, source = self._range(other.nbytes, offset), other.address_in(self._session)
        if stream is None:
            check(lib.gs_memcpy_dtod(self._session.handle, address, source, other.nbytes))
        else:
            queue = on(stream, self._session, self, other)
            check(lib.gs_memcpy_dtod_async(self._session.handle, address, source, other.nbytes, queue))

    def fill(self, value, stream=None):
        """Sets each byte to the low 8 bits of the value."""
        value = operator.index(value) & 255
        if stream is None:
            check(lib.gs_memset(self._session.handle, self.address, value, self.nbytes))
        else:
            queue = on(stream, self._session, self)
            check(lib.gs_memset_async(self._session.handle, self.address, value, self.nbytes, queue))

    # ---- Other libraries ----

    def numpy(self):
        """Returns a NumPy array with a copy of the buffer."""
        array = _numpy().empty(self.shape, self.dtype.typestr)
        self.download(array)
        return array

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.typestr,
            "data": (self.address, False),
            "version": 3,
            "strides": None,
            "stream": None,  # who reads it waits for the work first: Session.sync
        }

    def __dlpack_device__(self):
        return DL_EXT_DEV, self._session.info().device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A copy in host memory, where the consumer asks for one; else BufferError."""
        if dl_device is None or dl_device[0] != DL_CPU or copy is False:
            raise BufferError(
                "memory of a gshare session is reached through that session only: "
                "ask for a copy on the CPU (dl_device=(1, 0)), or call numpy()"
            )
        return self.numpy().__dlpack__()

    # ---- Sharing with other sessions ----

    def export(self, receiver=_abi.EXPORT_TO_USER):
        """Returns 32 bytes by which the session of this session_id, or any session of the same user, imports
        the memory."""
        handle = _abi.MemHandle()
        check(lib.gs_mem_export(self._session.handle, self.address, number("receiver", receiver), ctypes.byref(handle)))
        return bytes(handle)

    def revoke(self):
        """Takes the memory back from all its importers."""
        check(lib.gs_mem_revoke(self._session.handle, self.address))


class HostBlock:
    """Host memory that the device copies from and to directly; zeroed when it is made.

    The memory is freed when neither the block nor a view of it is left. After close() the views go on, and
    so does the session if it is closed meanwhile. In a child of fork() the views show zeros.
    """

    def __init__(self, session, shape, dtype):
        self.shape, self.dtype = shape_of(shape), element_type(dtype)
        size = number("the size of a host block", math.prod(self.shape) * self.dtype.size)
        address, attachment, token = ctypes.c_void_p(), session.attachment, object()
        # From here on a session that is closed stays attached, unless it was closed before.
        attachment.hosts.add(token)
        try:
            check(lib.gs_host_alloc(attachment.handle, size, ctypes.byref(address)))
            if session.closed:
                raise Error(Status.ERR_INVALID_HANDLE, "the session was closed meanwhile")
        except BaseException:
            attachment.hosts.remove(token)
            raise
        _mapped[address.value] = size
        self._attachment = attachment
        self._memory = (ctypes.c_ubyte * size).from_address(address.value)
        weakref.finalize(self._memory, _host_free, attachment, address.value, token).atexit = False

    @property
    def closed(self):
        return self._memory is None

    @property
    def memory(self):
        """A memoryview, of bytes for float16."""
        if self._memory is None:
            raise Error(Status.ERR_INVALID_POINTER, "the host block is closed")
        view = memoryview(self._memory).cast("B")
        return view if self.dtype.code == "e" else view.cast(self.dtype.code, self.shape)

    @property
    def device(self):
        """The address at which kernels reach the block, also while they run.

        ERR_NOT_SUPPORTED: the session's window had no room for it.
        """
        if self._memory is None:
            raise Error(Status.ERR_INVALID_POINTER, "the host block is closed")
        there = ctypes.c_uint64()
        check(lib.gs_host_device_ptr(self._attachment.handle, ctypes.addressof(self._memory), ctypes.byref(there)))
        return there.value

    def numpy(self):
        """A NumPy array on the memory itself."""
        return _numpy().frombuffer(self.memory, self.dtype.typestr).reshape(self.shape)

    def close(self):
        """Frees the memory after the session's work, or leaves it to the last view to free it."""
        self._memory = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()


_mapped = {}  # sizes of the host blocks of all sessions, by their addresses


def _host_free(attachment, address, token):
    del _mapped[address]
    lib.gs_host_free(attachment.handle, address)
    attachment.hosts.remove(token)


def _replace_in_child():
    """libgshare unmaps its blocks in a child of fork(): memory of the child's own takes their place,
    so that a view there does not end the process."""
    for address, size in _mapped.items():
        _mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, _PRIVATE_NOREPLACE, -1, 0)


_mmap = ctypes.CDLL(None).mmap
_mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_mmap.restype = ctypes.c_void_p
_PRIVATE_NOREPLACE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100000  # MAP_FIXED_NOREPLACE
os.register_at_fork(after_in_child=_replace_in_child)


def upload(session, source):
    """A buffer with the shape, the type and a copy of the source."""
    view = host_view(source)
    made = Buffer._allocate(session, view.shape, type_of_view(view))
    made.upload(view)
    return made
