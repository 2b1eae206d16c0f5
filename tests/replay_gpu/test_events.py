"""NVML's events, replayed: what it hands over, as `nvmlEventData_t` holds it, becomes Xids and then blame.

Sources of the numbers: NVML's nvml.h (event types, return codes) and NVIDIA's list of Xid errors.
"""

import ctypes

import pytest

from harness.replay.node.gpu_events import encode_xids, find_machine_fault
from harness.replay.node.nvml import Nvml, _EventData

XID, DOUBLE_BIT_ECC = 0x8, 0x2
SUCCESS, TIMEOUT, LOST, RESET_REQUIRED = 0, 10, 15, 16


class Driver:
    """Stands in for libnvidia-ml: answers `nvmlEventSetWait_v2` with recorded answers, then with a timeout."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def nvmlEventSetWait_v2(self, events, data, timeout_ms):
        code, kind, number = self.answers.pop(0) if self.answers else (TIMEOUT, 0, 0)
        event = ctypes.cast(data, ctypes.POINTER(_EventData)).contents
        event.kind, event.data = kind, number
        return code


def watch(*answers):
    nvml = Nvml()
    nvml._library, nvml._events = Driver(*answers), ctypes.c_void_p(1)
    return nvml


@pytest.mark.parametrize(
    ("answers", "xids", "fault"),
    [
        ([], [], ""),
        ([(SUCCESS, XID, 31)], [31], ""),  # a kernel's illegal address: CUDA says whose fault it is
        ([(SUCCESS, XID, 13), (SUCCESS, XID, 43)], [13, 43], ""),
        ([(SUCCESS, XID, 31), (SUCCESS, XID, 94)], [31, 94], "Xid 94, contained ECC error"),
        ([(SUCCESS, DOUBLE_BIT_ECC, 0)], [48], "Xid 48, double-bit ECC error"),
        ([(SUCCESS, XID, 79)], [79], "Xid 79, the GPU has fallen off the bus"),
        ([(LOST, 0, 0)], [79], "Xid 79, the GPU has fallen off the bus"),
        ([(SUCCESS, XID, 31), (RESET_REQUIRED, 0, 0)], [31, 154], "Xid 154, the GPU needs a reset"),
        ([(SUCCESS, XID, 64), (SUCCESS, XID, 48)], [64, 48],
         "Xid 48, double-bit ECC error; Xid 64, memory row remapping failed"),
    ],
)  # fmt: skip
def test_events_become_xids_and_blame(answers, xids, fault):
    nvml = watch(*answers)
    assert nvml.take_xids() == xids
    assert find_machine_fault(encode_xids(xids)) == fault
    assert nvml.take_xids() == []


def test_a_lost_gpu_is_not_asked_again():
    nvml = watch((LOST, 0, 0), (SUCCESS, XID, 31))
    assert nvml.take_xids() == [79]
    assert nvml.read() is None
    assert nvml.driver_version() == ""


def test_without_the_library_nothing_is_known():
    nvml = Nvml()
    assert (nvml.take_xids(), nvml.read(), nvml.driver_version()) == ([], None, "")
