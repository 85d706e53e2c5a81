/*
 * What it takes to map the memory of another process, by the state of that process. The question_
 * function is run in a process of its own, which makes no context: its children do.
 */
#include "driver_facts.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define PIECES  16
#define PIECE   GIB
#define NOWHERE 256 /* an address at which nothing is mapped */
#define GREENS  8

enum owner { OWNER_RESTS, OWNER_GREEN, OWNER_STOPPED, OWNER_UNMAPPED, OWNER_FAULTED };

static CUmemAccessDesc everybody(void)
{
    return (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                             .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

static CUresult greens_make(void)
{
    CUdevResource all, part;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    CUstream stream;

    CK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    part = all;
    for (int i = 0; i < GREENS; i++) {
        CK(cuDevResourceGenerateDesc(&desc, &part, 1));
        CK(cuGreenCtxCreate(&green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
        CK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
        arg.a = 0;
        CK(kernel_launch(nop, stream));
        CK(cuStreamSynchronize(stream));
    }
    return CUDA_SUCCESS;
}

static CUresult owner_run(enum owner owner, int socket)
{
    const CUmemAccessDesc access = everybody();
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                             .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;

    CK(context_open(CU_CTX_SCHED_SPIN));
    if (owner != OWNER_RESTS)
        CK(greens_make());
    CK(cuMemAddressReserve(&base, PIECES * PIECE, 0, 0, 0));
    for (int i = 0; i < PIECES; i++) {
        int fd;

        CK(cuMemCreate(&handle, PIECE, &p, 0));
        CK(cuMemMap(base + i * PIECE, PIECE, 0, handle, 0));
        CK(cuMemSetAccess(base + i * PIECE, PIECE, &access, 1));
        CK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        if (descriptor_send(socket, fd))
            return CUDA_ERROR_OPERATING_SYSTEM;
        close(fd);
    }
    CK(cuMemsetD8(base, 1, PIECES * PIECE));
    CK(cuCtxSynchronize());
    if (owner == OWNER_UNMAPPED)
        CK(cuMemUnmap(base, PIECES * PIECE));
    if (owner == OWNER_FAULTED) {
        arg.a = 1000;
        arg.b = NOWHERE;
        arg.c = NOWHERE;
        CK(kernel_launch(spin, 0));
        while (cuStreamQuery(0) == CUDA_ERROR_NOT_READY)
            ;
    }
    return write(socket, "", 1) == 1 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

static CUresult heir_run(const char *what, enum owner owner, pid_t other, int socket)
{
    const CUmemAccessDesc access = everybody();
    CUmemGenericAllocationHandle handle;
    double import = 0, map = 0, allow = 0, t0, t1, t2, begun;
    int fds[PIECES];
    CUdeviceptr base;
    char byte;

    CK(context_open(CU_CTX_SCHED_SPIN));
    for (int i = 0; i < PIECES; i++)
        fds[i] = descriptor_receive(socket);
    if (read(socket, &byte, 1) != 1)
        return CUDA_ERROR_OPERATING_SYSTEM;
    if (owner == OWNER_STOPPED)
        kill(other, SIGSTOP);
    begun = now_us();
    CK(cuMemAddressReserve(&base, PIECES * PIECE, 0, 0, 0));
    for (int i = 0; i < PIECES; i++) {
        t0 = now_us();
        CK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fds[i],
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        t1 = now_us();
        CK(cuMemMap(base + i * PIECE, PIECE, 0, handle, 0));
        t2 = now_us();
        CK(cuMemSetAccess(base + i * PIECE, PIECE, &access, 1));
        import += t1 - t0;
        map += t2 - t1;
        allow += now_us() - t2;
    }
    t0 = now_us();
    CK(cuMemsetD8Async(base, 2, 4096, 0));
    CK(cuStreamSynchronize(0));
    t1 = now_us();
    printf("  owner %-28s 16 x 1 GiB in %7.2f ms: import %6.2f, map %6.2f, access %6.2f; first "
           "memset %6.2f ms\n",
           what, (now_us() - begun) * 1e-3, import * 1e-3, map * 1e-3, allow * 1e-3,
           (t1 - t0) * 1e-3);
    return CUDA_SUCCESS;
}

static void heir_try(enum owner owner, const char *what)
{
    pid_t first, second;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return;
    fflush(stdout);
    first = fork();
    if (!first) {
        owner_run(owner, ends[0]);
        for (;;)
            pause();
    }
    second = fork();
    if (!second) {
        heir_run(what, owner, first, ends[1]);
        fflush(stdout);
        _exit(0);
    }
    while (waitpid(second, NULL, 0) < 0 && errno == EINTR)
        ;
    kill(first, SIGKILL);
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR)
        ;
    close(ends[0]);
    close(ends[1]);
}

CUresult question_heir(void)
{
    heir_try(OWNER_RESTS, "at rest");
    heir_try(OWNER_GREEN, "at rest, 8 green contexts");
    heir_try(OWNER_STOPPED, "the same, stopped");
    heir_try(OWNER_UNMAPPED, "the same, memory unmapped");
    heir_try(OWNER_FAULTED, "the same, after a fault");
    return CUDA_SUCCESS;
}
