// Allocation, copies, fills, attributes, registered memory, value writes and waits.
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "conform.h"

static void info_counts(void)
{
    size_t free_before, free_after, free_end, total, device_total;
    CUdeviceptr p;

    OK(cu.cuMemGetInfo_v2(&free_before, &total));
    OK(cu.cuDeviceTotalMem_v2(&device_total, device));
    CHECK(free_before <= total && total <= device_total);
    OK(cu.cuMemAlloc_v2(&p, 256 << 20));
    OK(cu.cuMemGetInfo_v2(&free_after, &total));
    CHECK(free_before - free_after >= 256u << 20, "%zu", free_before - free_after);
    OK(cu.cuMemFree_v2(p));
    OK(cu.cuMemGetInfo_v2(&free_end, &total));
    CHECK(free_end >= free_after + (256u << 20));
}

static void too_much_is_out_of_memory(void)
{
    size_t left, total;
    CUdeviceptr p, q;

    OK(cu.cuMemGetInfo_v2(&left, &total));
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, cu.cuMemAlloc_v2(&p, total * 2));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemAlloc_v2(&p, 0));
    OK(cu.cuMemAlloc_v2(&q, 1 << 20));
    OK(cu.cuMemFree_v2(q));
}

static void small_ones_are_apart(void)
{
    CUdeviceptr p[200];

    for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
        p[i] = device_alloc(i % 50 + 1);
        CHECK(p[i] % 256 == 0);
        OK(cu.cuMemsetD8_v2(p[i], (unsigned char)i, i % 50 + 1));
    }
    for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
        unsigned char byte;

        OK(cu.cuMemcpyDtoH_v2(&byte, p[i] + i % 50, 1));
        CHECK(byte == (unsigned char)i);
    }
    for (size_t i = 0; i < ARRAY_SIZE(p); i++)
        OK(cu.cuMemFree_v2(p[i]));
}

static void address_range(void)
{
    CUdeviceptr p = device_alloc(8 << 20), base;
    size_t size;

    OK(cu.cuMemGetAddressRange_v2(&base, &size, p + 12345));
    CHECK(base == p && size == 8 << 20, "%zu", size);
}

static void fills_and_copies(void)
{
    enum { BYTES = 20 << 20 };
    CUdeviceptr p = device_alloc(BYTES), q = device_alloc(BYTES);
    unsigned char *host = malloc(BYTES);

    CHECK(host);
    OK(cu.cuMemsetD32_v2(p, 0x01020304, BYTES / 4));
    OK(cu.cuMemsetD16_v2(p + 2, 0xaabb, 3));
    OK(cu.cuMemsetD8_v2(p + BYTES - 1, 0xcc, 1));
    OK(cu.cuMemcpyDtoD_v2(q, p, BYTES));
    OK(cu.cuMemcpyDtoH_v2(host, q, BYTES));
    for (size_t i = 0; i < BYTES; i++) {
        unsigned char expected = i == BYTES - 1    ? 0xcc
                                 : i >= 2 && i < 8 ? (i % 2 ? 0xaa : 0xbb)
                                                   : 4 - i % 4;

        CHECK(host[i] == expected, "byte %zu: %x", i, host[i]);
    }
    memset(host, 0x5a, 1000);
    OK(cu.cuMemcpy((CUdeviceptr)(uintptr_t)host + 2000, p, 4));
    CHECK(host[2000] == 4);
    OK(cu.cuMemcpyHtoD_v2(q + 3, host, 1000));
    OK(cu.cuMemcpyDtoH_v2(host, q, 4));
    CHECK(host[2] == 0xbb && host[3] == 0x5a);
}

static void pointer_attributes(void)
{
    CUdeviceptr p = device_alloc(4096), found;
    _Atomic uint64_t *words = host_words();
    unsigned int type = 0;
    int here, local;

    OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    OK(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                (CUdeviceptr)(uintptr_t)words));
    CHECK(type == CU_MEMORYTYPE_HOST);
    OK(cu.cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 8));
    CHECK(found == p + 8);
    OK(cu.cuPointerGetAttribute(&here, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    CHECK(here == device);
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    (CUdeviceptr)(uintptr_t)&local));
}

// ---- Registered memory

