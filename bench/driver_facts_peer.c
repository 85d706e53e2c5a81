/*
 * What a process with a context on device 0 alone can do with memory that another process, with a
 * context on device 1 alone, has made and handed over as a descriptor: whether it maps at the same
 * address, what loads, stores, atomics and copies give, who waits for mapping, what it takes of
 * device 1, and whether it outlives its maker. The question_ function is run in a process of its
 * own, which makes no context: its children do.
 */
#include "driver_facts.h"

#include <signal.h>
#include <sys/wait.h>

#define SMALL   (2 * MIB)
#define LARGE   GIB
#define PLACE   0x7e0000000000ull /* of the maker's mapping, if it is free there */
#define TURNS   32
#define BLOCKS  1056
#define THREADS 256
#define ADDS    8 /* of each thread */
#define LONG_NS 300000000ull

/* fill: word i of d words becomes i + b. check: counts at c the words that are not i + b, for d
 * words. add, add_sys: each thread adds 1 to the word at a, b times. */
#define PTX_INDEX                                                                                  \
    ".reg .u64 %a, %b, %c, %i, %n, %s, %t, %v; .reg .u32 %r<4>; .reg .pred %p, %q;\n"              \
    "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u32 %r3, [d];\n"   \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"                          \
    "mad.lo.u32 %r0, %r0, %r1, %r2; cvt.u64.u32 %i, %r0; cvt.u64.u32 %n, %r3;\n"                   \
    "mov.u32 %r2, %nctaid.x; mul.lo.u32 %r1, %r1, %r2; cvt.u64.u32 %s, %r1;\n"

static const char ptx_peer[] =
    PTX_HEAD ".visible .entry fill" PTX_PARAMS "{\n" PTX_INDEX
             "again: setp.ge.u64 %p, %i, %n; @%p bra done;\n"
             "shl.b64 %t, %i, 3; add.u64 %t, %t, %a; add.u64 %v, %i, %b; st.global.u64 [%t], %v;\n"
             "add.u64 %i, %i, %s; bra again; done: ret; }\n"
             ".visible .entry check" PTX_PARAMS "{\n" PTX_INDEX
             "again: setp.ge.u64 %p, %i, %n; @%p bra done;\n"
             "shl.b64 %t, %i, 3; add.u64 %t, %t, %a; add.u64 %v, %i, %b;\n"
             "ld.global.u64 %t, [%t]; setp.ne.u64 %q, %t, %v;\n"
             "@%q red.global.add.u64 [%c], 1;\n"
             "add.u64 %i, %i, %s; bra again; done: ret; }\n"
             ".visible .entry add" PTX_PARAMS "{\n" PTX_INDEX
             "again: atom.global.add.u64 %v, [%a], 1; sub.u64 %b, %b, 1;\n"
             "setp.ne.u64 %p, %b, 0; @%p bra again; ret; }\n"
             ".visible .entry add_sys" PTX_PARAMS "{\n" PTX_INDEX
             "again: atom.sys.global.add.u64 %v, [%a], 1; sub.u64 %b, %b, 1;\n"
             "setp.ne.u64 %p, %b, 0; @%p bra again; ret; }\n";

static CUfunction fill, check, add, add_sys;
static CUstream work;
static CUdeviceptr wrong; /* words of the own device, the first one counts wrong words */

/* What the maker tells before its two descriptors. */
struct made {
    CUdeviceptr small, large;
};

static CUmemAccessDesc access_of(int ordinal)
{
    return (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal},
                             .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

static CUmemAllocationProp prop_of(int ordinal)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal}};
}

