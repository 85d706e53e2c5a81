"""test_tenant.py - sessions, memory, launches, streams and the scheduler's settings from Python."""
import array
import ctypes
import dataclasses
import os
import select
import threading

import gshare
from gshare import Affinity, Class, Fence, QoS, Status
from harness import KERNELS, SOURCE, equal, gsctl, raises, run, scene, server, within

TRAP = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry die() { trap; ret; }\n"
STRAY = """.version 7.0
.target sm_70
.address_size 64
.visible .entry stray() { .reg .u64 %a; .reg .u32 %v; mov.u64 %a, 4096; ld.global.u32 %v, [%a]; ret; }
"""


def a_kernel_runs_and_its_memory_comes_back():
    with scene() as (session, module):
        assert {"fill", "increment"} <= set(module.kernels())
        fill = module.kernel("fill", "ptr", "u32", "u32")
        out = session.buffer(100, "u32")
        equal(list(out.download()), [0] * 100)
        fill.launch(4, 32, out, 7, 100)
        equal(list(out.download()), list(range(7, 107)))
        x = session.upload(array.array("f", [1, 2, 3]))
        equal((x.shape, x.dtype.name, x.nbytes, len(x)), ((3,), "f32", 12, 3))
        module.kernel("scale", "ptr", "f32", "u32").launch((1, 1), (32,), x, 2.5, 3)
        equal(x.download().tolist(), [2.5, 5, 7.5])
        equal(session.info().session_id > 0 and session.info().instance, os.environ["GSHARE_INSTANCE"])
        equal(session.device_attribute(10), 32)  # the warp size
        assert os.path.basename(__file__) in gsctl("ps"), gsctl("ps")


def a_kernel_reaches_a_host_block():
    with scene() as (session, module), session.host_block(32, "u32") as block:
        module.kernel("fill", "ptr", "u32", "u32").launch(1, 32, block.device, 7, 32)
        session.sync()
        equal(list(block.memory), list(range(7, 39)))


def copies_take_any_memory_and_stay_within_the_buffer():
    with scene() as (session, _):
        buffer, other = session.buffer((4, 4)), session.buffer(16)
        buffer.upload(b"0123456789abcdef")
        buffer.upload(bytearray(b"xy"), offset=14)
        buffer.upload(memoryview(b"..--..--")[::2], offset=4)
        equal(bytes(buffer.download()), b"0123.-.-89abcdxy")
        other.copy_from(buffer)
        into = bytearray(3)
        equal(other.download(into, offset=13), b"dxy")
        buffer.fill(0x141)
        equal(buffer.download().tolist(), [[0x41] * 4] * 4)
        equal(other.view(4, "u32").shape, (4,))
        with raises(Status.ERR_INVALID_POINTER, "17 bytes from byte 0 on, of 16"):
            buffer.upload(bytes(17))
        with raises(Status.ERR_INVALID_VALUE, "offset is -1"):
            buffer.upload(b"1", offset=-1)
        with raises(Status.ERR_INVALID_POINTER, "20 bytes"):
            buffer.view(5, "u32")
        with raises(BufferError, "read-only"):
            buffer.download(bytes(4))
        with raises(TypeError):
            session.upload([1, 2, 3])
        with raises(Status.ERR_INVALID_VALUE, "a length is -1"):
            session.buffer((-1, -1))
        free, total = session.mem_info()
        assert 0 < free <= total
        with raises(Status.ERR_QUOTA) if total < 1 << 46 else raises(gshare.Error):
            session.buffer(1 << 46)


