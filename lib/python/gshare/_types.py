"""_types.py - the types of array elements and kernel parameters: "f32", "u8" and so on, by name, by NumPy's
name or dtype; of parameters also "ptr", and a structure, union or array of ctypes."""
import collections
import ctypes
import struct

from ._base import Error, Status

_AGGREGATES = (ctypes.Structure, ctypes.Union, ctypes.Array)

# code: of the struct module, whose pack() refuses values that the type cannot hold.
Type = collections.namedtuple("Type", "name code size typestr")

_BY_NAME = {}
for _name, _numpy, _code, _kind in (
    ("u8", "uint8", "B", "|u"),
    ("i8", "int8", "b", "|i"),
    ("u16", "uint16", "H", "<u"),
    ("i16", "int16", "h", "<i"),
    ("u32", "uint32", "I", "<u"),
    ("i32", "int32", "i", "<i"),
    ("u64", "uint64", "Q", "<u"),
    ("i64", "int64", "q", "<i"),
    ("f16", "float16", "e", "<f"),
    ("f32", "float32", "f", "<f"),
    ("f64", "float64", "d", "<f"),
    ("bool", "bool", "?", "|b"),
):
    _size = struct.calcsize(_code)
    _BY_NAME[_name] = _BY_NAME[_numpy] = Type(_name, _code, _size, f"{_kind}{_size}")


def _type_named(spec):
    """The Type that a spec of element_type names, or None."""
    if isinstance(spec, Type):
        return spec
    name = spec if isinstance(spec, str) else getattr(spec, "name", None) or getattr(spec, "__name__", "")
    name = name.rstrip("_")  # numpy.bool_
    return _BY_NAME.get(name) if getattr(spec, "isnative", True) else None


def element_type(spec):
    """The Type that "f32", "float32", numpy.float32 or a dtype in the machine's byte order names."""
    kind = _type_named(spec)
    if kind is None:
        raise TypeError(f"no type of array elements: {spec!r}; there are {', '.join(sorted(_BY_NAME))}")
    return kind


def type_of_view(view):
    """The Type of a memoryview's elements: of the struct module's codes, some of which have another
    size here than there."""
    code = view.format.lstrip("@=<")
    for letter, codes in (("i", "bhilq"), ("u", "BHILQc"), ("f", "efd")):
        if code in tuple(codes):
            return _BY_NAME[f"{letter}{8 * view.itemsize}"]
    if code == "?":
        return _BY_NAME["bool"]
    raise TypeError(f"no type of array elements: format {view.format!r}")


def address_of_argument(value):
    """The device address that a pointer argument means: of a buffer, of any object with
    __cuda_array_interface__, a number, or None for 0."""
    if value is None:
        return 0
    interface = getattr(value, "__cuda_array_interface__", None)
    return value if interface is None else interface["data"][0]


class Parameter:
    """How one parameter of a kernel becomes bytes."""

    def __init__(self, spec):
        self._pointer = spec == "ptr"
        self._class = None
        if isinstance(spec, type) and issubclass(spec, _AGGREGATES):
            self._class = spec
            self.name, self.size = spec.__name__, ctypes.sizeof(spec)
        else:
            kind = _BY_NAME["u64"] if self._pointer else _type_named(spec)
            if kind is None:
                names = ", ".join(["ptr", *sorted(_BY_NAME)])
                raise TypeError(f"no type of a parameter: {spec!r}; there are {names}, and ctypes' structures, "
                                "unions and arrays")
            self.name, self.size, self._code = spec if self._pointer else kind.name, kind.size, kind.code

    def pack(self, value):
        """The value's bytes; TypeError or Error with ERR_PARAMS where it is none of this type."""
        if self._class is not None:
            return bytes(value if isinstance(value, self._class) else self._class(value))
        try:
            return struct.pack(self._code, address_of_argument(value) if self._pointer else value)
        except (struct.error, OverflowError) as error:
            raise Error(Status.ERR_PARAMS, f"{value!r} is no {self.name}: {error}") from None


def pack_untyped(value):
    """The bytes of an argument that tells its own type: a buffer, None for a null pointer, a ctypes
    object, or a NumPy scalar. A plain Python number could be of several."""
    if value is None or hasattr(value, "__cuda_array_interface__"):
        return struct.pack("Q", address_of_argument(value))
    if isinstance(value, (*_AGGREGATES, ctypes._SimpleCData)):
        return bytes(value)
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return value.tobytes()
    raise TypeError(
        f"the type of argument {value!r} is not known: name the kernel's types, "
        "as in module.kernel('axpy', 'f32', 'ptr', 'ptr', 'u32'), or give a ctypes or NumPy value"
    )
