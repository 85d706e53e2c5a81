"""_abi.py - gshare.h for ctypes: enums, parameter structs, functions, and the library itself.

ctypes because nothing is to be compiled: one package serves every Python, and the calls let other threads run.
test/python compares every enum, struct and prototype here with the header.
"""
import ctypes
import enum
from ctypes import POINTER, c_char, c_char_p, c_float, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p


class _Enum(enum.IntEnum):
    """Constants, to which a newer library may have added some."""

    @classmethod
    def _missing_(cls, value):
        member = int.__new__(cls, value)
        member._name_, member._value_ = f"UNKNOWN_{value}", value
        return member


class Status(_Enum):
    """gs_status: OK and NOT_READY are never raised."""

    OK = 0
    NOT_READY = 1
    ERR_INVALID_VALUE = 2
    ERR_INVALID_HANDLE = 3
    ERR_INVALID_POINTER = 4
    ERR_NO_MEMORY = 5
    ERR_NO_DEVICE_MEMORY = 6
    ERR_QUOTA = 7
    ERR_LIMIT = 8
    ERR_NO_SERVER = 9
    ERR_SERVER_LOST = 10
    ERR_VERSION = 11
    ERR_NO_DEVICE = 12
    ERR_REFUSED = 13
    ERR_BAD_IMAGE = 14
    ERR_NOT_FOUND = 15
    ERR_PARAMS = 16
    ERR_LAUNCH_CONFIG = 17
    ERR_NOT_SUPPORTED = 18
    ERR_INTERRUPTED = 19
    ERR_FAULT = 20
    ERR_FORKED = 21
    ERR_TIMEOUT = 22
    ERR_PERMISSION = 23
    ERR_RECORDING = 24
    ERR_SYSTEM = 25
    ERR_DRIVER = 26
    ERR_PROTOCOL = 27
    ERR_ILLEGAL_ADDRESS = 28


class AffinityType(_Enum):
    """gs_exec_affinity_type"""

    NONE = 0
    SM_COUNT = 1
    SM_MASK = 2
    ACTIVE_THREAD_PERCENTAGE = 3


class Class(_Enum):
    """gs_class"""

    NORMAL = 0
    LATENCY = 1
    BEST_EFFORT = 2


class OnFault(_Enum):
    """gs_on_fault"""

    INTERRUPT = 0
    REPLAY = 1


class Fence(_Enum):
    """gs_fence"""

    AUTO = 0
    ON = 1
    REPORT = 2
    STRICT = 3


class Trust(_Enum):
    """gs_trust"""

    NOBODY = 1
    OWNER = 2
    USERS = 3
    ALL = 4


class FaultKind(_Enum):
    """gs_fault_kind"""

    NONE = 0
    REJECTED = 1
    KERNEL = 2
    DEVICE = 3
    LAUNCH = 4
    EVICTED = 5
    TRAP = 6
    ASSERT = 7
    STRAY = 8


class Format(_Enum):
    """gs_format"""

    UINT8 = 0x01
    UINT16 = 0x02
    UINT32 = 0x03
    INT8 = 0x08
    INT16 = 0x09
    INT32 = 0x0A
    FLOAT16 = 0x10
    FLOAT32 = 0x20


class ResourceType(_Enum):
    """gs_resource_type"""

    ARRAY = 0
    MIPMAPPED = 1
    LINEAR = 2
    PITCHED = 3


class AddressMode(_Enum):
    """gs_address_mode"""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3


class FilterMode(_Enum):
    """gs_filter_mode"""

    POINT = 0
    LINEAR = 1


class GemmType(_Enum):
    """gs_gemm_type"""

    F16 = 1
    BF16 = 2
    F32 = 3
    F64 = 4
    S8 = 5
    S32 = 6


class GemmCompute(_Enum):
    """gs_gemm_compute"""

    F32 = 1
    TF32 = 2
    F64 = 3
    S32 = 4


