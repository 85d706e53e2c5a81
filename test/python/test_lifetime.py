"""test_lifetime.py - whatever ends first: buffers under a launch, sessions under views, the interpreter, a parent."""
import gc
import os
import signal

import gshare
from gshare import Status
from harness import KERNELS, equal, gsctl, raises, run, scene, script, server, within


def _tenants():
    return len(gsctl("ps", "--json").split('"session"')) - 1


def a_buffer_that_dies_stays_until_its_launch_has_run():
    with scene() as (session, module):
        spin, fill = module.kernel("spin", "u64"), module.kernel("fill", "ptr", "u32", "u32")
        words = session.buffer(1 << 20, "u32")
        spin.launch(1, 1, 100_000_000)
        fill.launch(4096, 256, words, 1, 1 << 20)
        del words
        other = session.buffer(1 << 20, "u32")  # not the memory that the launch is still to write
        session.sync()
        equal(bytes(other.download(bytearray(4 << 20))).count(0), 4 << 20)
        # The same for the block that a copy reads, and the memory that another has read.
        block, target = session.host_block(1 << 20), session.buffer(1 << 20)
        block.memory[:4] = b"word"
        spin.launch(1, 1, 50_000_000)
        target.upload(block.memory, stream=session.default_stream)
        block.close()
        del block
        target.upload(bytes(range(8)), offset=4, stream=session.default_stream)
        equal(bytes(target.download(bytearray(12))), b"word" + bytes(range(8)))


def memory_comes_back_when_the_last_name_goes():
    with scene() as (session, module):
        before = session.mem_info()[0]
        buffer = session.buffer(64 << 20)
        assert session.mem_info()[0] < before
        cycle = [buffer]
        cycle.append(cycle)
        del buffer, cycle
        gc.collect()
        equal(session.mem_info()[0], before)
        kernel = session.module_from_file(KERNELS).kernel("nothing")
        gc.collect()
        kernel.launch(1, 1)  # which keeps its module


def a_session_lasts_as_long_as_what_was_made_in_it():
    with server():
        buffer = gshare.Session().upload(b"words")
        gc.collect()
        equal((bytes(buffer.download()), _tenants()), (b"words", 1))
        del buffer
        within(10, lambda: _tenants() == 0)


def use_after_close_raises():
    with scene() as (session, module):
        buffer, stream, event = session.buffer(16), session.stream(), session.event()
        fill, block = module.kernel("fill", "ptr", "u32", "u32"), session.host_block(8)
        for one in (buffer, stream, event, block):
            one.close()
            one.close()
            equal(one.closed, True)
        with raises(Status.ERR_INVALID_POINTER, "the buffer is closed"):
            fill.launch(1, 4, buffer, 1, 4)
        with raises(Status.ERR_INVALID_POINTER, "the buffer is closed"):
            buffer.download()
        with raises(Status.ERR_INVALID_HANDLE):
            stream.sync()
        with raises(Status.ERR_INVALID_HANDLE):
            event.sync()
        with raises(Status.ERR_INVALID_POINTER, "the host block is closed"):
            block.memory
        left = session.buffer(16)
        with raises(Status.ERR_INVALID_HANDLE), session.stream() as stream:
            session.close()
            equal(left.closed, True)
            left.close()  # it ended with its session
            stream.close()
            fill.launch(1, 4, 0, 1, 4)
        for call in (session.sync, session.info, session.stream, session.qos, left.export):
            with raises(gshare.Error):
                call()
        session.close()


def the_first_exception_is_the_one_that_is_told():
    trap = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry die() { trap; ret; }\n"
    with server("--fence", "always"):
        with raises(ZeroDivisionError), gshare.Session() as session, session.buffer(16), session.stream():
            session.module(trap).kernel("die").launch(1, 1)
            raise ZeroDivisionError
        within(10, lambda: _tenants() == 0)


def views_of_a_host_block_outlive_block_and_session():
    with server():
        with gshare.Session() as session, session.host_block((2, 3), "i16") as block:
            view = block.memory
            view[1, 2] = -7
            part = memoryview(view).cast("B")[2:]
            session.buffer(12).upload(view)
        equal((view.tolist(), block.closed, _tenants()), ([[0, 0, 0], [0, 0, -7]], True, 1))
        with raises(Status.ERR_INVALID_HANDLE, "the session is closed"):
            session.sync()
        view.release()
        del view
        equal((bytes(part[-2:]), _tenants()), (b"\xf9\xff", 1))
        del part, block
        gc.collect()
        within(10, lambda: _tenants() == 0)


def a_child_of_fork_attaches_anew():
    with scene() as (session, module):
        buffer = session.upload(b"parent's")
        view = session.host_block(4).memory
        view[:] = b"host"
        child = os.fork()
        if child == 0:
            try:
                for call in (session.sync, buffer.download, session.stream):
                    with raises(Status.ERR_FORKED):
                        call()
                equal(bytes(view), bytes(4))
                del buffer, view
                gc.collect()
                with gshare.Session() as own:
                    equal(bytes(own.upload(b"child's").download()), b"child's")
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        equal(os.waitpid(child, 0)[1], 0)
        equal((bytes(buffer.download()), bytes(view)), (b"parent's", b"host"))


_ALIVE = """
import os, sys, threading, gshare
session = gshare.Session()
module = session.module_from_file(sys.argv[1])
buffer, stream, event, block = session.buffer(64), session.stream(), session.event(), session.host_block(64)
view = block.memory
cycle = [session, buffer, view]
cycle.append(cycle)
module.kernel("spin", "u64").launch(1, 1, 20_000_000)
class Late:
    def __del__(self, view=view):
        view[0] = 1
late = Late()
if "fork" in sys.argv and os.fork():
    os._exit(os.wait()[1])
if "thread" in sys.argv:
    flag = session.buffer(1, "u32")
    def wait():
        try:
            session.sync()
        except gshare.Error as error:
            print(error.status.name)
    threading.Thread(target=wait, daemon=True).start()
"""


def the_interpreter_ends_with_everything_alive():
    with server():
        for how in ("plain", "fork", "thread"):
            done = script(_ALIVE, KERNELS, how)
            equal((how, done.returncode, done.stderr), (how, 0, ""))
        within(10, lambda: _tenants() == 0)


def what_kernels_print_is_out_before_the_interpreter_ends():
    printing = """
import sys, gshare
s = gshare.Session()
if "view" in sys.argv:
    view = s.host_block(8).memory
s.module('''.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[7] = {112, 114, 105, 110, 116, 10, 0};
.visible .entry say() {
    .reg .b64 %rd<3>; .reg .b32 %r<2>;
    mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
    { .param .b64 p0; st.param.b64 [p0+0], %rd2; .param .b64 p1; st.param.b64 [p1+0], 0; .param .b32 r0;
      call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r1, [r0+0]; }
    ret;
}''').kernel("say").launch(1, 1)
"""
    with server():
        equal(script(printing).stdout, "print\n")
        equal(script(printing, "view").stdout, "print\n")


def an_interrupt_counts_when_the_call_returns():
    def interrupt(*_):
        raise KeyboardInterrupt

    with scene() as (session, module):
        module.kernel("spin", "u64").launch(1, 1, 1_000_000_000)
        signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            session.sync()
        except KeyboardInterrupt:
            equal(session.default_stream.query(), True)
            return
    raise AssertionError("no interrupt")


if __name__ == "__main__":
    run(globals())