static void register_rules(void)
{
    char *p = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr d;

    CHECK(p != MAP_FAILED);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemHostRegister_v2(p, 0, 0));
    EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cu.cuMemHostUnregister(p));
    OK(cu.cuMemHostRegister_v2(p, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
    EXPECT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cu.cuMemHostRegister_v2(p, 8192, 0));
    EXPECT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cu.cuMemHostRegister_v2(p + 4096, 8192, 0));
    OK(cu.cuMemHostGetDevicePointer_v2(&d, p + 100, 0));
    launch(NULL, "store", d, 77, 0);
    OK(cu.cuCtxSynchronize());
    CHECK(p[100] == 77);
    OK(cu.cuMemHostUnregister(p));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemHostGetDevicePointer_v2(&d, p, 0));
}

static void host_alloc(void)
{
    uint32_t *p;
    CUdeviceptr d;

    OK(cu.cuMemHostAlloc((void **)&p, 1 << 20, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cu.cuMemHostGetDevicePointer_v2(&d, p, 0));
    launch_wide(NULL, "count", 1024, 256, d, 5, 0);
    OK(cu.cuCtxSynchronize());
    CHECK(p[0] == 5 && p[262143] == 262148);
    OK(cu.cuMemFreeHost(p));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemFreeHost(p));
}

static void system_v_segment(void)
{
    int id = shmget(IPC_PRIVATE, 65536, 0600);
    _Atomic uint64_t *p = shmat(id, NULL, 0);
    CUstream s = stream_open();

    CHECK(id >= 0 && p != (void *)-1);
    shmctl(id, IPC_RMID, NULL);
    OK(cu.cuMemHostRegister_v2((void *)p, 65536, CU_MEMHOSTREGISTER_DEVICEMAP));
    launch(s, "store64", (CUdeviceptr)(uintptr_t)&p[1], 11, 0);
    OK(cu.cuStreamWriteValue64_v2(s, (CUdeviceptr)(uintptr_t)p, 1, 0));
    host_wait(p, 1);
    CHECK(p[1] == 11, "the value was written before the kernel's store was seen");
    OK(cu.cuStreamSynchronize(s));
    OK(cu.cuMemHostUnregister((void *)p));
}