ENUMS = {  # the header's prefix of its constants
    "GS_": Status,
    "GS_EXEC_AFFINITY_": AffinityType,
    "GS_CLASS_": Class,
    "GS_ON_FAULT_": OnFault,
    "GS_FENCE_": Fence,
    "GS_TRUST_": Trust,
    "GS_FAULT_": FaultKind,
    "GS_FORMAT_": Format,
    "GS_RESOURCE_": ResourceType,
    "GS_ADDRESS_": AddressMode,
    "GS_FILTER_": FilterMode,
    "GS_GEMM_": GemmType,
    "GS_GEMM_COMPUTE_": GemmCompute,
}

DEVICE_AUTO = -1
EXPORT_TO_USER = 0
SM_MASK_WORDS = 8


class Dim3(ctypes.Structure):
    _fields_ = [("x", c_uint), ("y", c_uint), ("z", c_uint)]


class Sized(ctypes.Structure):
    """A parameter struct, which begins with its own size."""

    def __init__(self, **fields):
        super().__init__(ctypes.sizeof(self), **fields)


class ExecAffinity(ctypes.Structure):
    _fields_ = [
        ("type", c_int),
        ("sm_count", c_uint),
        ("percentage", c_uint),
        ("exclusive", c_uint),
        ("sm_mask", c_uint64 * SM_MASK_WORDS),
    ]


class QoS(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("cls", c_int),
        ("priority", c_int),
        ("weight", c_uint),
        ("deadline_ns", c_uint64),
        ("affinity", ExecAffinity),
    ]


class AttachParams(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("instance", c_char_p),
        ("name", c_char_p),
        ("device", c_int),
        ("on_fault", c_int),
        ("mem_limit", c_uint64),
        ("timeout_ms", c_uint),
        ("qos", POINTER(QoS)),
        ("reservation", c_char_p),
        ("fence", c_int),
        ("kernel_heap", c_uint64),
    ]


class SessionDesc(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("session_id", c_uint64),
        ("device", c_int),
        ("server_pid", c_int),
        ("instance", c_char * 32),
        ("device_name", c_char * 64),
        ("compute_major", c_uint),
        ("compute_minor", c_uint),
        ("sm_count", c_uint),
        ("max_threads_per_block", c_uint),
        ("max_block_dim", c_uint * 3),
        ("max_grid_dim", c_uint * 3),
        ("max_dynamic_smem", c_uint),
        ("max_streams", c_uint),
        ("device_memory", c_uint64),
        ("mem_limit", c_uint64),
        ("window_base", c_uint64),
        ("window_size", c_uint64),
        ("sm_granularity", c_uint),
        ("fenced", c_uint),
        ("device_uuid", c_char * 48),
        ("trusts", c_int),
        ("window_reserved", c_uint),
        ("device_count", c_uint),
        ("local_rank", c_uint),
    ]


class Fault(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("status", c_int),
        ("stream", c_uint),
        ("position", c_uint64),
        ("kernel", c_char * 64),
        ("message", c_char * 192),
        ("launch", c_uint64),
        ("address", c_uint64),
        ("lost_launches", c_uint64),
        ("lost_copies", c_uint64),
        ("lost_bytes", c_uint64),
        ("launch_last", c_uint64),
    ]


class Stray(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("count", c_uint64),
        ("address", c_uint64),
        ("line", c_uint),
        ("kernel", c_char * 64),
        ("stream", c_uint),
        ("launch", c_uint64),
        ("launch_last", c_uint64),
    ]


class MemHandle(ctypes.Structure):
    _fields_ = [("bytes", c_ubyte * 32)]


class ArrayDesc(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("width", c_size_t),
        ("height", c_size_t),
        ("depth", c_size_t),
        ("format", c_int),
        ("channels", c_uint),
        ("flags", c_uint),
        ("levels", c_size_t),
    ]