/* context_open of any device. */
static CUresult peer_open(int ordinal)
{
    CUmodule module;
    void *cubin;

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CK(cuInit(0));
    CK(cuDeviceGet(&device, ordinal));
    CK(cuDevicePrimaryCtxRetain(&context, device));
    CK(cuCtxSetCurrent(context));
    CK(cubin_new(ptx_peer, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&fill, module, "fill"));
    CK(cuModuleGetFunction(&check, module, "check"));
    CK(cuModuleGetFunction(&add, module, "add"));
    CK(cuModuleGetFunction(&add_sys, module, "add_sys"));
    CK(cubin_new(ptx_small, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&spin, module, "spin"));
    CK(stream_new(&work));
    CK(cuMemAlloc(&wrong, 64));
    return cuMemsetD8(wrong, 0, 64);
}

static CUresult wide(CUfunction f, CUdeviceptr a, uint64_t b, CUdeviceptr c, uint32_t d)
{
    arg.a = a;
    arg.b = b;
    arg.c = c;
    arg.d = d;
    return cuLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, work, args, NULL);
}

/* The words of a range that are not those of fill with `first`. */
static CUresult words_wrong(CUdeviceptr at, size_t size, uint64_t first, uint64_t *count)
{
    CK(cuMemsetD8Async(wrong, 0, 8, work));
    CK(wide(check, at, first, wrong, size / 8));
    CK(cuStreamSynchronize(work));
    return cuMemcpyDtoH(count, wrong, 8);
}

static CUresult long_begin(void)
{
    arg.a = LONG_NS;
    arg.b = wrong;
    arg.c = wrong + 8;
    arg.d = 7;
    return kernel_launch(spin, work);
}

/* ------------------------------------------------------------------ the maker, on device 1 */