// A segment takes the place of a reservation that was given up, between two others.
static void segment_among_reservations(void)
{
    const size_t part = 64 << 20; // all of it the segment's, or the driver may use the rest
    int id = shmget(IPC_PRIVATE, part, 0600);
    CUstream s = stream_open();
    CUdeviceptr base, at, d;
    _Atomic uint64_t *p;

    CHECK(id >= 0);
    OK(cu.cuMemAddressReserve(&base, 4 * part, 4 * part, 0, 0));
    OK(cu.cuMemAddressFree(base, 4 * part));
    for (unsigned i = 0; i < 3; i++) {
        OK(cu.cuMemAddressReserve(&at, part, 0, base + i * part, 0));
        CHECK(at == base + i * part, "a reservation beside another came elsewhere");
    }
    CHECK(shmat(id, (void *)(uintptr_t)(base + part), 0) == (void *)-1);
    OK(cu.cuMemAddressFree(base + part, part));
    p = shmat(id, (void *)(uintptr_t)(base + part), 0);
    shmctl(id, IPC_RMID, NULL);
    CHECK(p != (void *)-1);
    OK(cu.cuMemHostRegister_v2((void *)p, part, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cu.cuMemHostGetDevicePointer_v2(&d, (void *)p, 0));
    CHECK(d == (uintptr_t)p);
    launch(s, "await", d, 5, d + 64);
    launch(s, "meet", d + 128, 0, 0);
    CHECK(cu.cuStreamQuery(s) == CUDA_ERROR_NOT_READY);
    atomic_store(&p[0], 5);
    host_wait(&p[8], 1);
    OK(cu.cuStreamSynchronize(s));
    CHECK(p[16] == 1);
    // The driver does not give its address to others.
    for (unsigned i = 0; i < 8; i++) {
        OK(cu.cuMemAddressReserve(&at, part, part, 0, 0));
        CHECK(at + part <= d || at >= d + part);
    }
    OK(cu.cuMemHostUnregister((void *)p));
    CHECK(shmdt((void *)p) == 0);
    // Whether the place is granted again the driver decides anew each time.
    OK(cu.cuMemAddressReserve(&at, part, 0, base + part, 0));
}

// A segment is attached over a granule of a reservation that is kept, and is reached like memory of
// the device beside it. Where it was, a segment can be again.
static void segment_inside_a_reservation(void)
{
    const size_t granule = 2 << 20;
    CUstream s = stream_open();
    CUdeviceptr base, d;

    OK(cu.cuMemAddressReserve(&base, 64 << 20, 64 << 20, 0, 0));
    for (unsigned turn = 0; turn < 2; turn++) {
        int id = shmget(IPC_PRIVATE, granule / 2, 0600);
        uint64_t *p = (uint64_t *)(uintptr_t)(base + granule);

        CHECK(id >= 0);
        CHECK(shmat(id, p, 0) == (void *)-1, "nothing lies at a reservation");
        CHECK(shmat(id, p, SHM_REMAP) == (void *)p);
        CHECK(shmat(id, (char *)p + granule / 2, SHM_REMAP) == (char *)p + granule / 2);
        shmctl(id, IPC_RMID, NULL);
        OK(cu.cuMemHostRegister_v2(p, granule, CU_MEMHOSTREGISTER_DEVICEMAP));
        OK(cu.cuMemHostGetDevicePointer_v2(&d, p, 0));
        CHECK(d == (uintptr_t)p);
        launch(s, "store64", d + granule / 2 + 8, 7 + turn, 0);
        OK(cu.cuStreamSynchronize(s));
        CHECK(p[1] == 7 + turn, "the second half is not the first");
        OK(cu.cuMemHostUnregister(p));
        CHECK(mmap(p, granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
    }
    OK(cu.cuMemAddressFree(base, 64 << 20));
}

// ---- Value writes and waits

static void writes_and_waits(void)
{
    CUstream a = stream_open(), b = stream_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words, d = device_alloc(64);

    OK(cu.cuStreamWaitValue64_v2(a, base, 10, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cu.cuStreamWriteValue64_v2(a, base + 8, 1, 0));
    OK(cu.cuStreamWriteValue32_v2(a, d, 3, 0));
    OK(cu.cuStreamWaitValue32_v2(b, d, 3, CU_STREAM_WAIT_VALUE_EQ));
    OK(cu.cuStreamWriteValue32_v2(b, base + 16, 0xffffffff, 0));
    words[0] = 9;
    EXPECT(CUDA_ERROR_NOT_READY, cu.cuStreamQuery(a));
    CHECK(words[1] == 0);
    words[0] = 12;
    host_wait(&words[2], 0xffffffff);
    CHECK(words[1] == 1);
    OK(cu.cuStreamWaitValue64_v2(a, base, 4, CU_STREAM_WAIT_VALUE_AND));
    OK(cu.cuStreamWaitValue64_v2(a, base, 1, CU_STREAM_WAIT_VALUE_NOR));
    OK(cu.cuStreamSynchronize(a));
}

static void batch(void)
{
    CUstream s = stream_open();
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;
    CUstreamBatchMemOpParams ops[] = {
        {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64, .address = base, .value64 = 1}},
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64,
                        .address = base + 8,
                        .value64 = (uint64_t)1 << 40}},
        {.memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER}},
        {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                        .address = base + 16,
                        .value = 5}},
    };

    OK(cu.cuStreamBatchMemOp_v2(s, ARRAY_SIZE(ops), ops, 0));
    CHECK(words[2] == 0);
    words[0] = 1;
    host_wait(&words[2], 5);
    CHECK(words[1] == (uint64_t)1 << 40);
}

static void bad_writes_are_refused(void)
{
    CUdeviceptr p = device_alloc(64);
    uint64_t local = 0;

    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWriteValue64_v2(NULL, p + 4, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuStreamWriteValue64_v2(NULL, (CUdeviceptr)(uintptr_t)&local, 1, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuStreamWriteValue64_v2(NULL, 0, 1, 0));
    OK(cu.cuCtxSynchronize());
}

static const struct test tests[] = {
    {"cuMemGetInfo counts what is allocated", info_counts, false},
    {"too much memory is refused and hurts nobody", too_much_is_out_of_memory, false},
    {"small allocations do not overlap", small_ones_are_apart, false},
    {"an address tells its allocation", address_range, false},
    {"fills and copies move the right bytes", fills_and_copies, false},
    {"pointers tell what they are", pointer_attributes, false},
    {"host memory is registered once, used, and given back", register_rules, false},
    {"cuMemHostAlloc gives memory for both sides", host_alloc, false},
    {"a System V segment takes stores and a completion word", system_v_segment, false},
    {"a segment lies among reservations, and kernels that run see it", segment_among_reservations,
     false},
    {"a segment lies inside a reservation that is kept", segment_inside_a_reservation, false},
    {"value waits hold a stream until the value is there", writes_and_waits, false},
    {"a batch of value writes and waits runs in order", batch, false},
    {"value writes to bad addresses are refused", bad_writes_are_refused, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
