// Events: recording, waiting, timing.
#include "conform.h"

static CUevent event_open(unsigned int flags)
{
    CUevent e;

    OK(cu.cuEventCreate(&e, flags));
    return e;
}

static void stream_waits_for_event(void)
{
    CUstream a = stream_open(), b = stream_open();
    CUevent e = event_open(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr p = device_alloc(4);
    _Atomic uint64_t *words = host_words();

    launch(a, "await", (CUdeviceptr)(uintptr_t)words, 1, 0);
    launch(a, "step", p, 10, 1);
    OK(cu.cuEventRecord(e, a));
    OK(cu.cuStreamWaitEvent(b, e, 0));
    launch(b, "step", p, 10, 2);
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuEventQuery(e));
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(b));
    words[0] = 1;
    OK(cu.cuEventSynchronize(e));
    OK(cu.cuEventQuery(e));
    OK(cu.cuStreamSynchronize(b));
    CHECK(device_word(p) == 12);
}

static void wait_means_the_last_recording(void)
{
    CUstream a = stream_open(), b = stream_open();
    CUevent e = event_open(CU_EVENT_DISABLE_TIMING);
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;

    OK(cu.cuEventRecord(e, a));
    OK(cu.cuStreamWaitEvent(b, e, 0));
    // Recorded again behind a kernel that does not end: the wait above meant the first.
    launch(a, "await", base, 1, 0);
    OK(cu.cuEventRecord(e, a));
    OK(cu.cuStreamSynchronize(b));
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuEventQuery(e));
    words[0] = 1;
    OK(cu.cuEventSynchronize(e));
}

static void never_recorded_is_complete(void)
{
    CUstream s = stream_open();
    CUevent e = event_open(0), f = event_open(0);
    float ms;

    OK(cu.cuEventQuery(e));
    OK(cu.cuEventSynchronize(e));
    OK(cu.cuStreamWaitEvent(s, e, 0));
    OK(cu.cuStreamSynchronize(s));
    OK(cu.cuEventRecord(f, s));
    OK(cu.cuEventSynchronize(f));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuEventElapsedTime(&ms, e, f));
}

static void elapsed_time_is_the_works(void)
{
    CUstream s = stream_open();
    CUevent start = event_open(0), end = event_open(0);
    float ms = -1;

    launch(s, "empty", 0, 0, 0);
    OK(cu.cuStreamSynchronize(s));
    OK(cu.cuEventRecord(start, s));
    launch(s, "where", device_alloc(4), 20000000, 0);
    OK(cu.cuEventRecord(end, s));
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuEventElapsedTime(&ms, start, end));
    OK(cu.cuEventSynchronize(end));
    OK(cu.cuEventElapsedTime(&ms, start, end));
    CHECK(ms > 19 && ms < 5000, "20 ms of work took %f ms", ms);
    OK(cu.cuEventElapsedTime(&ms, end, start));
    CHECK(ms < -19);
}

static void no_time_without_timing(void)
{
    CUstream s = stream_open();
    CUevent start = event_open(CU_EVENT_DISABLE_TIMING), end = event_open(0);
    float ms;

    OK(cu.cuEventRecord(start, s));
    OK(cu.cuEventRecord(end, s));
    OK(cu.cuStreamSynchronize(s));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuEventElapsedTime(&ms, start, end));
}

static void destroyed_event_still_holds_up(void)
{
    CUstream a = stream_open(), b = stream_open();
    CUevent e = event_open(0);
    _Atomic uint64_t *words = host_words();

    launch(a, "await", (CUdeviceptr)(uintptr_t)words, 1, 0);
    OK(cu.cuEventRecord(e, a));
    OK(cu.cuStreamWaitEvent(b, e, 0));
    OK(cu.cuEventDestroy_v2(e));
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(b));
    words[0] = 1;
    OK(cu.cuStreamSynchronize(b));
}

static void fan_out_and_in(void)
{
    CUstream root = stream_open(), s[16];
    CUevent start = event_open(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr p = device_alloc(4);

    launch(root, "where", device_alloc(4), 2000000, 0);
    launch(root, "store", p, 100, 0);
    OK(cu.cuEventRecord(start, root));
    for (size_t i = 0; i < ARRAY_SIZE(s); i++) {
        CUevent e = event_open(CU_EVENT_DISABLE_TIMING);

        s[i] = stream_open();
        OK(cu.cuStreamWaitEvent(s[i], start, 0));
        launch(s[i], "meet", p, 0, 0);
        OK(cu.cuEventRecord(e, s[i]));
        OK(cu.cuStreamWaitEvent(root, e, 0));
    }
    launch(root, "step", p, 2, 0);
    OK(cu.cuStreamSynchronize(root));
    CHECK(device_word(p) == 232, "%u", device_word(p));
}

static const struct test tests[] = {
    {"a stream waits for an event of another", stream_waits_for_event, false},
    {"a wait means the recording before it", wait_means_the_last_recording, false},
    {"an event that was never recorded is complete", never_recorded_is_complete, false},
    {"the time between two events is that of the work", elapsed_time_is_the_works, false},
    {"an event without timing gives none", no_time_without_timing, false},
    {"a destroyed event still holds up who waits", destroyed_event_still_holds_up, false},
    {"work fans out to 16 streams and in again", fan_out_and_in, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