class MemcpySide(ctypes.Structure):
    _fields_ = [
        ("array", c_void_p),
        ("device", c_uint64),
        ("host", c_void_p),
        ("x", c_size_t),
        ("y", c_size_t),
        ("z", c_size_t),
        ("pitch", c_size_t),
        ("rows", c_size_t),
    ]


class Memcpy3DParams(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("dst", MemcpySide),
        ("src", MemcpySide),
        ("width", c_size_t),
        ("height", c_size_t),
        ("depth", c_size_t),
    ]


class TextureResource(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("type", c_int),
        ("array", c_void_p),
        ("address", c_uint64),
        ("format", c_int),
        ("channels", c_uint),
        ("width", c_size_t),
        ("height", c_size_t),
        ("pitch", c_size_t),
    ]


class TextureDesc(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("address_mode", c_int * 3),
        ("filter_mode", c_int),
        ("flags", c_uint),
        ("max_anisotropy", c_uint),
        ("border", c_float * 4),
        ("mipmap_filter", c_int),
        ("mipmap_bias", c_float),
        ("mipmap_min", c_float),
        ("mipmap_max", c_float),
    ]


class TensorMap(ctypes.Structure):
    _fields_ = [("opaque", c_uint64 * 16)]


class TensorMapDesc(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("address", c_uint64),
        ("rank", c_uint),
        ("type", c_uint),
        ("dim", c_uint64 * 5),
        ("stride", c_uint64 * 4),
        ("box", c_uint * 5),
        ("step", c_uint * 5),
        ("interleave", c_uint),
        ("swizzle", c_uint),
        ("l2_promotion", c_uint),
        ("fill", c_uint),
    ]


class GemmMatrix(ctypes.Structure):
    _fields_ = [("at", c_uint64), ("ld", c_uint64), ("stride", c_uint64)]


class GemmParams(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("inputs", c_int),
        ("output", c_int),
        ("compute", c_int),
        ("transpose_a", c_uint),
        ("transpose_b", c_uint),
        ("m", c_uint),
        ("n", c_uint),
        ("k", c_uint),
        ("batch", c_uint),
        ("a", GemmMatrix),
        ("b", GemmMatrix),
        ("c", GemmMatrix),
        ("alpha", ctypes.c_double),
        ("beta", ctypes.c_double),
        ("alpha_at", c_uint64),
        ("beta_at", c_uint64),
    ]


class KernelDesc(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char * 128),
        ("param_count", c_uint),
        ("param_bytes", c_uint),
        ("max_threads_per_block", c_uint),
        ("registers", c_uint),
        ("static_smem", c_uint),
        ("local_bytes", c_uint),
        ("max_dynamic_smem", c_uint),
        ("cluster", Dim3),
        ("in_clusters", c_uint),
    ]


class LaunchConfig(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("grid", Dim3),
        ("block", Dim3),
        ("dynamic_smem", c_uint),
        ("arg_count", c_uint),
        ("arg_sizes", POINTER(c_size_t)),
        ("qos", POINTER(QoS)),
        ("report", POINTER(c_uint64)),
        ("cooperative", c_uint),
        ("programmatic", c_uint),
        ("cluster", Dim3),
    ]


class Report(Sized):
    _fields_ = [
        ("size", c_size_t),
        ("sm_count", c_uint),
        ("priority", c_int),
        ("queued_ns", c_uint64),
        ("run_ns", c_uint64),
        ("partition", c_uint),
        ("late", c_uint),
    ]


STRUCTS = {
    "gs_dim3": Dim3,
    "gs_exec_affinity": ExecAffinity,
    "gs_qos": QoS,
    "gs_attach_params": AttachParams,
    "gs_session_desc": SessionDesc,
    "gs_fault": Fault,
    "gs_stray": Stray,
    "gs_mem_handle": MemHandle,
    "gs_array_desc": ArrayDesc,
    "gs_memcpy_side": MemcpySide,
    "gs_memcpy_3d_params": Memcpy3DParams,
    "gs_texture_resource": TextureResource,
    "gs_texture_desc": TextureDesc,
    "gs_tensor_map": TensorMap,
    "gs_tensor_map_desc": TensorMapDesc,
    "gs_gemm_matrix": GemmMatrix,
    "gs_gemm_params": GemmParams,
    "gs_kernel_desc": KernelDesc,
    "gs_launch_config": LaunchConfig,
    "gs_report": Report,
}

