// Allocations apart from addresses: reserve, create, map, export, import, and what outlives whom.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"

#define MIB ((size_t)1 << 20)

static CUmemAllocationProp prop(void)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, device},
    };
}

static size_t granularity(void)
{
    CUmemAllocationProp p = prop();
    size_t g = 0;

    OK(cu.cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(g && (g & (g - 1)) == 0);
    return g;
}

static CUmemGenericAllocationHandle create(size_t size)
{
    CUmemAllocationProp p = prop();
    CUmemGenericAllocationHandle h;

    OK(cu.cuMemCreate(&h, size, &p, 0));
    return h;
}

static void allow(CUdeviceptr address, size_t size, CUmemAccess_flags flags)
{
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};

    OK(cu.cuMemSetAccess(address, size, &desc, 1));
}

static void map_and_use(void)
{
    size_t g = granularity(), size = 4 * g;
    CUmemGenericAllocationHandle a = create(size), b = create(size);
    unsigned long long flags;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUdeviceptr base;

    OK(cu.cuMemAddressReserve(&base, 2 * size, 0, 0, 0));
    OK(cu.cuMemMap(base, size, 0, a, 0));
    OK(cu.cuMemMap(base + size, size, 0, b, 0));
    allow(base, 2 * size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu.cuMemGetAccess(&flags, &here, base));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    // One range now, across the seam.
    launch_wide(NULL, "count", 2 * size / 4 / 256, 256, base, 0, 0);
    CHECK(device_word(base + size) == size / 4);
    CHECK(device_word(base + 2 * size - 4) == 2 * size / 4 - 1);
    // The handles may go before the mappings.
    OK(cu.cuMemRelease(a));
    OK(cu.cuMemUnmap(base, size));
    launch(NULL, "store", base + size, 7, 0);
    CHECK(device_word(base + size) == 7);
    OK(cu.cuMemUnmap(base + size, size));
    OK(cu.cuMemRelease(b));
    OK(cu.cuMemAddressFree(base, 2 * size));
}

