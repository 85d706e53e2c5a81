"""_session.py - a session with the server, which everything else is made in."""
import ctypes
import os
import sys
import weakref

from . import _abi
from ._abi import Fence, FaultKind, OnFault, Status, Trust, lib
from ._base import Error, check, number, record, signed, text
from ._kernel import Module
from ._memory import Buffer, HostBlock, upload
from ._qos import Affinity, QoS, qos_struct
from ._stream import Event, Stream

SessionInfo, _session_info = record("SessionInfo", _abi.SessionDesc, fenced=Fence, trusts=Trust)
Fault, _fault = record("Fault", _abi.Fault, kind=FaultKind, status=Status)
Stray, _stray = record("Stray", _abi.Stray)


class _Attachment:
    """The gs_session. Views of host memory hold it too, because gs_detach unmaps that memory."""

    def __init__(self, handle):
        self.handle = handle
        self.hosts = set()  # a token for each host block that is mapped
        self.recordings = {}  # by stream handle: what the graph that the stream records must keep
        self.finalizer = weakref.finalize(self, _end, handle, self.hosts)


def _end(handle, hosts):
    """At exit views may be left: then the process's end detaches, once what kernels printed is out."""
    if hosts:
        lib.gs_sync(handle)
    else:
        lib.gs_detach(handle)


class Session:
    """A session with the server of an instance (default: $GSHARE_INSTANCE, else "default").

    The session lasts until close() or the end of its `with` block; both wait for its work and end all
    objects that were made in it. Without them it lasts as long as any object that was made in it, at
    most until the program ends.
    Any thread may use it, and other threads run during calls that block; Ctrl-C counts when such a
    call returns. After os.fork() a child attaches anew: objects of its parent raise ERR_FORKED.
    """

    def __init__(
        self,
        instance=None,
        *,
        name=None,
        device=_abi.DEVICE_AUTO,
        on_fault=OnFault.INTERRUPT,
        mem_limit=0,
        timeout_ms=0,
        qos=None,
        reservation=None,
        fence=Fence.AUTO,
        kernel_heap=0,
    ):
        params = _abi.AttachParams(
            instance=text(instance),
            # Of a script its own name, since the program's is python3 with all of them.
            name=text(name or os.path.basename(sys.argv[0] if sys.argv else "") or None),
            device=signed("device", device),
            on_fault=signed("on_fault", on_fault),
            mem_limit=number("mem_limit", mem_limit),
            timeout_ms=number("timeout_ms", timeout_ms, 32),
            reservation=text(reservation),
            fence=signed("fence", fence),
            kernel_heap=number("kernel_heap", kernel_heap),
        )
        struct = qos_struct(qos)
        if struct is not None:
            params.qos = ctypes.pointer(struct)
        handle = ctypes.c_void_p()
        check(lib.gs_attach(ctypes.byref(params), ctypes.byref(handle)))
        self._attachment = _Attachment(handle.value)

    # ---- Its end ----

    @property
    def closed(self):
        return self._attachment is None

    @property
    def attachment(self):
        if self._attachment is None:
            raise Error(Status.ERR_INVALID_HANDLE, "the session is closed")
        return self._attachment

    @property
    def handle(self):
        """The gs_session, for calls of libgshare that have no method here."""
        return self.attachment.handle

    def close(self):
        """Waits for the session's work and ends the session, also if the work failed; then it raises the
        failure. If there are views of host blocks, the session detaches when the last of them ends."""
        attachment, self._attachment = self._attachment, None
        if attachment is None:
            return
        if attachment.hosts:
            check(lib.gs_sync(attachment.handle))
        elif attachment.finalizer.detach():
            check(lib.gs_detach(attachment.handle))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        try:
            self.close()
        except Error:
            if kind is None:
                raise

    # ---- What it is and may ----

    def info(self):
        desc = _abi.SessionDesc()
        check(lib.gs_session_info(self.handle, ctypes.byref(desc)))
        return _session_info(desc)

    def device_attribute(self, number):
        """Returns what the driver says of the device; number is one of CUdevice_attribute."""
        value = ctypes.c_int()
        check(lib.gs_device_attribute(self.handle, number, ctypes.byref(value)))
        return value.value

    def qos(self):
        """Returns the present quality of service, as granted."""
        struct = _abi.QoS()
        check(lib.gs_get_qos(self.handle, ctypes.byref(struct)))
        return QoS._of(struct)

    def set_qos(self, qos):
        """Asks for another quality of service; blocks until it is in force or refused."""
        check(lib.gs_set_qos(self.handle, qos._struct()))

    def affinity(self):
        """Returns the SMs that the session's kernels may run on."""
        struct = _abi.ExecAffinity()
        check(lib.gs_get_exec_affinity(self.handle, ctypes.byref(struct)))
        return Affinity._of(struct)

    def mem_info(self):
        """Returns the bytes of device memory that the session may still allocate, and may hold in all."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        check(lib.gs_mem_info(self.handle, ctypes.byref(free), ctypes.byref(total)))
        return free.value, total.value

    def set_kernel_stack(self, size):
        """Gives each thread of the session's kernels at least `size` bytes of stack, for recursion; waits for a
        moment without running kernels."""
        check(lib.gs_kernel_stack(self.handle, number("size", size)))

    def last_fault(self):
        """Returns the session's first fault, or None."""
        fault = _abi.Fault()
        check(lib.gs_last_fault(self.handle, ctypes.byref(fault)))
        return _fault(fault) if fault.kind != FaultKind.NONE else None

    def strays(self):
        """Returns the strays of a session with Fence.REPORT, or None if there were none."""
        stray = _abi.Stray()
        check(lib.gs_stray_report(self.handle, ctypes.byref(stray)))
        return _stray(stray) if stray.count else None

    def sync(self):
        """Blocks until the work of all streams is complete."""
        check(lib.gs_sync(self.handle))

    # ---- What is made in it ----

    @property
    def default_stream(self):
        return Stream(self, default=True)

    def stream(self, qos=None):
        """Makes a stream, with a class and a priority of its own or those of the session."""
        return Stream(self, qos)

    def event(self):
        return Event(self)

    def buffer(self, shape, dtype="u8"):
        """Allocates zeroed device memory."""
        return Buffer._allocate(self, shape, dtype)

    def upload(self, source):
        """Allocates device memory with the shape, the type and a copy of an array: NumPy's, array.array,
        bytes, any other with the buffer protocol, or host memory by DLPack."""
        return upload(self, source)

    def host_block(self, shape, dtype="u8"):
        """Allocates zeroed host memory that the device copies from and to directly."""
        return HostBlock(self, shape, dtype)

    def import_memory(self, exported):
        """Maps the memory that another session's Buffer.export named, as bytes; view() gives it a type."""
        handle = _abi.MemHandle.from_buffer_copy(exported)
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        check(lib.gs_mem_import(self.handle, ctypes.byref(handle), ctypes.byref(address), ctypes.byref(size)))
        return Buffer(self, address.value, size.value, "u8", lib.gs_free)

    def module(self, image):
        """Loads PTX text, a cubin or a fatbin."""
        return Module(self, image)

    def module_from_file(self, path):
        return Module(self, path=path)
