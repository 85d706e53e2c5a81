/*
 * What a kernel finds that another one of the same context left on the SMs: in shared memory, in
 * local memory and in registers that it has not written. And whether an array outlives the process
 * that made it, where its memory was mapped to it. Each question_ function is run in a process of
 * its own; the one on arrays makes no context, its children do.
 */
#include "driver_facts.h"

#include <errno.h>
#include <sys/wait.h>

#define MARK    0x5ec2e7u /* the upper 24 bits of what the first kernel writes */
#define THREADS 256

/* leave: writes marks into all dynamic shared memory (d bytes), its local memory, and 32 registers,
 * which it takes from a. find: counts the marks that it meets in its own at a (shared), a + 8
 * (local), a + 16 (registers), and beside each what it has looked at. It writes none of them
 * before: c is 0, which the compiler does not know. */
#define EACH8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define EACH32(X)   EACH8(X, 1) EACH8(X, 2) EACH8(X, 3) EACH8(X, 4) /* 10 to 17, 20 to 27 ... */
#define TAKE(n)     "ld.volatile.global.u32 %k" #n ", [%t1];\n"
#define GIVE(n)     "st.volatile.global.u32 [%t1+4], %k" #n ";\n"
#define NEVER(n)    "@%q ld.volatile.global.u32 %k" #n ", [%t1];\n"
#define COUNT(n)                                                                                   \
    "shr.u32 %r3, %k" #n ", 8; setp.eq.u32 %p, %r3, %r1; selp.u32 %r4, 1, 0, %p;\n"                \
    "add.u32 %r5, %r5, %r4;\n"
#define COMMON                                                                                     \
    "{ .reg .u64 %t<4>; .reg .u32 %r<9>; .reg .u32 %k<48>; .reg .pred %p, %q;\n"                   \
    ".local .align 4 .b8 frame[1024];\n"                                                           \
    "ld.param.u64 %t1, [a]; ld.param.u64 %t2, [c]; ld.param.u32 %r0, [d];\n"                       \
    "setp.ne.u64 %q, %t2, 0; mov.u32 %r1, 0x5ec2e7; mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 2;\n"

static const char ptx_leave[] =
    PTX_HEAD ".extern .shared .align 16 .b8 room[];\n"
             ".visible .entry leave" PTX_PARAMS COMMON
             "shl.b32 %r3, %r1, 8; or.b32 %r4, %r3, 1; mov.u32 %r7, room;\n"
             "shared: setp.ge.u32 %p, %r2, %r0; @%p bra end; add.u32 %r8, %r7, %r2;\n"
             "st.volatile.shared.u32 [%r8], %r4; add.u32 %r2, %r2, 1024; bra shared;\n"
             "end: mov.u32 %r2, 0; mov.u32 %r7, frame;\n"
             "local: add.u32 %r8, %r7, %r2; ld.volatile.global.u32 %r4, [%t1];\n"
             "st.local.u32 [%r8], %r4; add.u32 %r2, %r2, 4;\n"
             "setp.lt.u32 %p, %r2, 1024; @%p bra local;\n" EACH32(
                 TAKE) "and.b32 %r8, %k10, 1020; add.u32 %r8, %r7, %r8; ld.local.u32 %r8, [%r8];\n"
                       "st.volatile.global.u32 [%t1+8], %r8; bar.sync 0;\n" EACH32(GIVE) "ret; }\n";