static void contents_follow_the_allocation(void)
{
    size_t g = granularity();
    CUmemGenericAllocationHandle h = create(g);
    CUdeviceptr first, second;

    OK(cu.cuMemAddressReserve(&first, g, 0, 0, 0));
    OK(cu.cuMemAddressReserve(&second, g, 0, 0, 0));
    OK(cu.cuMemMap(first, g, 0, h, 0));
    OK(cu.cuMemMap(second, g, 0, h, 0));
    allow(first, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    allow(second, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    launch(NULL, "store", first + 64, 1234, 0);
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(second + 64) == 1234);
    OK(cu.cuMemUnmap(first, g));
    CHECK(device_word(second + 64) == 1234);
}

// Pages of host memory behind device memory; 0 where it has none there, as on a GPU.
static size_t pages_used(CUdeviceptr address, size_t size)
{
    const size_t count = size / (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = calloc(count, 1);
    size_t used = 0;

    CHECK(pages);
    if (!mincore((void *)(uintptr_t)address, size, pages)) {
        for (size_t i = 0; i < count; i++)
            used += pages[i] & 1;
    }
    free(pages);
    return used;
}

static void zeros_reach_each_mapping_and_no_further(void)
{
    const size_t g = granularity(), size = 4 * g;
    CUmemGenericAllocationHandle h = create(size);
    CUdeviceptr first, second;

    OK(cu.cuMemAddressReserve(&first, size, 0, 0, 0));
    OK(cu.cuMemAddressReserve(&second, size, 0, 0, 0));
    OK(cu.cuMemMap(first, size, 0, h, 0));
    OK(cu.cuMemMap(second, size, 0, h, 0));
    allow(first, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    allow(second, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu.cuMemsetD8_v2(first, 0, size));
    CHECK(pages_used(first, size) == 0); // fresh, and zero without a write
    OK(cu.cuMemsetD8_v2(first, 0xab, size));
    OK(cu.cuMemsetD8_v2(first + g, 0, 2 * g));
    OK(cu.cuMemsetD8_v2(first + 3 * g + 64, 0, 64));
    CHECK(device_word(second) == 0xabababab);
    CHECK(device_word(second + g - 4) == 0xabababab);
    CHECK(device_word(second + g) == 0);
    CHECK(device_word(second + 3 * g - 4) == 0);
    CHECK(device_word(second + 3 * g) == 0xabababab);
    CHECK(device_word(second + 3 * g + 64) == 0);
    CHECK(device_word(second + 3 * g + 128) == 0xabababab);
    launch(NULL, "store", first + 2 * g, 77, 0);
    OK(cu.cuCtxSynchronize());
    CHECK(device_word(second + 2 * g) == 77);
    OK(cu.cuMemUnmap(first, size));
    OK(cu.cuMemUnmap(second, size));
    OK(cu.cuMemRelease(h));
}

static void wrong_use_is_refused(void)
{
    size_t g = granularity();
    CUmemAllocationProp p = prop();
    CUmemGenericAllocationHandle h = create(g), other;
    CUdeviceptr base;

    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemCreate(&other, g - 4096, &p, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemCreate(&other, 0, &p, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemAddressReserve(&base, g, 3 * g, 0, 0));
    OK(cu.cuMemAddressReserve(&base, 2 * g, 0, 0, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemMap(base + 4096, g, 0, h, 0));
    OK(cu.cuMemMap(base, g, 0, h, 0));
    CHECK(cu.cuMemMap(base, g, 0, h, 0) != CUDA_SUCCESS, "mapped twice in one place");
    CHECK(cu.cuMemAddressFree(base, 2 * g) != CUDA_SUCCESS, "freed while something is mapped");
    OK(cu.cuMemUnmap(base, g));
    // What is not mapped may be unmapped.
    OK(cu.cuMemUnmap(base, g));
    OK(cu.cuMemAddressFree(base, 2 * g));
    OK(cu.cuMemRelease(h));
}

static void no_access_is_a_fault(void)
{
    size_t g = granularity();
    CUmemGenericAllocationHandle h = create(g);
    CUdeviceptr base;

    launch(NULL, "empty", 0, 0, 0);
    OK(cu.cuMemAddressReserve(&base, g, 0, 0, 0));
    OK(cu.cuMemMap(base, g, 0, h, 0));
    launch(NULL, "store", base, 1, 0);
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
}

static void read_only_is_a_fault_to_write(void)
{
    size_t g = granularity();
    CUmemGenericAllocationHandle h = create(g);
    CUdeviceptr base, out = device_alloc(4);

    OK(cu.cuMemAddressReserve(&base, g, 0, 0, 0));
    OK(cu.cuMemMap(base, g, 0, h, 0));
    allow(base, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cu.cuMemsetD32_v2(base, 9, 1));
    allow(base, g, CU_MEM_ACCESS_FLAGS_PROT_READ);
    launch(NULL, "load", base, out, 0);
    CHECK(device_word(out) == 9);
    launch(NULL, "store", base, 1, 0);
    CHECK(cu.cuCtxSynchronize() != CUDA_SUCCESS);
}

static void aligned_windows(void)
{
    size_t window = (size_t)4 << 30;
    CUdeviceptr a, b;

    OK(cu.cuMemAddressReserve(&a, window, window, 0, 0));
    CHECK(a % window == 0);
    OK(cu.cuMemAddressReserve(&b, window, window, a + 4 * window, 0));
    CHECK(b == a + 4 * window, "a free address that was asked for was not given");
    OK(cu.cuMemAddressFree(a, window));
    OK(cu.cuMemAddressFree(b, window));
}

static void quota_holds(void)
{
    CUmemAllocationProp p = prop();
    CUmemGenericAllocationHandle h;
    size_t before, after, total;

    OK(cu.cuMemGetInfo_v2(&before, &total));
    EXPECT(
        CUDA_ERROR_OUT_OF_MEMORY,
        cu.cuMemCreate(&h, (total * 2 + granularity() - 1) / granularity() * granularity(), &p, 0));
    OK(cu.cuMemCreate(&h, 64 * MIB, &p, 0));
    OK(cu.cuMemGetInfo_v2(&after, &total));
    CHECK(before - after >= 64 * MIB);
    OK(cu.cuMemRelease(h));
}

static void sink_many_times(void)
{
    size_t g = granularity(), count = 200;
    CUmemGenericAllocationHandle h = create(g);
    CUdeviceptr base;

    OK(cu.cuMemAddressReserve(&base, count * g, 0, 0, 0));
    for (size_t i = 0; i < count; i++)
        OK(cu.cuMemMap(base + i * g, g, 0, h, 0));
    allow(base, count * g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    launch(NULL, "store", base + 100 * g + 12, 3, 0);
    CHECK(device_word(base + 12) == 3);
    OK(cu.cuMemUnmap(base, count * g));
}

// ---- Other processes

static void fd_send(int socket, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec data = {&byte, 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    CHECK(sendmsg(socket, &m, 0) == 1);
}

static int fd_receive(int socket)
{
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec data = {&byte, 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    int fd;

    CHECK(recvmsg(socket, &m, 0) == 1 && CMSG_FIRSTHDR(&m));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
    return fd;
}

// Makes an allocation whose words count from FROM, mapped at an address of its own, and sends both.
// Then faults, if told to, and ends without giving anything back.
static void exporter(int socket, uint32_t from, bool fault)
{
    size_t g;
    CUmemGenericAllocationHandle h;
    CUdeviceptr base;
    int fd;

    context_open();
    g = granularity();
    h = create(g);
    OK(cu.cuMemAddressReserve(&base, g, 0, 0, 0));
    OK(cu.cuMemMap(base, g, 0, h, 0));
    allow(base, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    launch_wide(NULL, "count", g / 1024, 256, base, from, 0);
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    fd_send(socket, fd);
    CHECK(write(socket, &base, sizeof(base)) == sizeof(base));
    if (fault) {
        launch(NULL, "store", 0x10, 1, 0);
        EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
    }
    _exit(0);
}

static void taken_over(bool fault)
{
    int pair[2], fd, status;
    CUmemGenericAllocationHandle h;
    CUdeviceptr theirs, base;
    CUmemAllocationProp p;
    size_t g;
    pid_t child;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    child = fork();
    if (child == 0)
        exporter(pair[1], 1000, fault);
    close(pair[1]);
    fd = fd_receive(pair[0]);
    CHECK(read(pair[0], &theirs, sizeof(theirs)) == sizeof(theirs));
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    // Only now, with the other process gone, is there a context here.
    context_open();
    g = granularity();
    OK(cu.cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd,
                                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    OK(cu.cuMemGetAllocationPropertiesFromHandle(&p, h));
    OK(cu.cuMemAddressReserve(&base, g, 0, theirs, 0));
    CHECK(base == theirs, "the address that the other process had is not free here");
    OK(cu.cuMemMap(base, g, 0, h, 0));
    allow(base, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    for (size_t i = 0; i < g / 4; i += 4099)
        CHECK(device_word(base + 4 * i) == 1000 + i);
    launch(NULL, "step", base, 2, 1);
    CHECK(device_word(base) == 2001);
}

static void outlives_its_process(void)
{
    taken_over(false);
}

static void outlives_a_fault(void)
{
    taken_over(true);
}

static void shared_while_both_live(void)
{
    int pair[2], fd, status;
    CUmemGenericAllocationHandle h;
    CUdeviceptr base;
    size_t g;
    pid_t child;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    child = fork();
    context_open();
    g = granularity();
    if (child == 0) {
        fd = fd_receive(pair[1]);
        OK(cu.cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    } else {
        h = create(g);
        OK(cu.cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        fd_send(pair[0], fd);
    }
    OK(cu.cuMemAddressReserve(&base, g, 0, 0, 0));
    OK(cu.cuMemMap(base, g, 0, h, 0));
    allow(base, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (child == 0) {
        launch(NULL, "store", base + 8, 55, 0);
        OK(cu.cuCtxSynchronize());
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(device_word(base + 8) == 55);
}

static void garbage_is_not_imported(void)
{
    CUmemGenericAllocationHandle h;
    int pipes[2];

    CHECK(pipe(pipes) == 0);
    CHECK(cu.cuMemImportFromShareableHandle(&h, (void *)(intptr_t)pipes[0],
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) !=
          CUDA_SUCCESS);
    launch(NULL, "empty", 0, 0, 0);
    OK(cu.cuCtxSynchronize());
}

static const struct test tests[] = {
    {"two allocations side by side are one range", map_and_use, false},
    {"an allocation mapped twice has one content", contents_follow_the_allocation, false},
    {"zeros reach each mapping of an allocation, and no further",
     zeros_reach_each_mapping_and_no_further, false},
    {"wrong sizes, alignments and orders are refused", wrong_use_is_refused, false},
    {"a mapping without access faults", no_access_is_a_fault, false},
    {"a read-only mapping faults when it is written", read_only_is_a_fault_to_write, false},
    {"windows are aligned and placed where asked", aligned_windows, false},
    {"physical memory is counted", quota_holds, false},
    {"one allocation fills a window many times", sink_many_times, false},
    {"exported memory outlives its process, at the same address", outlives_its_process, true},
    {"exported memory outlives its context's fault", outlives_a_fault, true},
    {"two processes share an allocation", shared_while_both_live, true},
    {"what is not memory is not imported", garbage_is_not_imported, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
