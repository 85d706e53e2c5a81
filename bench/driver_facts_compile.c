/*
 * Compiling PTX: which ways hold up other threads' launches, and how many registers each gives a
 * kernel. GS_PTX names a file of PTX that takes the compiler some time, GS_KERNEL one of its
 * kernels. Each question_ function is run in a process of its own.
 */
#include "driver_facts_other.h"

/* The file's text with a comment that no cache has seen. */
static char *text_read(int number)
{
    const char *path = getenv("GS_PTX");
    FILE *f = path ? fopen(path, "r") : NULL;
    char *text = malloc(8 * MIB);
    size_t n;

    if (!f || !text) {
        printf("  GS_PTX names no file\n");
        return NULL;
    }
    n = fread(text, 1, 8 * MIB - 100, f);
    snprintf(text + n, 100, "\n// %d %d\n", (int)getpid(), number);
    fclose(f);
    return text;
}

static double begun;

static void phase_begin(void)
{
    other.longest_ns = 0;
    begun = now_us();
}

static void phase_print(const char *what, CUresult result, int registers)
{
    const char *name = "?";

    cuGetErrorName(result, &name);
    printf("  %-58s %9.1f ms, longest launch and wait %9.3f ms", what, (now_us() - begun) / 1e3,
           (double)other.longest_ns / 1e6);
    if (registers)
        printf(", %d registers", registers);
    printf("%s%s\n", result ? ": " : "", result ? name : "");
}

static int registers_of(CUmodule module)
{
    CUfunction f;
    int n = 0;

    if (cuModuleGetFunction(&f, module, getenv("GS_KERNEL")) == CUDA_SUCCESS)
        cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
    return n;
}

static CUresult by_linker(const char *what, int number, unsigned count, CUjit_option *options,
                          void **values)
{
    char *text = text_read(number);
    CUlinkState link;
    CUmodule module;
    CUresult result;
    size_t size;
    void *code;

    if (!text)
        return CUDA_ERROR_FILE_NOT_FOUND;
    phase_begin();
    CK(cuLinkCreate(count, options, values, &link));
    result = cuLinkAddData(link, CU_JIT_INPUT_PTX, text, strlen(text) + 1, "file", 0, NULL, NULL);
    if (!result)
        result = cuLinkComplete(link, &code, &size);
    phase_print(what, result, 0);
    if (!result) {
        phase_begin();
        result = cuModuleLoadData(&module, code);
        phase_print("... its machine code loaded", result, registers_of(module));
        cuModuleUnload(module);
    }
    cuLinkDestroy(link);
    free(text);
    return CUDA_SUCCESS;
}

static CUresult by_library(void)
{
    char *text = text_read(50);
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    int n = 0;

    phase_begin();
    CUresult result = cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0);
    phase_print("cuLibraryLoadData", result, 0);
    if (result)
        return CUDA_SUCCESS;
    phase_begin();
    result = cuLibraryGetKernel(&kernel, library, getenv("GS_KERNEL"));
    phase_print("cuLibraryGetKernel", result, 0);
    phase_begin();
    result = cuKernelGetAttribute(&n, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, device);
    phase_print("cuKernelGetAttribute", result, n);
    phase_begin();
    result = cuKernelGetFunction(&function, kernel);
    phase_print("cuKernelGetFunction", result, 0);
    cuLibraryUnload(library);
    free(text);
    return CUDA_SUCCESS;
}

/* In the context that is current. */
static CUresult by_module(const char *what, int number)
{
    char *text = text_read(number);
    CUmodule module = NULL;

    phase_begin();
    const CUresult result = cuModuleLoadData(&module, text);
    phase_print(what, result, result ? 0 : registers_of(module));
    if (!result)
        cuModuleUnload(module);
    free(text);
    return CUDA_SUCCESS;
}

CUresult question_compile(void)
{
    static char log[32 * 1024];
    CUjit_option verbose[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_LOG_VERBOSE};
    void *verbose_values[] = {log, (void *)sizeof(log), (void *)1};
    CUjit_option two_blocks[] = {CU_JIT_MIN_CTA_PER_SM, CU_JIT_MAX_THREADS_PER_BLOCK,
                                 CU_JIT_OVERRIDE_DIRECTIVE_VALUES};
    void *two_values[] = {(void *)2, (void *)256, (void *)1};
    CUcontext second;

    setenv("CUDA_CACHE_DISABLE", "1", 1);
    CK(context_open(CU_CTX_SCHED_SPIN));
    other_start();
    phase_begin();
    usleep(500000);
    phase_print("nothing", CUDA_SUCCESS, 0);
    CK(by_linker("cuLinkAddData and cuLinkComplete", 1, 0, NULL, NULL));
    CK(by_linker("... with a log of what it did", 2, 3, verbose, verbose_values));
    CK(by_linker("... with at least two blocks an SM, of 256 threads", 3, 3, two_blocks,
                 two_values));
    CK(by_module("cuModuleLoadData of the PTX", 4));
    CK(cuCtxCreate(&second, NULL, 0, device));
    CK(by_module("... in another context of the process", 5));
    CK(cuCtxSetCurrent(context));
    CK(by_library());
    other_end();
    printf("  the log's begin:\n%.6000s\n", log);
    return CUDA_SUCCESS;
}
