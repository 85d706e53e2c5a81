"""_stream.py - streams, events and graphs."""
import contextlib
import ctypes

from ._abi import lib
from ._base import Error, Handle, Status, check, nanoseconds, ready
from ._qos import qos_struct


class Stream(Handle):
    """An order of work. Its end waits for the work; the default stream's does nothing."""

    def __init__(self, session, qos=None, *, default=False):
        if default:
            self._session, self._handle = session, None
            return
        handle = ctypes.c_void_p()
        check(lib.gs_stream_create(session.handle, qos_struct(qos), ctypes.byref(handle)))
        super().__init__(session, handle.value, lib.gs_stream_destroy)

    def sync(self, timeout=None):
        """Blocks until all that the stream was given is complete, for `timeout` seconds at most.
        Whether it is."""
        if timeout is None:
            check(lib.gs_stream_sync(self._session.handle, self._handle))
            return True
        return ready(lib.gs_stream_sync_for(self._session.handle, self._handle, nanoseconds(timeout)))

    def query(self):
        """Whether all that the stream was given is complete."""
        return ready(lib.gs_stream_query(self._session.handle, self._handle))

    def wait(self, event):
        """Later work of the stream waits, on the device, for the event."""
        check(lib.gs_stream_wait_event(self._handle, event._handle))

    @contextlib.contextmanager
    def record(self):
        """Records the calls on the stream inside the `with` block: the graph that it gives can be
        launched after the block. An exception drops the recording. The graph keeps the buffers
        that were given to its calls."""
        graph = Graph(self._session)
        handle = ctypes.c_void_p()
        check(lib.gs_graph_begin(self._session.handle, self._handle))
        recordings = self._session.attachment.recordings
        recordings[self._handle] = graph._kept
        try:
            yield graph
        except BaseException:
            if lib.gs_graph_end(self._session.handle, self._handle, ctypes.byref(handle)) == 0:
                lib.gs_graph_destroy(handle)
            raise
        else:
            check(lib.gs_graph_end(self._session.handle, self._handle, ctypes.byref(handle)))
            graph._made(handle.value)
        finally:
            del recordings[self._handle]


def on(stream, session, *objects):
    """The handle of the stream that a call of the session is for, None for the default stream. A
    graph that the stream records keeps what the call uses."""
    handle = None
    if stream is not None:
        handle = stream._handle
        if stream._session is not session:
            raise Error(Status.ERR_INVALID_HANDLE, "the stream is another session's")
    kept = session.attachment.recordings.get(handle)
    if kept is not None:
        kept.extend(objects)
    return handle


class Graph(Handle):
    """Work that Stream.record recorded. Its launches run to their end."""

    def __init__(self, session):
        self._session, self._handle, self._kept = session, None, []

    def _made(self, handle):
        super().__init__(self._session, handle, lib.gs_graph_destroy)

    def launch(self, stream=None):
        """Queues the whole graph, on the default stream without one."""
        check(lib.gs_graph_launch(self._handle, on(stream, self._session)))


class Event(Handle):
    """A point in a stream's work."""

    def __init__(self, session):
        handle = ctypes.c_void_p()
        check(lib.gs_event_create(session.handle, ctypes.byref(handle)))
        super().__init__(session, handle.value, lib.gs_event_destroy)

    def record(self, stream=None):
        """Captures what the stream (the default one without) was given so far."""
        check(lib.gs_event_record(self._handle, on(stream, self._session)))

    def sync(self, timeout=None):
        """Blocks until the captured work is complete, for `timeout` seconds at most. Whether it
        is."""
        if timeout is None:
            check(lib.gs_event_sync(self._handle))
            return True
        return ready(lib.gs_event_sync_for(self._handle, nanoseconds(timeout)))

    def descriptor(self):
        """A file descriptor that is readable once the work captured by now is complete, or the
        session has ended: for selectors and asyncio. The caller closes it (os.close)."""
        fd = ctypes.c_int()
        check(lib.gs_event_fd(self._handle, ctypes.byref(fd)))
        return fd.value

    def query(self):
        """Whether the captured work is complete."""
        return ready(lib.gs_event_query(self._handle))

    def elapsed_since(self, start):
        """Milliseconds of device time from the event `start` to this one; both are complete. None
        where one is not."""
        milliseconds = ctypes.c_float()
        if ready(lib.gs_event_elapsed(start._handle, self._handle, ctypes.byref(milliseconds))):
            return milliseconds.value
        return None
