"""_qos.py - what a session, a stream or a launch asks of the scheduler, as values."""
import dataclasses

from . import _abi
from ._abi import AffinityType, Class
from ._base import Error, Status, number, signed


@dataclasses.dataclass(frozen=True)
class Affinity:
    """Which SMs kernels run on: so many, a percentage of the device's, or these.

    A request names at most one of sm_count, percentage and sms; an answer has them all. The type
    follows from what is named.
    """

    sm_count: int = 0
    percentage: int = 0
    sms: tuple = ()
    exclusive: bool = False
    type: AffinityType = None

    def __post_init__(self):
        if self.type is None:
            named = [
                kind
                for kind, value in (
                    (AffinityType.SM_COUNT, self.sm_count),
                    (AffinityType.ACTIVE_THREAD_PERCENTAGE, self.percentage),
                    (AffinityType.SM_MASK, len(self.sms)),
                )
                if value
            ]
            if len(named) > 1:
                raise Error(Status.ERR_INVALID_VALUE, "an affinity is a count, a percentage or SMs, not several")
            object.__setattr__(self, "type", named[0] if named else AffinityType.NONE)
        object.__setattr__(self, "sms", tuple(sorted(self.sms)))

    def _fill(self, struct):
        struct.type = self.type
        struct.sm_count = number("sm_count", self.sm_count, 32)
        struct.percentage = number("percentage", self.percentage, 32)
        struct.exclusive = bool(self.exclusive)
        for sm in self.sms:
            if not 0 <= sm < 64 * _abi.SM_MASK_WORDS:
                raise Error(Status.ERR_INVALID_VALUE, f"SM {sm} of a mask of {64 * _abi.SM_MASK_WORDS}")
            struct.sm_mask[sm // 64] |= 1 << sm % 64

    @classmethod
    def _of(cls, struct):
        sms = (n for n in range(64 * _abi.SM_MASK_WORDS) if struct.sm_mask[n // 64] >> n % 64 & 1)
        return cls(struct.sm_count, struct.percentage, tuple(sms), bool(struct.exclusive), AffinityType(struct.type))


@dataclasses.dataclass(frozen=True)
class QoS:
    """gs_qos. To change one field: dataclasses.replace(session.qos(), weight=3)."""

    cls: Class = Class.NORMAL
    priority: int = 0
    weight: int = 0
    deadline_ns: int = 0
    affinity: Affinity = Affinity()

    def _struct(self):
        struct = _abi.QoS(
            cls=signed("class", self.cls),
            priority=signed("priority", self.priority),
            weight=number("weight", self.weight, 32),
            deadline_ns=number("deadline_ns", self.deadline_ns),
        )
        self.affinity._fill(struct.affinity)
        return struct

    @classmethod
    def _of(cls, struct):
        return cls(
            Class(struct.cls), struct.priority, struct.weight, struct.deadline_ns, Affinity._of(struct.affinity)
        )


def qos_struct(qos):
    """For a parameter that may be NULL."""
    return None if qos is None else qos._struct()