# Arguments of each function. A handle is an opaque pointer, a gs_devptr a number of 64 bits.
_handle, _devptr = c_void_p, c_uint64
FUNCTIONS = {
    "gs_status_name": (c_int,),
    "gs_last_error_message": (),
    "gs_version": (POINTER(c_uint),),
    "gs_attach": (POINTER(AttachParams), POINTER(_handle)),
    "gs_detach": (_handle,),
    "gs_session_info": (_handle, POINTER(SessionDesc)),
    "gs_device_attribute": (_handle, c_uint, POINTER(c_int)),
    "gs_set_qos": (_handle, POINTER(QoS)),
    "gs_get_qos": (_handle, POINTER(QoS)),
    "gs_get_exec_affinity": (_handle, POINTER(ExecAffinity)),
    "gs_last_fault": (_handle, POINTER(Fault)),
    "gs_stray_report": (_handle, POINTER(Stray)),
    "gs_stream_create": (_handle, POINTER(QoS), POINTER(_handle)),
    "gs_stream_destroy": (_handle,),
    "gs_stream_sync": (_handle, _handle),
    "gs_stream_sync_for": (_handle, _handle, c_uint64),
    "gs_stream_query": (_handle, _handle),
    "gs_stream_wait_event": (_handle, _handle),
    "gs_sync": (_handle,),
    "gs_event_create": (_handle, POINTER(_handle)),
    "gs_event_destroy": (_handle,),
    "gs_event_record": (_handle, _handle),
    "gs_event_sync": (_handle,),
    "gs_event_sync_for": (_handle, c_uint64),
    "gs_event_fd": (_handle, POINTER(c_int)),
    "gs_event_query": (_handle,),
    "gs_event_elapsed": (_handle, _handle, POINTER(c_float)),
    "gs_malloc": (_handle, c_size_t, POINTER(_devptr)),
    "gs_free": (_handle, _devptr),
    "gs_mem_info": (_handle, POINTER(c_size_t), POINTER(c_size_t)),
    "gs_kernel_stack": (_handle, c_uint64),
    "gs_mem_export": (_handle, _devptr, c_uint64, POINTER(MemHandle)),
    "gs_mem_import": (_handle, POINTER(MemHandle), POINTER(_devptr), POINTER(c_size_t)),
    "gs_mem_revoke": (_handle, _devptr),
    "gs_host_alloc": (_handle, c_size_t, POINTER(c_void_p)),
    "gs_host_device_ptr": (_handle, c_void_p, POINTER(_devptr)),
    "gs_host_free": (_handle, c_void_p),
    "gs_memcpy_htod": (_handle, _devptr, c_void_p, c_size_t),
    "gs_memcpy_dtoh": (_handle, c_void_p, _devptr, c_size_t),
    "gs_memcpy_dtod": (_handle, _devptr, _devptr, c_size_t),
    "gs_memcpy_htod_async": (_handle, _devptr, c_void_p, c_size_t, _handle),
    "gs_memcpy_dtoh_async": (_handle, c_void_p, _devptr, c_size_t, _handle),
    "gs_memcpy_dtod_async": (_handle, _devptr, _devptr, c_size_t, _handle),
    "gs_memset": (_handle, _devptr, c_int, c_size_t),
    "gs_memset_async": (_handle, _devptr, c_int, c_size_t, _handle),
    "gs_module_load": (_handle, c_void_p, c_size_t, POINTER(_handle)),
    "gs_module_load_file": (_handle, c_char_p, POINTER(_handle)),
    "gs_module_unload": (_handle,),
    "gs_kernel_get": (_handle, c_char_p, POINTER(_handle)),
    "gs_module_kernel_count": (_handle, POINTER(c_uint)),
    "gs_module_kernel_name": (_handle, c_uint, c_char_p, c_size_t),
    "gs_kernel_info": (_handle, POINTER(KernelDesc)),
    "gs_kernel_param_info": (_handle, c_uint, POINTER(c_size_t), POINTER(c_size_t)),
    "gs_kernel_occupancy": (_handle, c_uint, c_uint, POINTER(c_uint)),
    "gs_global_get": (_handle, c_char_p, POINTER(_devptr), POINTER(c_size_t)),
    "gs_launch": (_handle, _handle, POINTER(LaunchConfig), POINTER(c_void_p)),
    "gs_launch_report_for": (_handle, c_uint64, POINTER(Report), c_uint64),
    "gs_graph_begin": (_handle, _handle),
    "gs_graph_end": (_handle, _handle, POINTER(_handle)),
    "gs_graph_launch": (_handle, _handle),
    "gs_graph_destroy": (_handle,),
}
_TEXTURES = "the package has buffers; texels are for kernels that a C or CUDA program sets up"
_FILLS = "an array of NumPy's is filled on the host and copied"
_STREAM_MEMORY = "a buffer belongs to no stream: Python may drop it at any time"
_PRODUCTS = "NumPy's products are the host's; those of the device are for C and CUDA programs"
NOT_WRAPPED = {
    "gs_graph_steps": "a graph of Python's is the order in which it was recorded",
    "gs_graph_after": "a graph of Python's is the order in which it was recorded",
    "gs_graph_change": "a graph of Python's stays as it was recorded",
    "gs_graph_enable": "a graph of Python's stays as it was recorded",
    "gs_host_join": "pinned memory of Python's is the session's that made it",
    "gs_malloc_async": _STREAM_MEMORY,
    "gs_free_async": _STREAM_MEMORY,
    "gs_gemm": _PRODUCTS,
    "gs_gemm_prepare": _PRODUCTS,
    "gs_kernel_heap": "Session(kernel_heap=) says it before the first module can be loaded",
    "gs_launch_host": "the library's thread would wait for the interpreter's lock; gs_event_fd serves event loops",
    "gs_memset_d16": _FILLS,
    "gs_memset_d16_async": _FILLS,
    "gs_memset_d32": _FILLS,
    "gs_memset_d32_async": _FILLS,
    "gs_launch_report": "gs_launch_report_for without time is the same",
    "gs_module_link": "code for Python programs comes whole, from one file",
    "gs_strerror": "an Error has the message of its call, which says more",
    "gs_array_create": _TEXTURES,
    "gs_array_destroy": _TEXTURES,
    "gs_array_info": _TEXTURES,
    "gs_array_level": _TEXTURES,
    "gs_memcpy_3d": _TEXTURES,
    "gs_memcpy_3d_async": _TEXTURES,
    "gs_texture_create": _TEXTURES,
    "gs_texture_destroy": _TEXTURES,
    "gs_surface_create": _TEXTURES,
    "gs_surface_destroy": _TEXTURES,
    "gs_kernel_clusters": "a launch of Python's names no clusters",
    "gs_tensor_map_encode": "tensor maps are for kernels that a C or CUDA program sets up",
}


def _load():
    """libgshare with its prototypes."""
    try:
        library = ctypes.CDLL("libgshare.so.1")
    except OSError as error:
        raise ImportError(
            f"{error}: install gshare, or set LD_LIBRARY_PATH to the folder that has libgshare.so.1"
        ) from None
    for name, arguments in FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = c_int
    library.gs_status_name.restype = c_char_p
    library.gs_last_error_message.restype = c_char_p
    return library


lib = _load()
