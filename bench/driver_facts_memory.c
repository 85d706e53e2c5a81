/*
 * What the driver's objects cost in time and GPU memory, and how fast copies are from the kinds of
 * host memory that a tenant may have. Each question_ function is run in a process of its own.
 */
#define _GNU_SOURCE
#include "driver_facts.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* ------------------------------------------------ 3: memory and time of each object */

#define MAPS 200

static void print_cost(const char *what, int n, double us, long long bytes)
{
    printf("  %-46s x %4d  %10.2f us each  GPU memory %8.2f MiB in all, %8.1f KiB each\n", what, n,
           us / n, (double)bytes / MIB, (double)bytes / KIB / n);
}

static CUresult cost_streams(int n)
{
    CUstream *s = calloc(n, sizeof(*s));
    long long m0 = memory_used();
    double t0 = now_us();

    for (int i = 0; i < n; i++)
        CK(stream_new(&s[i]));
    print_cost("streams, created", n, now_us() - t0, memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++)
        CK(kernel_launch(nop, s[i]));
    CK(cuCtxSynchronize());
    print_cost("  and a kernel run in each (memory from start)", n, now_us() - t0,
               memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++)
        CK(cuStreamDestroy(s[i]));
    print_cost("  destroyed (memory left)", n, now_us() - t0, memory_used() - m0);
    free(s);
    return CUDA_SUCCESS;
}

static CUresult cost_chains(const char *what, int n, int kernels, int nwrites)
{
    struct chain *c = calloc(n, sizeof(*c));
    long long m0 = memory_used();
    double t0 = now_us();

    for (int i = 0; i < n; i++)
        CK(chain_new(&c[i], kernels, 1, nwrites));
    print_cost(what, n, now_us() - t0, memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++)
        CK(cuGraphLaunch(c[i].exec, 0));
    CK(cuCtxSynchronize());
    print_cost("  and launched once (memory from start)", n, now_us() - t0, memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++)
        chain_free(&c[i]);
    print_cost("  destroyed (memory left)", n, now_us() - t0, memory_used() - m0);
    free(c);
    return CUDA_SUCCESS;
}

static CUresult cost_modules(int n)
{
    CUmodule *m = calloc(n, sizeof(*m));
    long long m0 = memory_used();
    double t0 = now_us();

    for (int i = 0; i < n; i++)
        CK(cuModuleLoadData(&m[i], cubin_small));
    print_cost("cubin modules, loaded", n, now_us() - t0, memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++) {
        CUfunction f;

        CK(cuModuleGetFunction(&f, m[i], "nop"));
        CK(kernel_launch(f, 0));
    }
    CK(cuCtxSynchronize());
    print_cost("  and a kernel of each run (memory from start)", n, now_us() - t0,
               memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++)
        CK(cuModuleUnload(m[i]));
    print_cost("  unloaded (memory left)", n, now_us() - t0, memory_used() - m0);
    free(m);
    return CUDA_SUCCESS;
}

static CUresult cost_reserve(unsigned long long size, int limit)
{
    CUdeviceptr *at = calloc(limit, sizeof(*at));
    long long m0 = memory_used();
    double *us = calloc(limit, sizeof(*us)), t0;
    CUresult end = CUDA_SUCCESS;
    char name[80];
    int n = 0, misaligned = 0;

    for (; n < limit; n++) {
        t0 = now_us();
        end = cuMemAddressReserve(&at[n], size, size, 0, 0);
        if (end)
            break;
        us[n] = now_us() - t0;
        misaligned += (at[n] & (size - 1)) != 0;
    }
    snprintf(name, sizeof(name), "cuMemAddressReserve of %llu GiB, aligned to it", size / GIB);
    if (n)
        print_times(name, us, n);
    printf("    %d reserved, then %s; %d misaligned; GPU memory %.2f MiB; first at %#llx last at "
           "%#llx\n",
           n, end ? "no more" : "stopped asking", misaligned, (double)(memory_used() - m0) / MIB,
           n ? at[0] : 0, n ? at[n - 1] : 0);
    if (end)
        failed("cuMemAddressReserve", end, __LINE__);
    for (int i = 0; i < n; i++) {
        t0 = now_us();
        CK(cuMemAddressFree(at[i], size));
        us[i] = now_us() - t0;
    }
    if (n)
        print_times("  cuMemAddressFree", us, n);
    free(at);
    free(us);
    return CUDA_SUCCESS;
}

