/*
 * cuBLASLt in a process that serves many tenants: what opening it costs, when it loads its kernels
 * and who waits then, what a warm call costs, and whether its work keeps to a green context. Each
 * question_ function is run in a process of its own.
 */
#include "driver_facts.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <sys/resource.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define WORKSPACE    (32 * MIB)
#define LARGEST      8192ull
#define HELD_NS      60000000 /* of the kernel that others run beside */

/* ------------------------------------------------------------------ the library */

#define ENTRIES(X)                                                                                 \
    X(cublasLtCreate)                                                                              \
    X(cublasLtGetVersion)                                                                          \
    X(cublasLtMatmul)                                                                              \
    X(cublasLtMatmulAlgoConfigGetAttribute)                                                        \
    X(cublasLtMatmulAlgoGetHeuristic)                                                              \
    X(cublasLtMatmulDescCreate)                                                                    \
    X(cublasLtMatmulDescDestroy)                                                                   \
    X(cublasLtMatmulDescSetAttribute)                                                              \
    X(cublasLtMatrixLayoutCreate)                                                                  \
    X(cublasLtMatrixLayoutDestroy)                                                                 \
    X(cublasLtMatmulPreferenceCreate)                                                              \
    X(cublasLtMatmulPreferenceSetAttribute)

static struct {
#define MEMBER(name) __typeof__(name) *name;
    ENTRIES(MEMBER)
#undef MEMBER
} lt;

static cublasLtHandle_t handle;
static CUdeviceptr mat_a, mat_b, mat_c, workspace;