static const char ptx_find[] = PTX_HEAD
    ".extern .shared .align 16 .b8 room[];\n"
    ".visible .entry find" PTX_PARAMS COMMON
        EACH32(NEVER) "mov.u32 %r5, 0; mov.u32 %r6, 0;\n" EACH32(
            COUNT) "red.global.add.u32 [%t1+16], %r5; red.global.add.u32 [%t1+20], 32;\n"
                   "mov.u32 %r5, 0; mov.u32 %r7, room;\n"
                   "shared: setp.ge.u32 %p, %r2, %r0; @%p bra end; add.u32 %r8, %r7, %r2;\n"
                   "ld.volatile.shared.u32 %r3, [%r8]; shr.u32 %r3, %r3, 8; setp.eq.u32 %p, %r3, "
                   "%r1;\n"
                   "selp.u32 %r4, 1, 0, %p; add.u32 %r5, %r5, %r4; add.u32 %r6, %r6, 1;\n"
                   "add.u32 %r2, %r2, 1024; bra shared;\n"
                   "end: red.global.add.u32 [%t1], %r5; red.global.add.u32 [%t1+4], %r6;\n"
                   "mov.u32 %r2, 0; mov.u32 %r5, 0; mov.u32 %r7, frame; and.b32 %r8, %r0, 1020;\n"
                   "add.u32 %r8, %r7, %r8; @%q st.local.u32 [%r8], %r0;\n"
                   "local: add.u32 %r8, %r7, %r2; ld.local.u32 %r3, [%r8]; shr.u32 %r3, %r3, 8;\n"
                   "setp.eq.u32 %p, %r3, %r1; selp.u32 %r4, 1, 0, %p; add.u32 %r5, %r5, %r4;\n"
                   "add.u32 %r2, %r2, 4; setp.lt.u32 %p, %r2, 1024; @%p bra local;\n"
                   "red.global.add.u32 [%t1+8], %r5; red.global.add.u32 [%t1+12], 256; ret; }\n";

static CUresult find_after(CUfunction leave, CUfunction find, CUdeviceptr memory, unsigned shared,
                           unsigned blocks, CUstream first, CUstream second)
{
    const uint32_t mark = MARK << 8 | 3;
    uint32_t found[6];

    CK(cuMemsetD8(memory, 0, 4096));
    CK(cuMemcpyHtoD(memory + 2048, &mark, sizeof(mark)));
    arg.a = memory + 2048;
    arg.d = shared;
    CK(cuLaunchKernel(leave, blocks, 1, 1, THREADS, 1, 1, shared, first, args, NULL));
    CK(cuStreamSynchronize(first));
    arg.a = memory;
    CK(cuLaunchKernel(find, blocks, 1, 1, THREADS, 1, 1, shared, second, args, NULL));
    CK(cuStreamSynchronize(second));
    CK(cuMemcpyDtoH(found, memory, sizeof(found)));
    printf("  %3u KiB of shared memory, %4u blocks: of another kernel's, shared %u of %u words, "
           "local %u of %u, registers %u of %u\n",
           shared / 1024, blocks, found[0], found[1], found[2], found[3], found[4], found[5]);
    return CUDA_SUCCESS;
}