def kernels_recurse_as_deep_as_their_stack():
    with scene() as (session, _):
        session.set_kernel_stack(32 << 10)
        with open(os.path.join(SOURCE, "test/e2e/stack/deep.ptx")) as text:
            deep = session.module(text.read()).kernel("deep", "ptr", "u64", "u64")
        out = session.buffer(1, "u32")
        deep.launch(1, 1, out, 12, 0)
        equal(out.download().tolist(), [12 * 13 // 2])
        with raises(Status.ERR_INVALID_VALUE, "more than the driver gives"):
            session.set_kernel_stack(1 << 40)


def launches_take_arguments_by_type():
    class Five(ctypes.Structure):
        _fields_ = [("x", ctypes.c_uint32 * 5)]

    five = Five((1, 22, 333, 4444, 5))
    wanted = [0xFE, 0xFEDC, 0xFEDCBA98, 0xFEDCBA9876543210, 1, 22, 333, 4444, 5, 4937]
    with scene() as (session, module):
        out = session.buffer(10, "u64")
        typed = module.kernel("many_parameters", "u8", "u16", "u32", "u64", Five, "f64", "ptr")
        typed.launch(1, 1, 0xFE, 0xFEDC, 0xFEDCBA98, 0xFEDCBA9876543210, five, 1234.25, out)
        equal(out.download().tolist(), wanted)
        out.fill(0)
        c = ctypes
        arguments = (c.c_uint8(0xFE), c.c_uint16(0xFEDC), c.c_uint32(0xFEDCBA98), c.c_uint64(0xFEDCBA9876543210))
        untyped = module.kernel("many_parameters")
        untyped.launch(1, 1, *arguments, five, c.c_double(1234.25), out)
        equal(out.download().tolist(), wanted)
        module.kernel("nothing").launch(1, 1)
        info = typed.info()
        equal((info.name, info.param_count, typed.parameter(1)), ("many_parameters", 7, (2, 2)))
        assert typed.occupancy(32) > 0


def launches_take_up_to_32764_sizeof_arguments():
    size = 32764 - 8
    text = f"""
.version 8.1
.target sm_80
.address_size 64
.visible .entry last(.param .u64 out, .param .align 4 .b8 data[{size}]) {{
    .reg .u64 %out; .reg .u32 %v;
    ld.param.u64 %out, [out]; ld.param.u32 %v, [data+{size - 4}]; st.global.u32 [%out], %v; ret;
}}
"""
    with scene() as (session, _):
        out = session.buffer(1, "u32")
        data = (ctypes.c_uint32 * (size // 4))(*range(size // 4))
        last = session.module(text).kernel("last", "ptr", type(data))
        last.launch(1, 1, out, data)
        equal(out.download().tolist(), [size // 4 - 1])


def wrong_launches_raise():
    with scene() as (session, module), gshare.Session() as stranger:
        out = session.buffer(100, "u32")
        fill = module.kernel("fill", "ptr", "u32", "u32")
        for value in (-1, 1 << 32, 1.5, "7"):
            with raises(Status.ERR_PARAMS, "is no u32"):
                fill.launch(1, 32, out, value, 100)
        with raises(Status.ERR_PARAMS, "2 arguments for 3"):
            fill.launch(1, 32, out, 7)
        with raises(Status.ERR_PARAMS, "parameter 1 of fill is 4 bytes, and u64 8"):
            module.kernel("fill", "ptr", "u64", "u32")
        with raises(Status.ERR_PARAMS, "fill has 3 parameters, not 1"):
            module.kernel("fill", "ptr")
        with raises(TypeError, "no type of a parameter: 'pointer'; there are ptr, bool"):
            module.kernel("fill", "pointer", "u32", "u32")
        with raises(TypeError, "name the kernel's types"):
            module.kernel("fill").launch(1, 32, out, 7, 100)
        with raises(Status.ERR_PARAMS, "3 parameters"):
            module.kernel("fill").launch(1, 32, out)
        for grid in (-1, 1 << 32, 0):
            with raises(Status.ERR_LAUNCH_CONFIG, "grid"):
                fill.launch(grid, 32, out, 7, 100)
        with raises(Status.ERR_LAUNCH_CONFIG, "grid has 4 sizes"):
            fill.launch((1, 1, 1, 1), 32, out, 7, 100)
        with raises(Status.ERR_INVALID_POINTER, "another session's"):
            fill.launch(1, 32, stranger.buffer(400), 7, 100)
        with raises(Status.ERR_NOT_FOUND, "no_such"):
            module.kernel("no_such")
        with raises(Status.ERR_NOT_FOUND, "/no/such/file"):
            session.module_from_file("/no/such/file")
        with raises(gshare.Error, "GS_ERR_"):
            session.module(".version 7.0\nnonsense")
        with raises(Status.ERR_INVALID_HANDLE, "another session's"):
            fill.launch(1, 32, out, 7, 100, stream=stranger.default_stream)
        with raises(Status.ERR_INVALID_VALUE, "NUL"):
            module.kernel("fill\0")


def errors_name_status_and_message():
    with raises(Status.ERR_NO_SERVER, "GS_ERR_NO_SERVER: "):
        gshare.Session("no-such-server")
    equal(Status(4711).name, "UNKNOWN_4711")
    equal(gshare.version() >= 100, True)


def a_session_has_its_quality_of_service():
    qos = QoS(cls=Class.BEST_EFFORT, weight=7, affinity=Affinity(percentage=50))
    with scene(qos=qos, name="polite") as (session, module):
        granted, whole = session.qos(), session.info().sm_count
        equal((granted.cls, granted.weight, granted.affinity.sm_count), (Class.BEST_EFFORT, 7, whole // 2))
        equal(len(granted.affinity.sms), whole // 2)
        session.set_qos(dataclasses.replace(granted, affinity=Affinity(sms=granted.affinity.sms[:2])))
        equal(session.affinity().sms, granted.affinity.sms[:2])
        session.set_qos(QoS())
        equal(session.affinity().sm_count, whole)
        assert "polite" in gsctl("ps")
        pending = module.kernel("nothing").launch(1, 32, qos=QoS(affinity=Affinity(sm_count=2)), report=True)
        session.sync()
        assert pending.get(timeout=float("inf")) is not None
        equal((pending.get().sm_count, pending.get().late), (2, False))
        with raises(Status.ERR_INVALID_VALUE, "percentage"):
            session.set_qos(QoS(affinity=Affinity(percentage=101)))
        with raises(Status.ERR_INVALID_VALUE, "not several"):
            Affinity(percentage=10, sm_count=2)
        with raises(Status.ERR_INVALID_VALUE, "SM 512"):
            session.set_qos(QoS(affinity=Affinity(sms=(512,))))


def streams_have_classes_and_events_order_them():
    with scene(qos=QoS(cls=Class.LATENCY)) as (session, module):
        words, flag = session.buffer(8, "u32"), session.buffer(1, "u32")
        fill, wait = module.kernel("fill"), module.kernel("spin_until", "ptr")
        with session.stream(QoS(cls=Class.BEST_EFFORT)) as slow, session.stream() as quick, session.event() as done:
            wait.launch(1, 1, flag, stream=slow)
            done.record(slow)
            equal((slow.query(), done.query()), (False, False))
            quick.wait(done)
            fill.launch(1, 8, words, ctypes.c_uint32(5), ctypes.c_uint32(8), stream=quick)
            equal(quick.query(), False)
            equal((slow.sync(0.02), done.sync(timeout=0)), (False, False))
            descriptor = done.descriptor()
            equal(select.select([descriptor], [], [], 0.02)[0], [])
            flag.fill(1)
            equal(select.select([descriptor], [], [])[0], [descriptor])
            os.close(descriptor)
            equal((done.sync(0), slow.sync(float("inf"))), (True, True))
            quick.sync()
            equal((slow.query(), done.query(), words.download().tolist()), (True, True, list(range(5, 13))))
            with session.event() as end:
                end.record(quick)
                end.sync()
                assert end.elapsed_since(done) >= 0
        session.default_stream.sync()
        equal(session.default_stream.query(), True)
        with raises(Status.ERR_NOT_SUPPORTED):
            session.stream(QoS(weight=3))


def a_graph_runs_again_and_keeps_what_it_uses():
    with scene() as (session, module):
        counter = session.buffer(1, "u32")
        increment = module.kernel("increment", "ptr")
        stream = session.stream()
        with stream.record() as graph:
            scratch = session.buffer(4, "u32")
            scratch.fill(1, stream=stream)
            increment.launch(1, 1, counter, stream=stream)
            counter_again = counter.view(1, "u32")
            increment.launch(1, 1, counter_again, stream=stream)
            with raises(Status.ERR_RECORDING):
                stream.sync()
            # Its end would free it under the graph.
            address = scratch.address
            del scratch, counter_again
        others = [session.buffer(4, "u32") for _ in range(4)]
        assert address not in [other.address for other in others]
        for _ in range(5):
            graph.launch(stream)
        graph.launch()
        session.sync()
        equal(counter.download()[0], 12)
        graph.close()
        with raises(Status.ERR_INVALID_HANDLE):
            graph.launch()
        with raises(ZeroDivisionError), session.default_stream.record() as dropped:
            increment.launch(1, 1, counter)
            raise ZeroDivisionError
        with raises(Status.ERR_INVALID_HANDLE):
            dropped.launch()
        increment.launch(1, 1, counter)
        equal(counter.download()[0], 13)


def sessions_share_memory():
    with scene() as (session, _), gshare.Session() as other:
        buffer = session.buffer(4 << 20)
        buffer.upload(b"words")
        exported = buffer.export(other.info().session_id)
        equal(len(exported), 32)
        theirs = other.import_memory(exported)
        equal((theirs.nbytes, bytes(theirs.download(bytearray(5)))), (4 << 20, b"words"))
        with raises(Status.ERR_NOT_FOUND):
            other.import_memory(bytes(32))
        buffer.revoke()
        within(10, lambda: _is_lost(theirs))


def _is_lost(buffer):
    try:
        buffer.download()
    except gshare.Error as error:
        return error.status is Status.ERR_INVALID_POINTER
    return False


def a_module_has_its_variables():
    with scene() as (session, module):
        table = module.variable("table", "u32")
        equal(table.download().tolist(), [n * n for n in range(64)])
        equal(module.variable("bias").nbytes, 4)
        out = session.buffer(8, "u32")
        table.upload(array.array("I", [9] * 64))
        module.kernel("table_lookup", "ptr", "u32").launch(1, 8, out, 8)
        equal(table.download()[0], 9)
        module.close()
        with raises(Status.ERR_INVALID_POINTER, "closed"):
            table.download()


def a_fault_is_told():
    with server("--fence", "always"):
        with raises(Status.ERR_FAULT), gshare.Session() as session:
            equal(session.last_fault(), None)
            session.module(TRAP).kernel("die").launch(1, 1)
            session.sync()
        with gshare.Session(fence=Fence.ON) as session:
            die = session.module(TRAP).kernel("die")
            die.launch(1, 1)
            with raises(Status.ERR_FAULT):
                session.sync()
            fault = session.last_fault()
            equal((fault.kind, fault.status, fault.kernel), (gshare.FaultKind.TRAP, Status.ERR_FAULT, "die"))
            with raises(Status.ERR_FAULT):
                die.launch(1, 1)
            with raises(Status.ERR_FAULT):
                session.close()
        with gshare.Session(fence=Fence.REPORT) as session:
            equal(session.strays(), None)
            session.module(STRAY).kernel("stray").launch(1, 2)
            session.sync()
            equal((session.strays().count, session.strays().address), (2, 4096))


def other_threads_run_while_a_call_blocks():
    with scene() as (session, module):
        flag, stream = session.buffer(1, "u32"), session.stream()
        module.kernel("spin_until", "ptr").launch(1, 1, flag, stream=stream)
        threading.Timer(0.1, flag.fill, (1,)).start()
        stream.sync()  # would never return if other threads stood still
        equal(flag.download()[0], 0x01010101)


def threads_use_one_session():
    with scene() as (session, module):
        fill = module.kernel("fill", "ptr", "u32", "u32")
        wrong = []

        def work(number):
            with session.stream() as stream:
                for turn in range(20):
                    with session.buffer(64, "u32") as buffer:
                        fill.launch(2, 32, buffer, number * 1000 + turn, 64, stream=stream)
                        got = buffer.download(stream=stream)
                        wrong.extend(set(got) ^ set(range(number * 1000 + turn, number * 1000 + turn + 64)))
                        try:
                            buffer.upload(bytes(257))
                        except gshare.Error as error:
                            if "257 bytes" not in error.message:
                                wrong.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(wrong, [])


def the_example_gives_each_request_a_class():
    with server():
        os.environ["GSHARE_KERNELS"] = KERNELS
        with open(os.path.join(SOURCE, "examples/requests_by_class.py"), encoding="utf-8") as file:
            code = compile(file.read(), "requests_by_class.py", "exec")
        told = []
        exec(code, {"__name__": "__main__", "print": lambda *words: told.append(" ".join(map(str, words)))})
        equal([line.split()[0] for line in told], ["latency", "normal", "best_effort"])
        assert all("8 of 8 right" in line for line in told), told


if __name__ == "__main__":
    run(globals())
