#!/usr/bin/env python3
"""requests_by_class.py - a server program gives each request a class: those that a person waits for run first,
those of a nightly job when nobody else has work.

    gshared -d
    pip install ./lib/python
    python3 examples/requests_by_class.py
"""
import threading
import time

import gshare

REQUESTS, SIZE = 8, 1 << 14

# extern "C" __global__ void axpy(float a, const float *x, float *y, unsigned n), as nvcc or clang would compile it.
PTX = """
.version 6.4
.target sm_70
.address_size 64
.visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<5>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    ld.param.u32 %r4, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r1, %r1, %r2, %r3;
    setp.ge.u32 %p, %r1, %r4;
    @%p ret;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f2, [%rd1];
    ld.global.f32 %f3, [%rd2];
    fma.rn.f32 %f3, %f1, %f2, %f3;
    st.global.f32 [%rd2], %f3;
    ret;
}
"""


class Worker(threading.Thread):
    """Serves the requests of one class, on a stream of that class."""

    def __init__(self, session, kernel, cls):
        super().__init__()
        self.session, self.kernel, self.cls = session, kernel, cls
        self.milliseconds, self.right = [], 0

    def run(self):
        with self.session.stream(gshare.QoS(cls=self.cls)) as stream:
            for number in range(REQUESTS):
                start = time.perf_counter()
                self.right += self.serve(stream, number)
                self.milliseconds.append(1000 * (time.perf_counter() - start))

    def serve(self, stream, number):
        with self.session.buffer(SIZE, "f32") as x, self.session.buffer(SIZE, "f32") as y:
            x.upload(memoryview(b"\0\0\x80?" * SIZE), stream=stream)  # ones
            for _ in range(10):
                self.kernel.launch(SIZE // 128, 128, number, x, y, SIZE, stream=stream)
            return set(y.download(stream=stream)) == {10.0 * number}


# The session's class is the highest that its streams may have.
with gshare.Session(qos=gshare.QoS(cls=gshare.Class.LATENCY)) as session:
    axpy = session.module(PTX).kernel("axpy", "f32", "ptr", "ptr", "u32")
    workers = [
        Worker(session, axpy, cls)
        for cls in (gshare.Class.LATENCY, gshare.Class.NORMAL, gshare.Class.BEST_EFFORT)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        slowest = max(worker.milliseconds)
        print(worker.cls.name.lower(), f"requests: {worker.right} of {REQUESTS} right, the slowest in {slowest:.1f} ms")