CUresult question_left(void)
{
    int most = 0, sms = 0;
    CUfunction leave, find;
    CUdeviceptr memory;
    CUstream first, second;
    CUmodule module;
    void *cubin;

    CK(context_open(CU_CTX_SCHED_SPIN));
    arg.c = 0;
    CK(cubin_new(ptx_leave, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&leave, module, "leave"));
    CK(cubin_new(ptx_find, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&find, module, "find"));
    CK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
    CK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CK(cuFuncSetAttribute(leave, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
    CK(cuFuncSetAttribute(find, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
    CK(cuMemAlloc(&memory, 4096));
    CK(stream_new(&first));
    CK(stream_new(&second));
    for (int round = 0; round < 3; round++) {
        CK(find_after(leave, find, memory, 16 * 1024, sms * 4, first, second));
        CK(find_after(leave, find, memory, 48 * 1024, sms * 4, first, second));
        CK(find_after(leave, find, memory, most, sms, first, second));
    }
    return CUDA_SUCCESS;
}

/* ---- Arrays ---- */

#define WIDTH  1000
#define HEIGHT 300

static const struct shape {
    const char *what;
    size_t height, depth;
    unsigned flags;
} shapes[] = {
    {"2D", HEIGHT, 0, 0},
    {"2D for surfaces", HEIGHT, 0, CUDA_ARRAY3D_SURFACE_LDST},
    {"2D for gathers", HEIGHT, 0, CUDA_ARRAY3D_TEXTURE_GATHER},
    {"2D layered", HEIGHT, 3, CUDA_ARRAY3D_LAYERED},
    {"3D", HEIGHT, 5, 0},
    {"1D", 0, 0, 0},
    {"cubemap", WIDTH, 6, CUDA_ARRAY3D_CUBEMAP},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static CUresult array_make(const struct shape *shape, CUarray *array, size_t *size)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = WIDTH,
                                          .Height = shape->height,
                                          .Depth = shape->depth,
                                          .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                          .NumChannels = 1,
                                          .Flags = shape->flags | CUDA_ARRAY3D_DEFERRED_MAPPING};
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs = {0};

    CK(cuArray3DCreate(array, &desc));
    CK(cuArrayGetMemoryRequirements(&needs, *array, device));
    *size = (needs.size + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
    return CUDA_SUCCESS;
}

static CUresult array_back(CUarray array, CUmemGenericAllocationHandle handle)
{
    CUarrayMapInfo map = {.resourceType = CU_RESOURCE_TYPE_ARRAY,
                          .resource.array = array,
                          .memOperationType = CU_MEM_OPERATION_TYPE_MAP,
                          .memHandleType = CU_MEM_HANDLE_TYPE_GENERIC,
                          .memHandle.memHandle = handle,
                          .deviceBitMask = 1};

    CK(cuMemMapArrayAsync(&map, 1, 0));
    return cuStreamSynchronize(0);
}

static CUresult array_copy(const struct shape *shape, CUarray array, uint32_t *texels, int write)
{
    CUDA_MEMCPY3D copy = {.WidthInBytes = WIDTH * sizeof(*texels),
                          .Height = shape->height ? shape->height : 1,
                          .Depth = shape->depth ? shape->depth : 1};

    copy.srcMemoryType = write ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = write ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    copy.srcHost = copy.dstHost = texels;
    copy.srcArray = copy.dstArray = array;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes;
    copy.srcHeight = copy.dstHeight = copy.Height;
    return cuMemcpy3D(&copy);
}

static size_t texels_of(const struct shape *shape)
{
    return WIDTH * (shape->height ? shape->height : 1) * (shape->depth ? shape->depth : 1);
}

/* Makes the array and its memory, writes texels, and gives the memory's descriptor away. */
static CUresult array_owner(const struct shape *shape, int socket)
{
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                             .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                             .allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL};
    uint32_t *texels = malloc(texels_of(shape) * sizeof(*texels));
    CUmemGenericAllocationHandle handle;
    CUarray array;
    size_t size;
    int fd;

    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(array_make(shape, &array, &size));
    CK(cuMemCreate(&handle, size, &p, 0));
    CK(array_back(array, handle));
    for (size_t i = 0; i < texels_of(shape); i++)
        texels[i] = (uint32_t)(i * 2654435761u);
    CK(array_copy(shape, array, texels, 1));
    CK(cuCtxSynchronize());
    CK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return descriptor_send(socket, fd) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

/* Makes an array of the same kind of that memory, and looks for the texels. */
static CUresult array_heir(const struct shape *shape, int fd)
{
    uint32_t *texels = calloc(texels_of(shape), sizeof(*texels));
    CUmemGenericAllocationHandle handle;
    size_t size, wrong = 0;
    double t0, t1;
    CUarray array;

    CK(context_open(CU_CTX_SCHED_SPIN));
    t0 = now_us();
    CK(array_make(shape, &array, &size));
    CK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    CK(array_back(array, handle));
    t1 = now_us();
    CK(array_copy(shape, array, texels, 0));
    for (size_t i = 0; i < texels_of(shape); i++)
        wrong += texels[i] != (uint32_t)(i * 2654435761u);
    printf("  %-16s %zu of %zu texels differ; made of another process's memory in %.0f us\n",
           shape->what, wrong, texels_of(shape), t1 - t0);
    return CUDA_SUCCESS;
}

/* The owner has ended before its heir begins. */
static void array_try(const struct shape *shape)
{
    pid_t owner, heir;
    int ends[2], fd;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return;
    printf("  %s:\n", shape->what);
    fflush(stdout);
    owner = fork();
    if (!owner) {
        array_owner(shape, ends[0]);
        fflush(stdout);
        _exit(0);
    }
    close(ends[0]);
    fd = descriptor_receive(ends[1]);
    while (waitpid(owner, NULL, 0) < 0 && errno == EINTR)
        ;
    heir = fd < 0 ? -1 : fork();
    if (!heir) {
        array_heir(shape, fd);
        fflush(stdout);
        _exit(0);
    }
    while (heir > 0 && waitpid(heir, NULL, 0) < 0 && errno == EINTR)
        ;
    close(ends[1]);
}

CUresult question_arrays(void)
{
    for (size_t i = 0; i < SHAPES; i++)
        array_try(&shapes[i]);
    return CUDA_SUCCESS;
}