#define LT(call)                                                                                   \
    do {                                                                                           \
        cublasStatus_t lt_ = (call);                                                               \
        if (lt_ != CUBLAS_STATUS_SUCCESS) {                                                        \
            printf("  FAILED line %d: %s: cublas status %d\n", __LINE__, #call, (int)lt_);         \
            return CUDA_ERROR_UNKNOWN;                                                             \
        }                                                                                          \
    } while (0)

static CUresult library_find(void)
{
    static const char *const names[] = {
        "libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13", "libcublasLt.so.12",
        "/usr/local/cuda/lib64/libcublasLt.so.12"};
    void *library = NULL;

    for (size_t i = 0; i < COUNT(names) && !library; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            printf("  opened %s\n", names[i]);
    }
    if (!library) {
        printf("  FAILED: %s\n", dlerror());
        return CUDA_ERROR_UNKNOWN;
    }
#define FIND(name) *(void **)(void *)&lt.name = dlsym(library, #name);
    ENTRIES(FIND)
#undef FIND
    return CUDA_SUCCESS;
}

static long resident_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* ------------------------------------------------------------------ products */

static const struct type {
    const char *name;
    cudaDataType_t ab, c;
    cublasComputeType_t compute;
    size_t bytes;
} types[] = {
    {"f16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2},
    {"bf16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2},
    {"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4},
    {"f32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4},
};

struct product {
    const struct type *type;
    int m, n, k;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulHeuristicResult_t found;
};

static CUresult product_new(struct product *p, const struct type *type, int m, int n, int k)
{
    *p = (struct product){.type = type, .m = m, .n = n, .k = k};
    LT(lt.cublasLtMatmulDescCreate(&p->desc, type->compute, CUDA_R_32F));
    LT(lt.cublasLtMatrixLayoutCreate(&p->a, type->ab, m, k, m));
    LT(lt.cublasLtMatrixLayoutCreate(&p->b, type->ab, k, n, k));
    LT(lt.cublasLtMatrixLayoutCreate(&p->c, type->c, m, n, m));
    return CUDA_SUCCESS;
}

static CUresult product_ask(struct product *p)
{
    static cublasLtMatmulPreference_t preference;
    size_t room = WORKSPACE;
    int found = 0;

    if (!preference) {
        LT(lt.cublasLtMatmulPreferenceCreate(&preference));
        LT(lt.cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof(room)));
    }
    LT(lt.cublasLtMatmulAlgoGetHeuristic(handle, p->desc, p->a, p->b, p->c, p->c, preference, 1,
                                         &p->found, &found));
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult product_run(const struct product *p, CUstream stream)
{
    const float one = 1, zero = 0;

    LT(lt.cublasLtMatmul(handle, p->desc, &one, (void *)mat_a, p->a, (void *)mat_b, p->b, &zero,
                         (void *)mat_c, p->c, (void *)mat_c, p->c, &p->found.algo,
                         (void *)workspace, WORKSPACE, (cudaStream_t)stream));
    return CUDA_SUCCESS;
}

static CUresult product_capture(const struct product *p, CUstream stream, CUgraph *graph)
{
    CUresult result;

    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    result = product_run(p, stream);
    CK(cuStreamEndCapture(stream, graph));
    return result;
}

static void product_free(struct product *p)
{
    lt.cublasLtMatmulDescDestroy(p->desc);
    lt.cublasLtMatrixLayoutDestroy(p->a);
    lt.cublasLtMatrixLayoutDestroy(p->b);
    lt.cublasLtMatrixLayoutDestroy(p->c);
}

/* A context, the kernels of the kit, operands of ones; the library is not opened yet. */
static CUresult blas_context(void)
{
    const size_t bytes = LARGEST * LARGEST * 4;

    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(cuMemAlloc(&mat_a, bytes));
    CK(cuMemAlloc(&mat_b, bytes));
    CK(cuMemAlloc(&mat_c, bytes));
    CK(cuMemAlloc(&workspace, WORKSPACE));
    CK(cuMemsetD16(mat_a, 0x3c00, bytes / 2)); /* 1.0 as f16; others: any number */
    CK(cuMemsetD16(mat_b, 0x3c00, bytes / 2));
    CK(cuMemsetD16(mat_c, 0, bytes / 2));
    return cuCtxSynchronize();
}

static CUresult blas_open(void)
{
    CK(blas_context());
    CK(library_find());
    LT(lt.cublasLtCreate(&handle));
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 30: what opening costs */

static double step_us;
static long long step_memory;

static void step_begin(void)
{
    step_memory = memory_used();
    step_us = now_us();
}

static void step_end(const char *what, const char *type)
{
    double took = now_us() - step_us;

    printf("  %-4s %-42s %10.1f us, device memory %+8.1f MiB, resident %6.1f MiB\n", type, what,
           took, (memory_used() - step_memory) / (double)MIB, resident_kib() / 1024.0);
}

CUresult question_blas_open(void)
{
    CUstream stream;

    CK(blas_context());
    CK(stream_new(&stream));
    step_begin();
    CK(library_find());
    step_end("dlopen", "");
    printf("  version %zu\n", lt.cublasLtGetVersion());
    step_begin();
    LT(lt.cublasLtCreate(&handle));
    step_end("cublasLtCreate", "");
    for (size_t i = 0; i < COUNT(types); i++) {
        static const int sizes[][3] = {
            {1024, 1024, 1024}, {1024, 1024, 1024}, {256, 256, 256}, {64, 64, 16384}};

        for (size_t j = 0; j < COUNT(sizes); j++) {
            char name[64];
            struct product p;

            CK(product_new(&p, &types[i], sizes[j][0], sizes[j][1], sizes[j][2]));
            step_begin();
            CK(product_ask(&p));
            snprintf(name, sizeof(name), "heuristic %dx%dx%d, workspace %zu", p.m, p.n, p.k,
                     p.found.workspaceSize);
            step_end(name, p.type->name);
            step_begin();
            CK(product_run(&p, stream));
            step_end("cublasLtMatmul", p.type->name);
            CK(cuCtxSynchronize());
            product_free(&p);
        }
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 31: who waits for a first call
 */

static _Atomic int bystander_stop;
static _Atomic uint64_t bystander_worst_ns; /* of one launch, since it was last set to 0 */

/* Launches all the time, in the primary context. */
static void *bystander_main(void *stream)
{
    cuCtxSetCurrent(context);
    while (!atomic_load_explicit(&bystander_stop, memory_order_relaxed)) {
        double start = now_us();
        uint64_t took;

        kernel_launch(nop, stream);
        took = (uint64_t)(1e3 * (now_us() - start));
        if (took > atomic_load_explicit(&bystander_worst_ns, memory_order_relaxed))
            atomic_store_explicit(&bystander_worst_ns, took, memory_order_relaxed);
        usleep(20);
    }
    return NULL;
}

static CUstream held, work;
static uint32_t held_turn;

/* The device has nothing but a kernel of 60 ms, from now on. */
static CUresult beside_begin(void)
{
    static struct {
        uint64_t a, b, c;
        uint32_t d;
    } v;
    void *p[] = {&v.a, &v.b, &v.c, &v.d};

    CK(cuStreamSynchronize(held));
    CK(cuStreamSynchronize(work));
    v.a = HELD_NS;
    v.b = words_dev;
    v.c = words_dev + 8;
    v.d = ++held_turn;
    CK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, held, p, NULL));
    word_wait(0, held_turn);
    atomic_store(&bystander_worst_ns, 0);
    step_us = now_us();
    return CUDA_SUCCESS;
}

static void beside_end(const struct product *p, const char *what)
{
    double took = now_us() - step_us;

    usleep(200);
    printf("  %-4s %5dx%5dx%5d %-44s %9.1f us, another's worst launch %9.1f us%s\n", p->type->name,
           p->m, p->n, p->k, what, took, atomic_load(&bystander_worst_ns) * 1e-3,
           cuStreamQuery(held) == CUDA_SUCCESS ? " (kernel OVER)" : "");
}

static const int shapes[][3] = {{1024, 1024, 1024}, {1024, 1024, 1024}, {256, 256, 256},
                                {64, 64, 16384},    {4096, 4096, 4096}, {1000, 24, 4096},
                                {1001, 1001, 1001}, {33, 7, 129}};

enum prepare { PREPARE_NONE, PREPARE_CAPTURE, PREPARE_EXEC };

static CUresult first_calls(enum prepare prepare)
{
    static const char *const name[] = {"first call", "first call, captured before",
                                       "first call, instantiated before"};

    for (size_t i = 0; i < COUNT(types); i++) {
        for (size_t j = 0; j < COUNT(shapes); j++) {
            struct product p;
            CUgraph graph = NULL;
            CUgraphExec exec = NULL;

            CK(product_new(&p, &types[i], shapes[j][0], shapes[j][1], shapes[j][2]));
            CK(beside_begin());
            CK(product_ask(&p));
            if (j < 2)
                beside_end(&p, "heuristic");
            if (prepare) {
                CK(cuStreamSynchronize(held));
                step_us = now_us();
                CK(product_capture(&p, work, &graph));
                if (prepare == PREPARE_EXEC)
                    CK(cuGraphInstantiate(&exec, graph, 0));
                if (j < 2)
                    printf("  quiet: %s took %.1f us\n",
                           prepare == PREPARE_EXEC ? "capture, instantiate" : "capture",
                           now_us() - step_us);
            }
            CK(beside_begin());
            CK(product_run(&p, work));
            beside_end(&p, name[prepare]);
            if (j < 2) {
                CK(beside_begin());
                CK(product_run(&p, work));
                beside_end(&p, "second call");
            }
            if (exec)
                CK(cuGraphExecDestroy(exec));
            if (graph)
                CK(cuGraphDestroy(graph));
            product_free(&p);
        }
    }
    return CUDA_SUCCESS;
}

static CUresult stalls(enum prepare prepare)
{
    pthread_t bystander;
    CUstream other;
    CUresult result;
    struct product none = {.type = &types[0]};

    CK(blas_context());
    CK(stream_new(&held));
    CK(stream_new(&work));
    CK(stream_new(&other));
    CK(kernel_launch(nop, work));
    arg.a = 1000, arg.b = words_dev + 16, arg.c = words_dev + 24, arg.d = 1;
    CK(kernel_launch(spin, work));
    CK(cuCtxSynchronize());
    pthread_create(&bystander, NULL, bystander_main, other);
    CK(beside_begin());
    CK(library_find());
    beside_end(&none, "dlopen");
    CK(beside_begin());
    LT(lt.cublasLtCreate(&handle));
    beside_end(&none, "cublasLtCreate");
    result = first_calls(prepare);
    atomic_store(&bystander_stop, 1);
    pthread_join(bystander, NULL);
    return result;
}

CUresult question_blas_stalls(void)
{
    return stalls(PREPARE_NONE);
}

CUresult question_blas_captured(void)
{
    return stalls(PREPARE_CAPTURE);
}

CUresult question_blas_instantiated(void)
{
    return stalls(PREPARE_EXEC);
}

/* ------------------------------------------------------------------ 32: a warm call */

static CUresult nodes_print(const struct product *p, CUgraph graph)
{
    CUgraphNode nodes[16];
    size_t n = COUNT(nodes);

    CK(cuGraphGetNodes(graph, nodes, &n));
    printf("  %-4s %5dx%5dx%5d is %zu nodes:", p->type->name, p->m, p->n, p->k, n);
    for (size_t i = 0; i < n; i++) {
        CUDA_KERNEL_NODE_PARAMS k;
        CUgraphNodeType type;
        const char *name = "?";

        CK(cuGraphNodeGetType(nodes[i], &type));
        if (type != CU_GRAPH_NODE_TYPE_KERNEL) {
            printf(" (type %d)", (int)type);
            continue;
        }
        CK(cuGraphKernelNodeGetParams(nodes[i], &k));
        if (k.func)
            cuFuncGetName(&name, k.func);
        else if (k.kern)
            cuKernelGetName(&name, k.kern);
        printf(" %s %.60s grid %ux%ux%u", k.func ? "func" : "kern", name, k.gridDimX, k.gridDimY,
               k.gridDimZ);
    }
    printf("\n");
    return CUDA_SUCCESS;
}

#define WARM_CALLS 2000
static double warm_us[WARM_CALLS];

/* Prints the times of warm_us; `what` follows the product's type and size. */
static void warm_print(const struct product *p, const char *what)
{
    char name[80];

    snprintf(name, sizeof(name), "%s %d: %s", p->type->name, p->m, what);
    print_times(name, warm_us, WARM_CALLS);
}

/* The call alone; the device is waited for now and then, so that its queue is never full. */
static CUresult warm_returns(struct product *p, CUstream stream)
{
    for (int n = 0; n < WARM_CALLS; n++) {
        if (n % 50 == 0)
            CK(cuStreamSynchronize(stream));
        const double start = now_us();
        CK(product_run(p, stream));
        warm_us[n] = now_us() - start;
    }
    warm_print(p, "cublasLtMatmul returns");
    return CUDA_SUCCESS;
}

static CUresult warm_anew(const struct product *p, CUstream stream)
{
    for (int n = 0; n < WARM_CALLS; n++) {
        struct product q;

        if (n % 50 == 0)
            CK(cuStreamSynchronize(stream));
        const double start = now_us();
        CK(product_new(&q, p->type, p->m, p->n, p->k));
        q.found = p->found;
        CK(product_run(&q, stream));
        product_free(&q);
        warm_us[n] = now_us() - start;
    }
    warm_print(p, "descriptors made anew, and it");
    return CUDA_SUCCESS;
}

static CUresult warm_waits(struct product *p, CUstream stream)
{
    for (int n = 0; n < WARM_CALLS; n++) {
        const double start = now_us();
        CK(product_run(p, stream));
        CK(cuStreamSynchronize(stream));
        warm_us[n] = now_us() - start;
    }
    warm_print(p, "and cuStreamSynchronize");
    return CUDA_SUCCESS;
}

static CUresult warm_pipelined(struct product *p, CUstream stream)
{
    const double start = now_us();

    for (int n = 0; n < WARM_CALLS; n++)
        CK(product_run(p, stream));
    const double calls = now_us();
    CK(cuStreamSynchronize(stream));
    const double end = now_us();
    printf("  %s %d: pipelined %.2f us a call, done %.2f us a product\n", p->type->name, p->m,
           (calls - start) / WARM_CALLS, (end - start) / WARM_CALLS);
    return CUDA_SUCCESS;
}

static CUresult warm_graph(struct product *p, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    const double start = now_us();

    CK(product_capture(p, stream, &graph));
    const double captured = now_us();
    CK(cuGraphInstantiate(&exec, graph, 0));
    const double end = now_us();
    printf("  %s %d: capture %.1f us, instantiate %.1f us\n", p->type->name, p->m, captured - start,
           end - captured);
    CK(nodes_print(p, graph));
    for (int n = 0; n < WARM_CALLS; n++) {
        const double launched = now_us();
        CK(cuGraphLaunch(exec, stream));
        CK(cuStreamSynchronize(stream));
        warm_us[n] = now_us() - launched;
    }
    warm_print(p, "as a graph, and cuStreamSynchronize");
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    return CUDA_SUCCESS;
}

static CUresult warm_measure(const struct type *type, int size, CUstream stream)
{
    struct product p;

    CK(product_new(&p, type, size, size, size));
    CK(product_ask(&p));
    for (int n = 0; n < 20; n++)
        CK(product_run(&p, stream));
    CK(cuStreamSynchronize(stream));
    CK(warm_returns(&p, stream));
    CK(warm_anew(&p, stream));
    CK(warm_waits(&p, stream));
    CK(warm_pipelined(&p, stream));
    CK(warm_graph(&p, stream));
    product_free(&p);
    return CUDA_SUCCESS;
}

static CUresult shape_print(const struct type *type, const int shape[3], CUstream stream)
{
    struct product p;
    CUgraph graph;

    CK(product_new(&p, type, shape[0], shape[1], shape[2]));
    CK(product_ask(&p));
    CK(product_capture(&p, stream, &graph));
    CK(nodes_print(&p, graph));
    CK(cuGraphDestroy(graph));
    product_free(&p);
    return CUDA_SUCCESS;
}

CUresult question_blas_warm(void)
{
    static const int sizes[] = {128, 256, 1024};
    CUstream stream;

    CK(blas_open());
    CK(stream_new(&stream));
    for (size_t i = 0; i < COUNT(types); i++)
        for (size_t j = 0; j < COUNT(sizes); j++)
            CK(warm_measure(&types[i], sizes[j], stream));
    for (size_t i = 0; i < COUNT(types); i++)
        for (size_t j = 0; j < COUNT(shapes); j++)
            CK(shape_print(&types[i], shapes[j], stream));
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 33: green contexts */

#define FEW 16

static struct {
    CUgreenCtx green;
    CUcontext context;
    CUstream stream;
} few;

static CUresult few_open(unsigned sms)
{
    static CUdevResource all, groups[128];
    CUdevResourceDesc desc;
    unsigned n = COUNT(groups);

    CK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    CK(cuDevSmResourceSplitByCount(groups, &n, &all, NULL,
                                   CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 2));
    CK(cuDevResourceGenerateDesc(&desc, groups, sms / 2));
    CK(cuGreenCtxCreate(&few.green, desc, device, CU_GREEN_CTX_DEFAULT_STREAM));
    CK(cuCtxFromGreenCtx(&few.context, few.green));
    return cuGreenCtxStreamCreate(&few.stream, few.green, CU_STREAM_NON_BLOCKING, 0);
}

/* Runs it or its graph with this context current, in this stream; the best of five. */
static CUresult green_ask(const char *name, const struct product *p, CUgraphExec exec,
                          CUcontext current, CUstream stream)
{
    double best = 1e9, called = 0;
    uint16_t got[2];

    CK(cuMemsetD16(mat_c, 0, (size_t)p->m * p->n));
    CK(cuCtxSynchronize());
    CK(cuCtxSetCurrent(current));
    for (int i = 0; i < 5; i++) {
        double start = now_us();

        if (exec)
            CK(cuGraphLaunch(exec, stream));
        else
            CK(product_run(p, stream));
        if (i == 0)
            called = now_us() - start;
        CK(cuStreamSynchronize(stream));
        if (now_us() - start < best)
            best = now_us() - start;
    }
    CK(cuCtxSetCurrent(context));
    CK(cuMemcpyDtoH(&got[0], mat_c, 2));
    CK(cuMemcpyDtoH(&got[1], mat_c + 2 * ((size_t)p->m * p->n - 1), 2));
    printf("  %-66s %9.1f us (first call returned after %8.1f), C = %04x %04x\n", name, best,
           called, got[0], got[1]);
    return CUDA_SUCCESS;
}

CUresult question_blas_green(void)
{
    struct product p;
    CUgraph graph[3];
    CUgraphExec exec[3];
    CUstream stream;

    CK(blas_open());
    CK(stream_new(&stream));
    CK(few_open(FEW));
    printf("  f16, 2,048 by 2,048 by 2,048 of ones (C = 6800); %d SMs in the green context\n", FEW);
    CK(product_new(&p, &types[0], 2048, 2048, 2048));
    CK(product_ask(&p));
    CK(green_ask("green current, its stream, before the primary context", &p, NULL, few.context,
                 few.stream));
    CK(green_ask("primary current, its stream", &p, NULL, context, stream));
    CK(green_ask("primary current, the green context's stream", &p, NULL, context, few.stream));
    CK(green_ask("green current, its stream", &p, NULL, few.context, few.stream));
    CK(green_ask("green current, the primary context's stream", &p, NULL, few.context, stream));
    CK(product_capture(&p, stream, &graph[0]));
    CK(product_capture(&p, few.stream, &graph[1]));
    CK(cuCtxSetCurrent(few.context));
    CK(product_capture(&p, stream, &graph[2]));
    CK(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++)
        CK(cuGraphInstantiate(&exec[i], graph[i], 0));
    CK(green_ask("captured in the primary's stream; primary's stream", &p, exec[0], context,
                 stream));
    CK(green_ask("captured in the primary's stream; green's stream", &p, exec[0], context,
                 few.stream));
    CK(green_ask("captured in green's stream, primary current; primary's stream", &p, exec[1],
                 context, stream));
    CK(green_ask("captured in green's stream, primary current; green's stream", &p, exec[1],
                 context, few.stream));
    CK(green_ask("captured in the primary's stream, green current; primary's stream", &p, exec[2],
                 context, stream));
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 35: algorithms on few SMs */

/* Algorithms for the whole device, whose blocks may be in clusters, on fewer SMs. */
CUresult question_blas_few(void)
{
    static const unsigned sms[] = {2, 4, 8, 16, 64};

    CK(blas_open());
    for (size_t s = 0; s < COUNT(sms); s++) {
        CK(few_open(sms[s]));
        for (size_t i = 0; i < COUNT(types); i++) {
            for (size_t j = 1; j < COUNT(shapes); j++) {
                struct product p;
                CUresult result;
                uint16_t cluster = 99;
                size_t size;

                CK(product_new(&p, &types[i], shapes[j][0], shapes[j][1], shapes[j][2]));
                CK(product_ask(&p));
                lt.cublasLtMatmulAlgoConfigGetAttribute(&p.found.algo,
                                                        CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID,
                                                        &cluster, sizeof(cluster), &size);
                if (s == 0)
                    printf("  %s %dx%dx%d: cluster shape %u\n", p.type->name, p.m, p.n, p.k,
                           cluster);
                result = product_run(&p, few.stream);
                if (!result)
                    result = cuStreamSynchronize(few.stream);
                if (result)
                    printf("  %u SMs: %s %dx%dx%d gives %d\n", sms[s], p.type->name, p.m, p.n, p.k,
                           (int)result);
                product_free(&p);
            }
        }
        printf("  %u SMs: asked\n", sms[s]);
    }
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ 34: loaded whole */

/* Loads all kernels of a module, as CUDA_MODULE_LOADING=EAGER would. */
static CUresult load_whole(CUmodule module)
{
    CUfunction functions[16];
    unsigned count = 0;

    CK(cuModuleGetFunctionCount(&count, module));
    CK(cuModuleEnumerateFunctions(functions, count, module));
    for (unsigned i = 0; i < count; i++)
        CK(cuFuncLoad(functions[i]));
    return CUDA_SUCCESS;
}

/* Whether, with CUDA_MODULE_LOADING=LAZY, kernels that cuFuncLoad has loaded at a quiet moment are
 * as good as eagerly loaded ones. */
CUresult question_func_load(void)
{
    pthread_t bystander;
    CUmodule module[2];
    CUfunction f;
    CUstream other;
    CUdeviceptr cell;
    size_t size;
    struct product none = {.type = &types[0]};

    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(stream_new(&held));
    CK(stream_new(&work));
    CK(stream_new(&other));
    arg.a = 1000, arg.b = words_dev + 16, arg.c = words_dev + 24, arg.d = 1;
    CK(kernel_launch(spin, work));
    CK(kernel_launch(nop, work));
    CK(cuCtxSynchronize());
    pthread_create(&bystander, NULL, bystander_main, other);
    for (int whole = 1; whole >= 0; whole--) {
        const char *how = whole ? "loaded whole" : "loaded lazily";
        char name[64];

        CK(cuModuleLoadData(&module[whole], cubin_small));
        if (whole)
            CK(load_whole(module[whole]));
        CK(beside_begin());
        CK(cuModuleGetFunction(&f, module[whole], "nop"));
        snprintf(name, sizeof(name), "%s: cuModuleGetFunction", how);
        beside_end(&none, name);
        CK(beside_begin());
        CK(kernel_launch(f, work));
        snprintf(name, sizeof(name), "%s: first launch", how);
        beside_end(&none, name);
        CK(beside_begin());
        CK(cuModuleGetGlobal(&cell, &size, module[whole], "cell"));
        snprintf(name, sizeof(name), "%s: cuModuleGetGlobal", how);
        beside_end(&none, name);
    }
    atomic_store(&bystander_stop, 1);
    pthread_join(bystander, NULL);
    return cuCtxSynchronize();
}
