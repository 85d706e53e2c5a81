// Streams: what comes before what.
#include <string.h>

#include "conform.h"

static void stream_is_fifo(void)
{
    CUstream s = stream_open();
    CUdeviceptr p = device_alloc(4);
    uint32_t expected = 0;

    for (uint32_t i = 1; i <= 100; i++) {
        launch(s, "step", p, 3, i);
        expected = expected * 3 + i;
    }
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p) == expected, "%u, not %u", device_word(p), expected);
}

static void kinds_keep_order(void)
{
    CUstream s = stream_open();
    CUdeviceptr p = device_alloc(4), q = device_alloc(4);
    _Atomic uint64_t *words = host_words();
    uint32_t *host = (uint32_t *)&words[8];

    OK(cu.cuMemsetD32Async(p, 7, 1, s));
    launch(s, "step", p, 10, 1);
    OK(cu.cuMemcpyDtoDAsync_v2(q, p, 4, s));
    launch(s, "step", q, 10, 2);
    OK(cu.cuMemcpyDtoHAsync_v2(host, q, 4, s));
    OK(cu.cuStreamWriteValue64_v2(s, (CUdeviceptr)(uintptr_t)words, 1, 0));
    host_wait(words, 1);
    CHECK(*(volatile uint32_t *)host == 712, "%u", *host);
}

static void streams_are_independent(void)
{
    CUstream a = stream_open(), b = stream_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;

    launch(a, "await", base, 1, 0);
    launch(b, "store64", base + 8, 5, 0);
    OK(cu.cuStreamSynchronize(b));
    CHECK(words[1] == 5);
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(a));
    OK(cu.cuStreamQuery(b));
    words[0] = 1;
    OK(cu.cuStreamSynchronize(a));
    OK(cu.cuStreamQuery(a));
}

static void default_stream_waits_for_blocking_ones(void)
{
    CUstream blocking, other = stream_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;

    OK(cu.cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    launch(blocking, "await", base, 1, 0);
    launch(NULL, "store64", base + 8, 5, 0);
    launch(blocking, "store64", base + 16, 6, 0);
    launch(other, "store64", base + 24, 7, 0);
    OK(cu.cuStreamSynchronize(other));
    CHECK(words[3] == 7, "a non-blocking stream waited for the default stream");
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(NULL));
    CHECK(words[1] == 0 && words[2] == 0, "the default stream did not wait");
    words[0] = 1;
    OK(cu.cuStreamSynchronize(NULL));
    CHECK(words[1] == 5);
    OK(cu.cuStreamSynchronize(blocking));
    CHECK(words[2] == 6);
}

static void sync_copy_waits_for_blocking_streams(void)
{
    CUstream blocking;
    CUdeviceptr p = device_alloc(4);

    OK(cu.cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    launch(blocking, "where", device_alloc(4), 20000000, 0);
    launch(blocking, "store", p, 9, 0);
    CHECK(device_word(p) == 9);
}

static void pageable_copy_takes_the_source(void)
{
    CUstream s = stream_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr p = device_alloc(4096);
    char text[4096];

    memset(text, 1, sizeof(text));
    launch(s, "await", (CUdeviceptr)(uintptr_t)words, 1, 0);
    OK(cu.cuMemcpyHtoDAsync_v2(p, text, sizeof(text), s));
    memset(text, 2, sizeof(text));
    words[0] = 1;
    OK(cu.cuStreamSynchronize(s));
    CHECK(device_word(p + 4092) == 0x01010101, "%x", device_word(p + 4092));
}

static void context_sync_waits_for_all(void)
{
    CUstream s[8];
    CUdeviceptr p = device_alloc(4 * ARRAY_SIZE(s));

    for (size_t i = 0; i < ARRAY_SIZE(s); i++) {
        s[i] = stream_open();
        launch(s[i], "where", device_alloc(4), 5000000, 0);
        launch(s[i], "store", p + 4 * i, i + 1, 0);
    }
    OK(cu.cuCtxSynchronize());
    for (size_t i = 0; i < ARRAY_SIZE(s); i++)
        OK(cu.cuStreamQuery(s[i]));
    for (size_t i = 0; i < ARRAY_SIZE(s); i++)
        CHECK(device_word(p + 4 * i) == i + 1);
}

static void destroyed_stream_finishes(void)
{
    CUstream s = stream_open();
    _Atomic uint64_t *words = host_words();

    launch(s, "where", device_alloc(4), 10000000, 0);
    OK(cu.cuStreamWriteValue64_v2(s, (CUdeviceptr)(uintptr_t)words, 3, 0));
    OK(cu.cuStreamDestroy_v2(s));
    host_wait(words, 3);
}

static void called_back(void *data)
{
    _Atomic uint64_t *words = data;

    words[1] = words[0] + 1;
}

static void host_function_in_order(void)
{
    CUstream s = stream_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;

    launch(s, "where", device_alloc(4), 5000000, 0);
    launch(s, "store64", base, 41, 0);
    OK(cu.cuLaunchHostFunc(s, called_back, (void *)words));
    launch(s, "await", base + 8, 42, base + 16);
    OK(cu.cuStreamSynchronize(s));
    CHECK(words[2] == 1);
}

static void endless_kernel_stops_nobody(void)
{
    CUstream a = stream_open(), b = stream_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words, p = device_alloc(4 * 4096);

    launch_wide(a, "await", 4, 32, base, 1, 0);
    for (int i = 0; i < 20; i++)
        launch_wide(b, "count", 16, 256, p, i, 0);
    OK(cu.cuStreamSynchronize(b));
    CHECK(device_word(p + 4 * 4095) == 19u + 4095);
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(a));
    words[0] = 1;
    OK(cu.cuCtxSynchronize());
}

static const struct test tests[] = {
    {"a stream runs its kernels in order", stream_is_fifo, false},
    {"kernels, copies, fills and value writes keep their order", kinds_keep_order, false},
    {"streams do not wait for one another", streams_are_independent, false},
    {"the default stream and blocking streams wait for one another",
     default_stream_waits_for_blocking_ones, false},
    {"a synchronous copy waits for blocking streams", sync_copy_waits_for_blocking_streams, false},
    {"the source of a small pageable copy may change at once", pageable_copy_takes_the_source,
     false},
    {"cuCtxSynchronize waits for all streams", context_sync_waits_for_all, false},
    {"a destroyed stream finishes what it was given", destroyed_stream_finishes, false},
    {"a host function runs between its neighbours", host_function_in_order, false},
    {"an endless kernel keeps nobody from running", endless_kernel_stops_nobody, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
