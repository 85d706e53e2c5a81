// Runs the tests of one program: forks for each, loads the driver in the child, reports in TAP.
#include "conform.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct driver cu;
bool on_software;
CUdevice device;
CUcontext primary;

enum { EXIT_SKIP = 77, TEST_SECONDS = 60 };

static char *verdict; // the child's last words, in shared memory

void fail_at(const char *file, int line, const char *what, const char *format, ...)
{
    const char *base = strrchr(file, '/');
    va_list list;
    int used;

    used = snprintf(verdict, 2048, "%s:%d: %s: ", base ? base + 1 : file, line, what);
    if (used > 2047)
        used = 2047;
    va_start(list, format);
    vsnprintf(verdict + used, 4096 - used, format, list);
    va_end(list);
    _exit(1);
}

void skip(const char *why)
{
    snprintf(verdict, 4096, "%s", why);
    _exit(EXIT_SKIP);
}

const char *result_name(CUresult result)
{
    static char number[2][32];
    static int turn;
    const char *name = NULL;

    if (cu.cuGetErrorName && !cu.cuGetErrorName(result, &name) && name)
        return name;
    turn = !turn;
    snprintf(number[turn], sizeof(number[turn]), "result %d", result);
    return number[turn];
}

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void driver_load(void)
{
    const char *path = getenv("GSHARE_CUDA_LIB");
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        skip("no driver library: set GSHARE_CUDA_LIB");
    on_software = path && strstr(path, "softcuda");
#define DRIVER_LOAD(name, arguments)                                                               \
    *(void **)&cu.name = dlsym(library, #name);                                                    \
    CHECK(cu.name, "the library does not export %s", #name);
    CUDA_ABI_FUNCTIONS(DRIVER_LOAD)
    CUDA_ABI_TEXTURE_FUNCTIONS(DRIVER_LOAD)
#undef DRIVER_LOAD
}

void context_open(void)
{
    OK(cu.cuInit(0));
    OK(cu.cuDeviceGet(&device, 0));
    OK(cu.cuDevicePrimaryCtxRetain(&primary, device));
    OK(cu.cuCtxSetCurrent(primary));
}

unsigned int time_scale(void)
{
    const char *text = getenv("GSHARE_TEST_TIME_SCALE");
    int scale = text ? atoi(text) : 1;

    return scale > 0 ? (unsigned int)scale : 1;
}

static void test_child(const struct test *t)
{
    alarm(TEST_SECONDS * time_scale());
    driver_load();
    if (!t->bare)
        context_open();
    t->run();
    _exit(0);
}

int conform_main(const struct test *tests, size_t count)
{
    int failed = 0;

    verdict = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    printf("1..%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        int status = 0;
        pid_t child;

        verdict[0] = 0;
        fflush(stdout);
        child = fork();
        if (child == 0)
            test_child(&tests[i]);
        if (child < 0 || waitpid(child, &status, 0) != child)
            status = -1;
        if (status == 0) {
            printf("ok %zu - %s\n", i + 1, tests[i].name);
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP) {
            printf("ok %zu - %s # SKIP %s\n", i + 1, tests[i].name, verdict);
        } else {
            failed++;
            printf("not ok %zu - %s\n", i + 1, tests[i].name);
            if (verdict[0])
                printf("# %s\n", verdict);
            else
                printf("# ended with status 0x%x%s\n", status,
                       WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ": out of time" : "");
        }
    }
    return failed != 0;
}

// ---- What most tests need

// A GPU loads a function when it is first launched, and waits for the device to be idle for that:
// long, where a kernel is waiting for the test.
static void functions_load(CUmodule module)
{
    CUfunction functions[64];
    unsigned int count;

    OK(cu.cuModuleGetFunctionCount(&count, module));
    CHECK(count <= ARRAY_SIZE(functions));
    OK(cu.cuModuleEnumerateFunctions(functions, count, module));
    for (unsigned int i = 0; i < count; i++)
        OK(cu.cuFuncLoad(functions[i]));
}

CUmodule module_open(void)
{
    static CUmodule module;
    static char log[2048];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};

    if (!module) {
        CUresult result = cu.cuModuleLoadDataEx(&module, kernels_ptx, 2, options, values);

        CHECK(result == CUDA_SUCCESS, "the kernels did not load: %s: %s", result_name(result), log);
        functions_load(module);
    }
    return module;
}

CUfunction kernel(const char *name)
{
    CUfunction f;

    OK(cu.cuModuleGetFunction(&f, module_open(), name));
    return f;
}

CUdeviceptr device_alloc(size_t size)
{
    CUdeviceptr p;

    OK(cu.cuMemAlloc_v2(&p, size));
    OK(cu.cuMemsetD8_v2(p, 0, size));
    return p;
}

uint32_t device_word(CUdeviceptr address)
{
    uint32_t word;

    OK(cu.cuMemcpyDtoH_v2(&word, address, sizeof(word)));
    return word;
}

_Atomic uint64_t *host_words(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    OK(cu.cuMemHostRegister_v2(p, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
    return p;
}

void launch_wide(CUstream stream, const char *name, uint32_t grid, uint32_t block, uint64_t a,
                 uint64_t b, uint64_t c)
{
    void *params[] = {&a, &b, &c};

    OK(cu.cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, 0, stream, params, NULL));
}

void launch(CUstream stream, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    launch_wide(stream, name, 1, 1, a, b, c);
}

CUstream stream_open(void)
{
    CUstream s;

    OK(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

void host_wait(_Atomic uint64_t *word, uint64_t value)
{
    uint64_t deadline = now_ns() + 20000000000u * time_scale();

    while (atomic_load_explicit(word, memory_order_acquire) != value)
        CHECK(now_ns() < deadline, "a word is %llu and did not become %llu",
              (unsigned long long)atomic_load(word), (unsigned long long)value);
}
