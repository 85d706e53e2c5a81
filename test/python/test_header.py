"""test_header.py - the package has gshare.h right: a C program tells sizes, offsets and constants."""
import ctypes
import glob
import os
import re
import shlex
import subprocess
import tempfile

from gshare import _abi
from harness import SOURCE, Skip, equal, run

HEADER = open(os.path.join(SOURCE, "include/gshare.h"), encoding="utf-8").read()
CODE = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)


def _told_by_c(lines):
    """What a C program prints of the expressions, all of type size_t or int: numbers."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "told.c"), os.path.join(folder, "told")
        prints = "\n".join(f'    printf("%lld\\n", (long long)({line}));' for line in lines)
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"#include <gshare.h>\n#include <stdio.h>\nint main(void)\n{{\n{prints}\n    return 0;\n}}\n")
        try:
            subprocess.run([*compiler, "-I", os.path.join(SOURCE, "include"), "-o", program, source], check=True)
        except FileNotFoundError:
            raise Skip("there is no C compiler") from None
        told = subprocess.run([program], check=True, capture_output=True, text=True, timeout=30).stdout
    return [int(line) for line in told.split()]


def each_struct_has_the_sizes_and_offsets_of_the_header():
    asked, wanted = [], []
    for name, struct in _abi.STRUCTS.items():
        asked.append(f"sizeof({name})")
        wanted.append((asked[-1], ctypes.sizeof(struct)))
        for field, *_ in struct._fields_:
            asked += [f"offsetof({name}, {field})", f"sizeof((({name} *)0)->{field})"]
            wanted += [(asked[-2], getattr(struct, field).offset), (asked[-1], getattr(struct, field).size)]
    equal(list(zip(asked, _told_by_c(asked))), wanted)


def each_struct_of_the_header_is_there_with_all_its_fields():
    found = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", CODE, re.S)
    equal({name for name, _ in found}, set(_abi.STRUCTS))
    for name, body in found:
        fields = [
            re.search(r"(\w+)(\[\w+\])?$", part.strip())[1]
            for line in body.split(";")
            for part in line.split(",")
            if part.strip()
        ]
        equal((name, fields), (name, [field for field, *_ in _abi.STRUCTS[name]._fields_]))


def each_constant_has_the_value_of_the_header():
    wanted = [
        (prefix + member.name, member.value) for prefix, members in _abi.ENUMS.items() for member in members
    ] + [
        ("GS_DEVICE_AUTO", _abi.DEVICE_AUTO),
        ("GS_EXPORT_TO_USER", _abi.EXPORT_TO_USER),
        ("GS_SM_MASK_WORDS", _abi.SM_MASK_WORDS),
    ]
    equal(list(zip(dict(wanted), _told_by_c(dict(wanted)))), wanted)
    bodies = re.findall(r"typedef enum \w+ \{(.*?)\}", CODE, re.S)
    constants = {name for body in bodies for name in re.findall(r"GS_\w+", body)}
    equal(constants - set(dict(wanted)), set())


def _prototypes():
    """Name, type of the result and types of the parameters of each function of the header."""
    for result, name, parameters in re.findall(r"GS_API ([\w *]+?)(gs_\w+)\(([^)]*)\);", CODE):
        types = [re.sub(r"\bconst\b|\w+$|\s", "", one.strip()) for one in parameters.split(",")]
        yield name, result.strip(), [] if parameters == "void" else types


def _spelled(kind):
    """The header's words for a ctypes type of an argument."""
    names = {struct: name for name, struct in _abi.STRUCTS.items()}
    if isinstance(kind, type) and issubclass(kind, ctypes._Pointer):
        return {f"{one}*" for one in _spelled(kind._type_)} | ({"void**"} if kind._type_ is ctypes.c_void_p else set())
    handles = {"gs_session", "gs_stream", "gs_event", "gs_module", "gs_kernel", "gs_graph", "void*"}
    return {
        ctypes.c_void_p: handles,
        ctypes.c_uint64: {"uint64_t", "gs_devptr", "gs_report_id", "size_t"},  # c_size_t is the same class
        ctypes.c_int: {"int", "gs_status"},
        ctypes.c_uint: {"unsigned"},
        ctypes.c_float: {"float"},
        ctypes.c_char_p: {"char*"},
    }.get(kind) or {names[kind]}


def each_function_is_declared_as_in_the_header_or_left_out_with_a_reason():
    found = {name: (result, types) for name, result, types in _prototypes()}
    assert len(found) > 50, found
    equal(set(found), set(_abi.FUNCTIONS) | set(_abi.NOT_WRAPPED))
    equal(set(_abi.FUNCTIONS) & set(_abi.NOT_WRAPPED), set())
    for name, arguments in _abi.FUNCTIONS.items():
        result, types = found[name]
        assert len(types) == len(arguments), (name, types)
        for kind, argument in zip(types, arguments):
            assert kind in _spelled(argument), (name, kind, argument)
        wanted = ctypes.c_char_p if result == "const char *" else ctypes.c_int
        equal((name, getattr(_abi.lib, name).restype), (name, wanted))


def each_declared_function_is_used():
    texts = ""
    for path in glob.glob(os.path.join(SOURCE, "lib/python/gshare/*.py")):
        texts += open(path, encoding="utf-8").read()
    equal({name for name in _abi.FUNCTIONS if not re.search(rf"\blib\.{name}\b", texts)}, set())


if __name__ == "__main__":
    run(globals())
