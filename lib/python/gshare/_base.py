"""_base.py - what all objects of the package share: errors, checked numbers, and the end of what they own."""
import collections
import ctypes
import operator
import weakref

from ._abi import Status, lib


class Error(Exception):
    """A call that failed: `status` is its Status, `message` the library's, which names the wrong
    value and its limit."""

    def __init__(self, status, message):
        super().__init__(status, message)
        self.status = status
        self.message = message

    def __str__(self):
        return f"{lib.gs_status_name(self.status).decode()}: {self.message}"


def check(status):
    """Raises the calling thread's last error unless the status is OK."""
    if status != Status.OK:
        message = lib.gs_last_error_message().decode(errors="replace")
        raise Error(Status(status), message)


def version():
    """The library's GS_VERSION: 10000 * major + 100 * minor + patch."""
    number = ctypes.c_uint()
    check(lib.gs_version(ctypes.byref(number)))
    return number.value


def ready(status):
    """Of a query: False is NOT_READY."""
    if status == Status.NOT_READY:
        return False
    check(status)
    return True


def nanoseconds(seconds):
    """So many, as a wait takes them; what is less than none is none."""
    return min(max(int(seconds * 1e9), 0), (1 << 64) - 1) if seconds < 1e9 else (1 << 64) - 1


def number(name, value, bits=64, status=Status.ERR_INVALID_VALUE):
    """The value as an unsigned number of so many bits: ctypes would cut it silently."""
    value = operator.index(value)
    if not 0 <= value < 1 << bits:
        raise Error(status, f"{name} is {value}, which is not from 0 to {(1 << bits) - 1}")
    return value


def signed(name, value):
    """The value as a C int."""
    value = operator.index(value)
    if not -(1 << 31) <= value < 1 << 31:
        raise Error(Status.ERR_INVALID_VALUE, f"{name} is {value}, which is no int")
    return value


def text(value):
    """The string as a C function takes it; None stays None."""
    if value is None:
        return None
    encoded = str(value).encode()
    if b"\0" in encoded:
        raise Error(Status.ERR_INVALID_VALUE, f"{value!r} has a NUL in it")
    return encoded


def record(name, struct, **enums):
    """A named tuple class of the struct's fields, and the function that makes one of a struct."""
    names = [field for field, *_ in struct._fields_ if field != "size"]
    cls = collections.namedtuple(name, names)

    def value(source, field):
        got = getattr(source, field)
        if field in enums:
            return enums[field](got)
        if isinstance(got, bytes):
            return got.decode(errors="replace")
        return tuple(got) if isinstance(got, ctypes.Array) else got

    def of(source):
        return cls._make(value(source, field) for field in names)

    return cls, of


class Owned:
    """Owns one object of the library, made in self._session, until close(), the end of a `with` block, or its own end.

    Errors are ignored where an exception is on its way already, or nobody could take them.
    """

    _finalizer = None  # a subclass sets _session, which so lives as long as what was made in it

    def _own(self, end, *arguments):
        self._finalizer = weakref.finalize(self, end, *arguments)
        # The end of the process gives everything back, in the session's own end.
        self._finalizer.atexit = False

    @property
    def closed(self):
        return self._finalizer is None or not self._finalizer.alive or self._session.closed

    def close(self):
        """Ends the object, and raises if that fails; it is still open then. Does nothing where the
        object has ended, by itself or with its session."""
        # Of several threads one gets what is owned.
        owned = self._finalizer and self._finalizer.detach()
        if owned and not self._session.closed:
            _, end, arguments, _ = owned
            status = end(*arguments)
            if status != Status.OK:
                self._own(end, *arguments)
            check(status)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self.close()
        elif self._finalizer is not None:
            self._finalizer()


class Handle(Owned):
    """An object that the library knows by a handle, which stays a value when the object has gone:
    the library then answers with ERR_INVALID_HANDLE."""

    def __init__(self, session, handle, end):
        self._session = session
        self._handle = handle
        self._own(end, handle)