static CUresult piece_make(CUdeviceptr hint, size_t size, CUdeviceptr *at, int *descriptor)
{
    const CUmemAccessDesc access = access_of(1);
    const CUmemAllocationProp prop = prop_of(1);
    CUmemGenericAllocationHandle handle;

    CK(cuMemAddressReserve(at, size, 0, hint, 0));
    CK(cuMemCreate(&handle, size, &prop, 0));
    CK(cuMemMap(*at, size, 0, handle, 0));
    CK(cuMemSetAccess(*at, size, &access, 1));
    CK(wide(fill, *at, 1, 0, size / 8));
    CK(cuStreamSynchronize(work));
    return cuMemExportToShareableHandle(descriptor, handle,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

/* Answers one letter: 'm' the MiB of device 1 in use, 'w' the wrong words of the large piece after
 * the other's fill with 5, 'z' after clearing the counter at its start, 'v' the counter, 'a' and
 * 's' after beginning kernels that add, 'l' after beginning a long one, 'x' after its context has
 * had a fault. */
static CUresult maker_answer(char letter, const struct made *made, uint64_t *answer)
{
    *answer = 0;
    switch (letter) {
    case 'm':
        *answer = memory_used() / MIB;
        return CUDA_SUCCESS;
    case 'w':
        return words_wrong(made->large, LARGE, 5, answer);
    case 'z':
        CK(cuMemsetD8Async(made->large, 0, 8, work));
        return cuStreamSynchronize(work);
    case 'v':
        CK(cuStreamSynchronize(work));
        return cuMemcpyDtoH(answer, made->large, 8);
    case 'a':
        return wide(add, made->large, ADDS, 0, 0);
    case 's':
        return wide(add_sys, made->large, ADDS, 0, 0);
    case 'l':
        return long_begin();
    default:
        CK(wide(fill, 256, 0, 0, 1));
        *answer = cuStreamSynchronize(work);
        return CUDA_SUCCESS;
    }
}

static CUresult maker_run(int socket)
{
    struct made made = {0, 0};
    int count = 0, small, large;
    uint64_t answer;
    char letter;

    CK(cuInit(0));
    CK(cuDeviceGetCount(&count));
    if (count < 2) {
        printf("  SKIPPED: %d device\n", count);
        return CUDA_SUCCESS;
    }
    CK(peer_open(1));
    CK(piece_make(PLACE, SMALL, &made.small, &small));
    CK(piece_make(PLACE + LARGE, LARGE, &made.large, &large));
    if (write(socket, &made, sizeof(made)) != sizeof(made) || descriptor_send(socket, small) ||
        descriptor_send(socket, large))
        return CUDA_ERROR_OPERATING_SYSTEM;
    while (read(socket, &letter, 1) == 1) {
        CK(maker_answer(letter, &made, &answer));
        if (write(socket, &answer, sizeof(answer)) != sizeof(answer))
            return CUDA_ERROR_OPERATING_SYSTEM;
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ the importer, on device 0 */

static int to_maker;

static long long ask(char letter)
{
    uint64_t answer;

    if (write(to_maker, &letter, 1) != 1 || read(to_maker, &answer, sizeof(answer)) != 8)
        return -1;
    return (long long)answer;
}

static void device_one_print(const char *when)
{
    unsigned flags = 0;
    int active = -1;

    cuDevicePrimaryCtxGetState(1, &flags, &active);
    printf("  %-44s device 1 has %5lld MiB in use; primary context here: %d\n", when, ask('m'),
           active);
}

static CUresult abilities_print(void)
{
    int there, back, rank = -1, atomics = -1;

    CK(cuDeviceCanAccessPeer(&there, 0, 1));
    CK(cuDeviceCanAccessPeer(&back, 1, 0));
    cuDeviceGetP2PAttribute(&rank, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1);
    cuDeviceGetP2PAttribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 0, 1);
    printf("  cuDeviceCanAccessPeer 0 to 1: %d, 1 to 0: %d; rank %d, native atomics %d\n", there,
           back, rank, atomics);
    return CUDA_SUCCESS;
}

struct import {
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
};

/* A step failed: makes a primary context on device 1, in case the driver wants one for it. */
static CUresult with_context(const char *step, CUresult result)
{
    const char *name = "?";
    CUcontext other;

    cuGetErrorName(result, &name);
    printf("  %s: %s; again with a primary context on device 1\n", step, name);
    CK(cuDevicePrimaryCtxRetain(&other, 1));
    return cuCtxSetCurrent(context);
}

/* Maps a descriptor's memory for device 0, at the maker's address where that is free. Prints the
 * address and what each step takes; the memory stays mapped. */
static CUresult import_piece(const char *what, int fd, CUdeviceptr maker, size_t size,
                             struct import *import)
{
    const CUmemAccessDesc access = access_of(0);
    CUmemAllocationProp prop;
    double t[5];
    CUresult result;

    t[0] = now_us();
    result = cuMemImportFromShareableHandle(&import->handle, (void *)(intptr_t)fd,
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (result) {
        CK(with_context("cuMemImportFromShareableHandle", result));
        CK(cuMemImportFromShareableHandle(&import->handle, (void *)(intptr_t)fd,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    }
    t[1] = now_us();
    CK(cuMemAddressReserve(&import->at, size, 0, maker, 0));
    t[2] = now_us();
    CK(cuMemMap(import->at, size, 0, import->handle, 0));
    t[3] = now_us();
    result = cuMemSetAccess(import->at, size, &access, 1);
    if (result) {
        CK(with_context("cuMemSetAccess", result));
        CK(cuMemSetAccess(import->at, size, &access, 1));
    }
    t[4] = now_us();
    CK(cuMemGetAllocationPropertiesFromHandle(&prop, import->handle));
    printf("  %s: at the maker's address: %s; import %.1f, reserve %.1f, map %.1f, access %.1f us; "
           "the handle says device %d\n",
           what, import->at == maker ? "yes" : "NO", t[1] - t[0], t[2] - t[1], t[3] - t[2],
           t[4] - t[3], prop.location.id);
    return CUDA_SUCCESS;
}

/* What mapping the piece anew takes, beside whatever runs. */
static CUresult remap_times(const char *what, const struct import *import, size_t size, int turns)
{
    static double unmap[TURNS], map[TURNS], access[TURNS];
    const CUmemAccessDesc desc = access_of(0);
    char name[80];

    for (int i = 0; i < turns; i++) {
        double t[4] = {now_us()};

        CK(cuMemUnmap(import->at, size));
        t[1] = now_us();
        CK(cuMemMap(import->at, size, 0, import->handle, 0));
        t[2] = now_us();
        CK(cuMemSetAccess(import->at, size, &desc, 1));
        t[3] = now_us();
        unmap[i] = t[1] - t[0];
        map[i] = t[2] - t[1];
        access[i] = t[3] - t[2];
    }
    snprintf(name, sizeof(name), "%s: cuMemUnmap", what);
    print_times(name, unmap, turns);
    snprintf(name, sizeof(name), "%s: cuMemMap", what);
    print_times(name, map, turns);
    snprintf(name, sizeof(name), "%s: cuMemSetAccess", what);
    print_times(name, access, turns);
    return CUDA_SUCCESS;
}

static CUresult rate_of(const char *what, CUfunction f, CUdeviceptr at, uint64_t first)
{
    double start = 0, best = 1e30;

    for (int i = 0; i < 5; i++) {
        start = now_us();
        CK(wide(f, at, first, wrong, LARGE / 8));
        CK(cuStreamSynchronize(work));
        if (now_us() - start < best)
            best = now_us() - start;
    }
    printf("  %-44s %8.1f GB/s\n", what, LARGE / best * 1e-3);
    return CUDA_SUCCESS;
}

static CUresult copy_rate(const char *what, CUdeviceptr to, CUdeviceptr from)
{
    double start = 0, best = 1e30;

    for (int i = 0; i < 5; i++) {
        start = now_us();
        CK(cuMemcpyDtoDAsync(to, from, LARGE, work));
        CK(cuStreamSynchronize(work));
        if (now_us() - start < best)
            best = now_us() - start;
    }
    printf("  %-44s %8.1f GB/s\n", what, LARGE / best * 1e-3);
    return CUDA_SUCCESS;
}

static CUresult rates(CUdeviceptr peer, CUdeviceptr own)
{
    uint64_t count;

    CK(words_wrong(peer, LARGE, 1, &count));
    printf("  loads of the maker's words: %llu wrong\n", (unsigned long long)count);
    CK(rate_of("loads from the peer", check, peer, 1));
    CK(rate_of("stores to the peer", fill, peer, 5));
    printf("  stores seen by the maker: %lld wrong\n", ask('w'));
    CK(rate_of("stores to the own device", fill, own, 9));
    CK(rate_of("loads from the own device", check, own, 9));
    CK(copy_rate("cuMemcpyDtoD, peer to own", own, peer));
    CK(words_wrong(own, LARGE, 5, &count));
    printf("  words copied from the peer: %llu wrong\n", (unsigned long long)count);
    CK(copy_rate("cuMemcpyDtoD, own to peer", peer, own));
    CK(words_wrong(peer, LARGE, 5, &count));
    printf("  words copied to the peer: %llu wrong\n", (unsigned long long)count);
    return copy_rate("cuMemcpyDtoD, own to own", own + LARGE, own);
}

/* Both devices add to one word at the same time. */
static CUresult adds(const char *what, CUfunction f, char letter, CUdeviceptr peer)
{
    const uint64_t each = (uint64_t)BLOCKS * THREADS * ADDS;
    double start;
    long long sum;

    ask('z');
    start = now_us();
    CK(wide(f, peer, ADDS, 0, 0));
    CK(cuStreamSynchronize(work));
    printf("  %s: %.1f M/s alone on the peer's word, ", what, each / (now_us() - start));
    ask('z');
    ask(letter);
    CK(wide(f, peer, ADDS, 0, 0));
    CK(cuStreamSynchronize(work));
    sum = ask('v');
    printf("%s of both devices at once\n",
           sum == (long long)(2 * each) ? "right sum" : "WRONG sum");
    return CUDA_SUCCESS;
}

/* Whether the calls of mapping wait for a kernel of the own device, or of the maker's. */
static CUresult remap_beside_kernels(const struct import *import)
{
    double start;

    CK(long_begin());
    CK(remap_times("2 MiB beside a 300 ms kernel here", import, SMALL, 1));
    CK(cuStreamSynchronize(work));
    ask('l');
    start = now_us();
    CK(remap_times("2 MiB beside one of the maker's", import, SMALL, 1));
    printf("  all three took %.1f ms\n", (now_us() - start) * 1e-3);
    ask('v');
    return CUDA_SUCCESS;
}

/* The maker ends while the memory is mapped. */
static CUresult maker_ends(pid_t maker, CUdeviceptr peer)
{
    uint64_t count;

    printf("  the maker's context has a fault: error %lld there\n", ask('x'));
    CK(words_wrong(peer, LARGE, 5, &count));
    printf("  afterwards, loads: %llu wrong\n", (unsigned long long)count);
    kill(maker, SIGKILL);
    waitpid(maker, NULL, 0);
    CK(words_wrong(peer, LARGE, 5, &count));
    printf("  the maker was killed; afterwards, loads: %llu wrong\n", (unsigned long long)count);
    CK(rate_of("stores to the peer, which has no process", fill, peer, 11));
    CK(words_wrong(peer, LARGE, 11, &count));
    printf("  and their words: %llu wrong\n", (unsigned long long)count);
    return CUDA_SUCCESS;
}

/* Memory of device 1 that this process makes itself. */
static CUresult made_here(void)
{
    const CUmemAllocationProp prop = prop_of(1);
    CUmemGenericAllocationHandle handle;
    CUresult result = cuMemCreate(&handle, SMALL, &prop, 0);
    const char *name = "?";

    cuGetErrorName(result, &name);
    printf("  cuMemCreate of memory of device 1, without a context there: %s\n", name);
    return result ? CUDA_SUCCESS : cuMemRelease(handle);
}

static CUresult importer_run(pid_t maker, int small, int large, const struct made *made)
{
    struct import first, second;
    CUdeviceptr own;

    device_one_print("before this process has a context");
    CK(peer_open(0));
    CK(cuMemAlloc(&own, 2 * LARGE));
    device_one_print("with a context on device 0");
    CK(abilities_print());
    CK(import_piece("2 MiB", small, made->small, SMALL, &first));
    device_one_print("2 MiB imported and mapped");
    CK(import_piece("1 GiB", large, made->large, LARGE, &second));
    device_one_print("1 GiB too");
    CK(rates(second.at, own));
    device_one_print("after kernels and copies");
    CK(adds("atom.add", add, 'a', second.at));
    CK(adds("atom.sys.add", add_sys, 's', second.at));
    CK(wide(fill, second.at, 5, 0, LARGE / 8));
    CK(cuStreamSynchronize(work));
    CK(remap_times("2 MiB", &first, SMALL, TURNS));
    CK(remap_times("1 GiB", &second, LARGE, TURNS));
    CK(remap_beside_kernels(&first));
    CK(made_here());
    device_one_print("at last");
    return maker_ends(maker, second.at);
}

CUresult question_peer(void)
{
    int ends[2], small, large;
    struct made made;
    pid_t maker;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return CUDA_ERROR_OPERATING_SYSTEM;
    fflush(stdout);
    maker = fork();
    if (!maker) {
        close(ends[1]);
        exit(maker_run(ends[0]));
    }
    close(ends[0]);
    to_maker = ends[1];
    if (read(to_maker, &made, sizeof(made)) != sizeof(made))
        return CUDA_SUCCESS; /* the maker has said why */
    small = descriptor_receive(to_maker);
    large = descriptor_receive(to_maker);
    return importer_run(maker, small, large, &made);
}