static CUmemAllocationProp exportable(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
}

static const CUmemAccessDesc access_all = {
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUresult cost_map(size_t size, int n)
{
    static const char *const names[] = {"cuMemCreate",
                                        "  cuMemMap",
                                        "  cuMemSetAccess",
                                        "  cuMemExportToShareableHandle",
                                        "  cuMemUnmap",
                                        "  cuMemRelease",
                                        "  close of the exported descriptor"};
    static double us[7][MAPS];
    CUmemAllocationProp prop = exportable();
    CUdeviceptr at;
    char name[80];

    CK(cuMemAddressReserve(&at, size, 0, 0, 0));
    for (int i = 0; i < n; i++) {
        CUmemGenericAllocationHandle h;
        double t[8];
        int fd;

        t[0] = now_us();
        CK(cuMemCreate(&h, size, &prop, 0));
        t[1] = now_us();
        CK(cuMemMap(at, size, 0, h, 0));
        t[2] = now_us();
        CK(cuMemSetAccess(at, size, &access_all, 1));
        t[3] = now_us();
        CK(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        t[4] = now_us();
        CK(cuMemUnmap(at, size));
        t[5] = now_us();
        CK(cuMemRelease(h));
        t[6] = now_us();
        close(fd);
        t[7] = now_us();
        for (int k = 0; k < 7; k++)
            us[k][i] = t[k + 1] - t[k];
    }
    for (int k = 0; k < 7; k++) {
        snprintf(name, sizeof(name), "%s of %zu MiB", names[k], (size_t)(size / MIB));
        print_times(name, us[k], n);
    }
    return cuMemAddressFree(at, size);
}

#define SAMPLE 2048

/* Fills most of the device with handles of one size, reads words from every 2 MiB of it, dirties
 * all and releases all. From the second round on, what is read was dirty when it was released. */
static CUresult dirty_or_read(size_t size, int most, int round)
{
    CUmemAllocationProp prop = exportable();
    CUmemGenericAllocationHandle *h = calloc(most, sizeof(*h));
    uint64_t copy[SAMPLE / 8], wrong = 0;
    int count = 0;
    CUdeviceptr at;
    double t0 = now_us(), made, freed;

    CK(cuMemAddressReserve(&at, size * most, 0, 0, 0));
    for (; count < most && !cuMemCreate(&h[count], size, &prop, 0); count++)
        CK(cuMemMap(at + count * size, size, 0, h[count], 0));
    CK(cuMemSetAccess(at, size * count, &access_all, 1));
    made = now_us() - t0;
    for (size_t i = 0; i < size * count; i += 2 * MIB) {
        CK(cuMemcpyDtoH(copy, at + i + i / 1024 % (2 * MIB - SAMPLE) / 8 * 8, SAMPLE));
        for (int k = 0; k < SAMPLE / 8; k++)
            wrong += copy[k] != 0;
    }
    CK(cuMemsetD8(at, 0xab, size * count));
    CK(cuCtxSynchronize());
    t0 = now_us();
    CK(cuMemUnmap(at, size * count));
    for (int i = 0; i < count; i++)
        CK(cuMemRelease(h[i]));
    freed = now_us() - t0;
    printf(
        "  %d x %zu MiB from cuMemCreate%s: %llu sampled words not zero; made in %.1f ms, released "
        "in %.1f ms\n",
        count, (size_t)(size / MIB), round ? " after as much was dirtied and released" : "",
        (unsigned long long)wrong, made / 1e3, freed / 1e3);
    free(h);
    return cuMemAddressFree(at, size * most);
}

static CUresult cost_memset(void)
{
    static double call[MAPS], whole[MAPS];
    CUdeviceptr at;
    CUstream s;

    CK(stream_new(&s));
    CK(cuMemAlloc(&at, 64 * MIB));
    for (size_t size = 2 * MIB; size <= 64 * MIB; size *= 32) {
        for (int i = 0; i < MAPS; i++) {
            double t0 = now_us();

            CK(cuMemsetD8Async(at, 0, size, s));
            call[i] = now_us() - t0;
            CK(cuStreamSynchronize(s));
            whole[i] = now_us() - t0;
        }
        print_times(size == 2 * MIB ? "cuMemsetD8Async of 2 MiB, the call" : "of 64 MiB, the call",
                    call, MAPS);
        print_times("  and its end", whole, MAPS);
    }
    return cuMemFree(at);
}

static CUresult cost_register(size_t size, int touch)
{
    static double in[40], out[40];
    char name[80];

    for (int i = 0; i < 40; i++) {
        void *at = segment_new(size, touch);
        double t0 = now_us(), t1;

        CK(cuMemHostRegister(at, size, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
        t1 = now_us();
        CK(cuMemHostUnregister(at));
        out[i] = now_us() - t1;
        in[i] = t1 - t0;
        shmdt(at);
    }
    snprintf(name, sizeof(name), "cuMemHostRegister of %zu KiB, %s", (size_t)(size / KIB),
             touch ? "touched" : "untouched");
    print_times(name, in, 40);
    print_times("  cuMemHostUnregister", out, 40);
    return CUDA_SUCCESS;
}

static CUresult cost_events(int n)
{
    CUevent *e = calloc(n, sizeof(*e));
    long long m0 = memory_used();
    double t0 = now_us();

    for (int i = 0; i < n; i++)
        CK(cuEventCreate(&e[i], CU_EVENT_DISABLE_TIMING));
    print_cost("events, created", n, now_us() - t0, memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++)
        CK(cuEventRecord(e[i], 0));
    CK(cuCtxSynchronize());
    print_cost("  recorded", n, now_us() - t0, memory_used() - m0);
    t0 = now_us();
    for (int i = 0; i < n; i++)
        CK(cuEventDestroy(e[i]));
    print_cost("  destroyed (memory left)", n, now_us() - t0, memory_used() - m0);
    free(e);
    return CUDA_SUCCESS;
}

static CUresult streams_all(void)
{
    for (int n = 1; n <= 1000; n *= n == 1 ? 100 : 10)
        cost_streams(n);
    return CUDA_SUCCESS;
}

CUresult question_costs(void)
{
    CK(context_open(0));
    CK(kernel_launch(nop, 0));
    CK(cuCtxSynchronize());
    printf("  GPU memory in use before: %.1f MiB\n", (double)memory_used() / MIB);
    cost_chains("graphs of 1 kernel, instantiated", 1000, 1, 0);
    cost_chains("graphs of kernel + write, instantiated", 1000, 1, 1);
    cost_chains("graphs of 8 kernels, instantiated", 100, 8, 0);
    cost_chains("graphs of 8 kernels + write, instantiated", 100, 8, 1);
    cost_chains("graphs of 32 kernels + write, instantiated", 100, 32, 1);
    for (int n = 1; n <= 1000; n *= n == 1 ? 100 : 10)
        cost_modules(n);
    cost_events(1000);
    cost_map(2 * MIB, MAPS);
    cost_map(64 * MIB, 50);
    cost_map(1 * GIB, 20);
    cost_reserve(4 * GIB, 2000);
    cost_reserve(64 * GIB, 4000);
    cost_reserve(256 * GIB, 2000);
    for (int again = 0; again < 3; again++)
        dirty_or_read(2 * MIB, 8192, again);
    for (int again = 0; again < 3; again++)
        dirty_or_read(GIB, 128, again);
    cost_memset();
    for (size_t size = 4 * KIB; size <= 8 * MIB; size *= size == 1 * MIB ? 8 : 16)
        for (int touch = 0; touch < 2; touch++)
            cost_register(size, touch);
    /* Last, since a destroyed stream keeps its memory for the next. */
    return streams_all();
}

CUresult question_streams(void)
{
    CK(context_open(0));
    CK(kernel_launch(nop, 0));
    CK(cuCtxSynchronize());
    return streams_all();
}

/* -------------------------------------------------------------------------- 6: copies */

#define COPY_REPEATS 5
#define COPY_THREADS 2
#define RING_MOST    (8 * MIB)
#define SLOTS_MOST   16

/* A copy cut into chunks that pass through a ring of registered memory: the processor moves one
 * while the GPU moves those before it. Each thread has a part of the ring and every nth chunk. */
struct staging {
    unsigned char *user;
    size_t size, chunk, ring;
    CUdeviceptr dev;
    int to_device, streaming, threads;
};

struct stager {
    struct staging *s;
    int index;
    CUstream stream;
    CUevent done[SLOTS_MOST];
    CUresult result;
};

static struct hostmem stage;
static struct stager stagers[COPY_THREADS];

#ifdef __x86_64__
/* Stores that go past the caches. Both addresses are 32-byte aligned here, size a multiple of 128.
 */
__attribute__((target("avx2"))) static void copy_streaming(void *to, const void *from, size_t size)
{
    __m256i *t = to;
    const __m256i *f = from;

    for (size_t i = 0; i < size / 32; i += 4) {
        __m256i a = _mm256_loadu_si256(f + i), b = _mm256_loadu_si256(f + i + 1);
        __m256i c = _mm256_loadu_si256(f + i + 2), d = _mm256_loadu_si256(f + i + 3);

        _mm256_stream_si256(t + i, a);
        _mm256_stream_si256(t + i + 1, b);
        _mm256_stream_si256(t + i + 2, c);
        _mm256_stream_si256(t + i + 3, d);
    }
    _mm_sfence();
}
#else
static void copy_streaming(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}
#endif

static void copy_chunk(const struct staging *s, void *to, const void *from, size_t size)
{
    if (s->streaming)
        copy_streaming(to, from, size);
    else
        memcpy(to, from, size);
}

static CUresult event_wait(CUevent e)
{
    CUresult r;

    while ((r = cuEventQuery(e)) == CUDA_ERROR_NOT_READY)
        ;
    return r;
}

/* The chunks of one thread, numbered k = 0, 1, ... by itself. */
static CUresult stager_run(struct stager *w)
{
    struct staging *s = w->s;
    int slots = (int)(s->ring / s->chunk) / s->threads;
    long chunks = (long)(s->size / s->chunk),
         mine = (chunks - w->index + s->threads - 1) / s->threads;
    size_t base = (size_t)w->index * slots * s->chunk;

    if (slots > SLOTS_MOST)
        slots = SLOTS_MOST;
    CK(cuCtxSetCurrent(context));
    for (long k = 0; k < mine + (s->to_device ? 0 : slots); k++) {
        size_t slot = base + (size_t)(k % slots) * s->chunk;
        CUevent done = w->done[k % slots];

        if (s->to_device) {
            size_t at = ((size_t)k * s->threads + w->index) * s->chunk;

            if (k >= slots)
                CK(event_wait(done));
            copy_chunk(s, stage.host + slot, s->user + at, s->chunk);
            CK(cuMemcpyHtoDAsync(s->dev + at, stage.host + slot, s->chunk, w->stream));
            CK(cuEventRecord(done, w->stream));
            continue;
        }
        if (k >= slots && k - slots < mine) {
            size_t at = ((size_t)(k - slots) * s->threads + w->index) * s->chunk;

            CK(event_wait(done));
            copy_chunk(s, s->user + at, stage.host + slot, s->chunk);
        }
        if (k < mine) {
            size_t at = ((size_t)k * s->threads + w->index) * s->chunk;

            CK(cuMemcpyDtoHAsync(stage.host + slot, s->dev + at, s->chunk, w->stream));
            CK(cuEventRecord(done, w->stream));
        }
    }
    return cuStreamSynchronize(w->stream);
}

static void *stager_main(void *arg)
{
    struct stager *w = arg;

    w->result = stager_run(w);
    return NULL;
}

static CUresult staged_copy(struct staging *s)
{
    pthread_t thread;

    for (int i = 0; i < s->threads; i++) {
        stagers[i].s = s;
        stagers[i].index = i;
    }
    if (s->threads > 1 && pthread_create(&thread, NULL, stager_main, &stagers[1]))
        return failed("pthread_create", CUDA_ERROR_UNKNOWN, __LINE__);
    stager_main(&stagers[0]);
    if (s->threads > 1)
        pthread_join(thread, NULL);
    CK(stagers[0].result);
    CK(stagers[s->threads - 1].result);
    return CUDA_SUCCESS;
}

static CUresult staged_measure(struct staging s)
{
    double rate[COPY_REPEATS];
    unsigned char *check = s.user + s.size - 1;
    int right = 1;

    if (s.ring / s.chunk < (size_t)(2 * s.threads) || s.size / s.chunk < (size_t)(2 * s.threads))
        return CUDA_SUCCESS;
    for (int k = -1; k < COPY_REPEATS; k++) {
        unsigned char seen = 0;
        double t0;

        *check = 17 + k;
        if (!s.to_device) {
            CK(cuMemcpyHtoD(s.dev + s.size - 1, check, 1));
            *check = 0;
        }
        t0 = now_us();
        CK(staged_copy(&s));
        if (k >= 0)
            rate[k] = s.size / (now_us() - t0) / 1e3;
        CK(cuMemcpyDtoH(&seen, s.dev + s.size - 1, 1));
        right &= seen == 17 + k && *check == 17 + k;
    }
    printf("  staged %s %3zu MiB, chunk %4zu KiB, ring %zu MiB, %d thread%s, %-9s %6.1f GB/s%s\n",
           s.to_device ? "to device  " : "from device", (size_t)(s.size / MIB),
           (size_t)(s.chunk / KIB), (size_t)(s.ring / MIB), s.threads, s.threads > 1 ? "s" : " ",
           s.streaming ? "streaming" : "memcpy", quantile(rate, COPY_REPEATS, 0.5),
           right ? "" : "  WRONG BYTES");
    return CUDA_SUCCESS;
}

/* The driver's own way, from registered or from ordinary memory, and the processor's. */
static CUresult plain_measure(const char *name, void *host, CUdeviceptr dev, size_t size)
{
    double to[COPY_REPEATS], from[COPY_REPEATS];

    for (int k = -1; k < COPY_REPEATS; k++) {
        double t0 = now_us(), t1;

        CK(cuMemcpyHtoD(dev, host, size));
        CK(cuCtxSynchronize());
        t1 = now_us();
        CK(cuMemcpyDtoH(host, dev, size));
        if (k >= 0) {
            from[k] = size / (now_us() - t1) / 1e3;
            to[k] = size / (t1 - t0) / 1e3;
        }
    }
    printf("  %-40s %3zu MiB  to device %6.1f  from device %6.1f GB/s\n", name,
           (size_t)(size / MIB), quantile(to, COPY_REPEATS, 0.5),
           quantile(from, COPY_REPEATS, 0.5));
    return CUDA_SUCCESS;
}

static CUresult processor_measure(unsigned char *user)
{
    for (int streaming = 0; streaming < 2; streaming++) {
        struct staging s = {.streaming = streaming};
        double t0 = now_us();

        for (size_t at = 0; at < 256 * MIB; at += MIB)
            copy_chunk(&s, stage.host + at % (4 * MIB), user + at, MIB);
        printf("  the processor alone, 256 MiB into a hot ring of 4 MiB, %-9s %6.1f GB/s",
               streaming ? "streaming" : "memcpy", 256 * MIB / (now_us() - t0) / 1e3);
        t0 = now_us();
        for (size_t at = 0; at < 256 * MIB; at += MIB)
            copy_chunk(&s, user + at, stage.host + at % (4 * MIB), MIB);
        printf("  out of it %6.1f GB/s\n", 256 * MIB / (now_us() - t0) / 1e3);
    }
    return CUDA_SUCCESS;
}

CUresult question_copies(void)
{
    static const size_t sizes[] = {1 * MIB, 16 * MIB, 256 * MIB};
    unsigned char *user = aligned_alloc(4096, 256 * MIB);
    struct hostmem registered;
    CUdeviceptr dev;

    CK(context_open(0));
    memset(user, 3, 256 * MIB);
    CK(cuMemAlloc(&dev, 256 * MIB));
    CK(hostmem_new(&registered, 256 * MIB));
    CK(hostmem_new(&stage, RING_MOST));
    for (int i = 0; i < COPY_THREADS; i++) {
        CK(stream_new(&stagers[i].stream));
        for (int k = 0; k < SLOTS_MOST; k++)
            CK(cuEventCreate(&stagers[i].done[k], CU_EVENT_DISABLE_TIMING));
    }
    for (int i = 0; i < 3; i++)
        plain_measure("registered System V segment", registered.host, dev, sizes[i]);
    for (int i = 0; i < 3; i++)
        plain_measure("pageable, the driver's own staging", user, dev, sizes[i]);
    processor_measure(user);
    for (int to = 1; to >= 0; to--)
        for (int i = 0; i < 3; i++)
            for (size_t ring = RING_MOST / 2; ring <= RING_MOST; ring *= 2)
                for (size_t chunk = (i ? 512 : 128) * KIB; chunk <= (i ? 2 * MIB : 256 * KIB);
                     chunk *= 2)
                    for (int mode = 0; mode < 4; mode++)
                        staged_measure((struct staging){.user = user,
                                                        .size = sizes[i],
                                                        .chunk = chunk,
                                                        .ring = ring,
                                                        .dev = dev,
                                                        .to_device = to,
                                                        .threads = 1 + (mode & 1),
                                                        .streaming = mode >> 1});
    hostmem_free(&registered);
    hostmem_free(&stage);
    free(user);
    return cuMemFree(dev);
}
