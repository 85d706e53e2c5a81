"""_kernel.py - modules, kernels, and launches whose arguments have types."""
import ctypes

from . import _abi
from ._abi import lib
from ._base import Error, Handle, Status, check, nanoseconds, number, ready, record, text
from ._memory import Buffer
from ._qos import qos_struct
from ._stream import on
from ._types import Parameter, element_type, pack_untyped

KernelInfo, _kernel_info = record("KernelInfo", _abi.KernelDesc)
LaunchReport, _launch_report = record("LaunchReport", _abi.Report, late=bool)


class Module(Handle):
    """A loaded module. Its kernels end with it; what was launched of them runs to its end."""

    def __init__(self, session, image=None, path=None):
        handle = ctypes.c_void_p()
        if path is not None:
            check(lib.gs_module_load_file(session.handle, text(path), ctypes.byref(handle)))
        else:
            image = image.encode() if isinstance(image, str) else bytes(image)
            if not image:
                raise Error(Status.ERR_BAD_IMAGE, "the image is empty")
            check(lib.gs_module_load(session.handle, image, len(image), ctypes.byref(handle)))
        super().__init__(session, handle.value, lib.gs_module_unload)

    def kernel(self, name, *types):
        """The kernel of this (mangled) name. With types, one for each parameter: "f32", "u64" and
        so on, "ptr" for an address, or a class of ctypes (structure, union, array). Their number
        and sizes must be the kernel's."""
        return Kernel(self, name, [Parameter(spec) for spec in types] if types else None)

    def kernels(self):
        """The (mangled) names of the module's kernels."""
        count, name = ctypes.c_uint(), ctypes.create_string_buffer(8192)
        check(lib.gs_module_kernel_count(self._handle, ctypes.byref(count)))
        names = []
        for index in range(count.value):
            check(lib.gs_module_kernel_name(self._handle, index, name, len(name)))
            names.append(name.value.decode())
        return names

    def variable(self, name, dtype="u8"):
        """A global variable as a buffer of such elements, which lives as long as the module."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        check(lib.gs_global_get(self._handle, text(name), ctypes.byref(address), ctypes.byref(size)))
        kind = element_type(dtype)
        return Buffer(self._session, address.value, size.value // kind.size, kind, keep=self)


class Kernel:
    """A kernel of a module."""

    def __init__(self, module, name, types):
        self._module = module
        self._handle = ctypes.c_void_p()
        check(lib.gs_kernel_get(module._handle, text(name), ctypes.byref(self._handle)))
        self._types = types
        if types is not None:
            self._types_check(name)

    def _types_check(self, name):
        count = self.info().param_count
        if len(self._types) != count:
            raise Error(Status.ERR_PARAMS, f"{name} has {count} parameters, not {len(self._types)}")
        for index, kind in enumerate(self._types):
            offset, size = self.parameter(index)
            if size != kind.size:
                raise Error(
                    Status.ERR_PARAMS, f"parameter {index} of {name} is {size} bytes, and {kind.name} {kind.size}"
                )

    def info(self):
        desc = _abi.KernelDesc()
        check(lib.gs_kernel_info(self._handle, ctypes.byref(desc)))
        return _kernel_info(desc)

    def parameter(self, index):
        """Offset and size in bytes of a parameter."""
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        index = number("index", index, 32)
        check(lib.gs_kernel_param_info(self._handle, index, ctypes.byref(offset), ctypes.byref(size)))
        return offset.value, size.value

    def occupancy(self, threads, dynamic_smem=0):
        """How many such blocks an SM runs at once."""
        blocks = ctypes.c_uint()
        threads, dynamic_smem = number("threads", threads, 32), number("dynamic_smem", dynamic_smem, 32)
        check(lib.gs_kernel_occupancy(self._handle, threads, dynamic_smem, ctypes.byref(blocks)))
        return blocks.value

    def launch(
        self,
        grid,
        block,
        *arguments,
        stream=None,
        dynamic_smem=0,
        qos=None,
        cooperative=False,
        programmatic=False,
        cluster=None,
        report=False,
    ):
        """Queues the kernel on the stream (the default one without); grid, block and cluster are a number
        or up to three. The arguments are copied before the call returns; a buffer that is closed
        before the kernel has run is freed after that. With report=True it returns a PendingReport.
        """
        session = self._module._session
        for value in arguments:
            if isinstance(value, Buffer):
                value.address_in(session)
        packed = self._pack(arguments)
        count = len(packed)
        values = [ctypes.create_string_buffer(value, len(value)) for value in packed]
        pointers = (ctypes.c_void_p * count)(*map(ctypes.addressof, values)) if count else None
        config = _abi.LaunchConfig(
            grid=_dim3("grid", grid),
            block=_dim3("block", block),
            dynamic_smem=number("dynamic_smem", dynamic_smem, 32, Status.ERR_LAUNCH_CONFIG),
            arg_count=count,
            arg_sizes=(ctypes.c_size_t * count)(*map(len, packed)) if count else None,
            cooperative=bool(cooperative),
            programmatic=bool(programmatic),
        )
        if cluster is not None:
            config.cluster = _dim3("cluster", cluster)
        struct = qos_struct(qos)
        if struct is not None:
            config.qos = ctypes.pointer(struct)
        identity = ctypes.c_uint64()
        if report:
            config.report = ctypes.pointer(identity)
        queue = on(stream, session, self, *arguments)
        check(lib.gs_launch(queue, self._handle, ctypes.byref(config), pointers))
        return PendingReport(session, identity.value) if report else None

    def _pack(self, arguments):
        if self._types is None:
            return [pack_untyped(value) for value in arguments]
        if len(arguments) != len(self._types):
            raise Error(Status.ERR_PARAMS, f"{len(arguments)} arguments for {len(self._types)} parameters")
        return [kind.pack(value) for kind, value in zip(self._types, arguments)]


def _dim3(name, value):
    sizes = (value,) if hasattr(value, "__index__") else tuple(value)
    if not 1 <= len(sizes) <= 3:
        raise Error(Status.ERR_LAUNCH_CONFIG, f"{name} has {len(sizes)} sizes")
    sizes = [number(name, n, 32, Status.ERR_LAUNCH_CONFIG) for n in sizes]
    return _abi.Dim3(*sizes, *[1] * (3 - len(sizes)))


class PendingReport:
    """The report of a launch that was asked for one."""

    def __init__(self, session, identity):
        self._session, self._identity, self._report = session, identity, None

    def get(self, timeout=0):
        """The LaunchReport, or None where there is none within `timeout` seconds."""
        if self._report is None:
            report = _abi.Report()
            if ready(
                lib.gs_launch_report_for(
                    self._session.handle, self._identity, ctypes.byref(report), nanoseconds(timeout)
                )
            ):
                self._report = _launch_report(report)
        return self._report
