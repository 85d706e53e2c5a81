"""gshare - many processes share one NVIDIA GPU; libgshare for Python.

    import gshare

    with gshare.Session(qos=gshare.QoS(cls=gshare.Class.LATENCY)) as session:
        axpy = session.module_from_file("axpy.ptx").kernel("axpy", "f32", "ptr", "ptr", "u32")
        x, y = session.upload(x_array), session.upload(y_array)
        axpy.launch(blocks, 256, 2.0, x, y, len(x))
        result = y.numpy()

A call that fails raises Error. What a call does, when it blocks and which statuses it has stands in
gshare.h with the function of its name.
"""
from ._abi import DEVICE_AUTO, EXPORT_TO_USER, AffinityType, Class, FaultKind, Fence, OnFault, Status, Trust
from ._base import Error, version
from ._kernel import Kernel, KernelInfo, LaunchReport, Module, PendingReport
from ._memory import Buffer, HostBlock
from ._qos import Affinity, QoS
from ._session import Fault, Session, SessionInfo, Stray
from ._stream import Event, Graph, Stream

__all__ = [name for name in dir() if not name.startswith("_")]

