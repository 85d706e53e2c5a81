// Errors: what is refused, and what a fault does to its context.
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"

static void refused_before_init(void)
{
    int count;
    CUcontext c;

    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cu.cuDeviceGetCount(&count));
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cu.cuCtxGetCurrent(&c));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuInit(1));
    OK(cu.cuInit(0));
    OK(cu.cuDeviceGetCount(&count));
    CHECK(count >= 1);
}

static void refused_without_context(void)
{
    CUdeviceptr p;
    CUstream s;

    OK(cu.cuInit(0));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cu.cuMemAlloc_v2(&p, 16));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cu.cuStreamCreate(&s, 0));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cu.cuDeviceGet(&device, 1000));
}

static void bad_launches_are_refused(void)
{
    uint64_t a = 0, b = 0, c = 0;
    void *params[] = {&a, &b, &c};
    CUfunction f = kernel("empty");

    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuLaunchKernel(f, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuLaunchKernel(f, 1, 1, 1, 64, 32, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 49 << 10, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuLaunchKernel(kernel("bounded"), 1, 1, 1, 129, 1, 1, 0, NULL, params, NULL));
    // None of these hurt the context.
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuCtxSynchronize());
}

static void bad_pointers_are_refused(void)
{
    CUdeviceptr p = device_alloc(4096);
    char host[16];

    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD_v2(0, host, 16));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyDtoH_v2(host, 0x1000, 16));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemcpyHtoD_v2(p, host, (size_t)1 << 40));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemsetD32_v2(p + 2, 0, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(p + 16));
    OK(cu.cuMemFree_v2(p));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMemFree_v2(p));
    OK(cu.cuMemFree_v2(0));
}

// ---- Faults

// After RESULT every call of the context says so again.
static void context_is_lost(CUresult expected)
{
    CUdeviceptr p;
    CUstream s;
    size_t left, total;
    int value;

    EXPECT(expected, cu.cuCtxSynchronize());
    EXPECT(expected, cu.cuMemAlloc_v2(&p, 16));
    EXPECT(expected, cu.cuStreamCreate(&s, 0));
    EXPECT(expected, cu.cuMemGetInfo_v2(&left, &total));
    EXPECT(expected, cu.cuMemHostRegister_v2(&value, 4, 0));
    // The device itself still answers.
    OK(cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    CHECK(value == 32);
}

static void fault_is_sticky(CUresult expected, const char *name, uint64_t a, uint64_t b)
{
    CUstream s = stream_open(), other = stream_open();
    CUfunction f = kernel("empty");
    uint64_t zero = 0;
    void *params[] = {&zero, &zero, &zero};

    launch(s, name, a, b, 0);
    EXPECT(expected, cu.cuStreamSynchronize(s));
    EXPECT(expected, cu.cuStreamSynchronize(other));
    EXPECT(expected, cu.cuStreamQuery(s));
    EXPECT(expected, cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, other, params, NULL));
    context_is_lost(expected);
}

static void illegal_store(void)
{
    fault_is_sticky(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 0x10, 1);
}

static void illegal_load(void)
{
    fault_is_sticky(CUDA_ERROR_ILLEGAL_ADDRESS, "load", (uint64_t)1 << 46, device_alloc(4));
}

static void freed_memory(void)
{
    CUdeviceptr p = device_alloc(64 << 20);

    OK(cu.cuMemFree_v2(p));
    fault_is_sticky(CUDA_ERROR_ILLEGAL_ADDRESS, "store", p + (32 << 20), 1);
}

static void misaligned(void)
{
    fault_is_sticky(CUDA_ERROR_MISALIGNED_ADDRESS, "store", device_alloc(16) + 1, 1);
}

static void trap(void)
{
    fault_is_sticky(CUDA_ERROR_LAUNCH_FAILED, "trap", 0, 0);
}

static void fault_ends_other_kernels_and_waits(void)
{
    CUstream a = stream_open(), b = stream_open();
    _Atomic uint64_t *words = host_words();
    CUevent e;

    OK(cu.cuEventCreate(&e, 0));
    launch(a, "await", (CUdeviceptr)(uintptr_t)&words[2], 1, 0);
    launch(a, "store", 0x10, 1, 0);
    launch(a, "store64", (CUdeviceptr)(uintptr_t)words, 1, 0);
    OK(cu.cuEventRecord(e, a));
    OK(cu.cuStreamWaitEvent(b, e, 0));
    launch(b, "store64", (CUdeviceptr)(uintptr_t)words + 8, 1, 0);
    words[2] = 1; /* not before all is queued, for a fault ends the calls too */
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuStreamSynchronize(b));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuEventSynchronize(e));
    CHECK(words[0] == 0 && words[1] == 0, "work behind the fault ran");
}

static void forked_child_has_no_driver(void)
{
    int status, count;
    CUdeviceptr p;
    pid_t child = fork();

    if (child == 0) {
        EXPECT(CUDA_ERROR_NOT_INITIALIZED, cu.cuMemAlloc_v2(&p, 16));
        EXPECT(CUDA_ERROR_NOT_INITIALIZED, cu.cuDeviceGetCount(&count));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    OK(cu.cuMemAlloc_v2(&p, 16));
}

static void names_and_texts(void)
{
    const char *text = NULL;

    OK(cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(text && text[0] == 'C');
    OK(cu.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    CHECK(text && text[0]);
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuGetErrorName((CUresult)12345, &text));
}

static const struct test tests[] = {
    {"nothing works before cuInit", refused_before_init, true},
    {"work without a context is refused", refused_without_context, true},
    {"bad launches are refused and hurt nobody", bad_launches_are_refused, false},
    {"bad pointers are refused by copies and frees", bad_pointers_are_refused, false},
    {"a store to nowhere ends the context", illegal_store, false},
    {"a load from nowhere ends the context", illegal_load, false},
    {"a store to freed memory ends the context", freed_memory, false},
    {"a misaligned store ends the context", misaligned, false},
    {"a trap ends the context", trap, false},
    {"what waits behind a fault neither runs nor hangs", fault_ends_other_kernels_and_waits, false},
    {"a forked child has no driver, its parent keeps it", forked_child_has_no_driver, false},
    {"errors have names and texts", names_and_texts, true},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
