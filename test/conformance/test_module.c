// Modules and functions: loading, refusing, variables, parameters, attributes.
#include <string.h>

#include "conform.h"

static void functions_are_found(void)
{
    CUmodule m = module_open(), of;
    CUfunction f, all[64];
    unsigned int count, found = 0;
    const char *name;

    EXPECT(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetFunction(&f, m, "no_such_kernel"));
    OK(cu.cuModuleGetFunction(&f, m, "shapes"));
    OK(cu.cuFuncGetName(&name, f));
    CHECK(strcmp(name, "shapes") == 0);
    OK(cu.cuFuncGetModule(&of, f));
    CHECK(of == m);
    OK(cu.cuModuleGetFunctionCount(&count, m));
    CHECK(count >= 10 && count <= 64);
    OK(cu.cuModuleEnumerateFunctions(all, count, m));
    for (unsigned int i = 0; i < count; i++) {
        OK(cu.cuFuncGetName(&name, all[i]));
        found += strcmp(name, "shapes") == 0;
    }
    CHECK(found == 1);
}

static void parameters_are_known(void)
{
    static const size_t expected[][2] = {{0, 1}, {8, 8}, {16, 12}, {28, 2}};
    CUfunction f = kernel("shapes");
    size_t offset, size;

    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        OK(cu.cuFuncGetParamInfo(f, i, &offset, &size));
        CHECK(offset == expected[i][0] && size == expected[i][1], "parameter %zu: %zu, %zu", i,
              offset, size);
    }
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuFuncGetParamInfo(f, 4, &offset, &size));
}

static void variables_live_in_the_module(void)
{
    CUdeviceptr p = device_alloc(16), counter;
    CUmodule second;
    size_t size;
    uint32_t value = 100;

    launch(NULL, "globals", p, 6, 0);
    CHECK(device_word(p) == 5 && device_word(p + 4) == 30 && device_word(p + 8) == 5);
    OK(cu.cuModuleGetGlobal_v2(&counter, &size, module_open(), "counter"));
    CHECK(size == 4 && device_word(counter) == 6);
    OK(cu.cuMemcpyHtoD_v2(counter, &value, 4));
    launch(NULL, "globals", p, 7, 0);
    CHECK(device_word(p) == 100 && device_word(p + 8) == 100);
    // Another instance of the image has variables of its own.
    OK(cu.cuModuleLoadData(&second, kernels_ptx));
    OK(cu.cuModuleGetGlobal_v2(&counter, NULL, second, "counter"));
    CHECK(device_word(counter) == 5);
    OK(cu.cuModuleUnload(second));
    EXPECT(CUDA_ERROR_NOT_FOUND, cu.cuModuleGetGlobal_v2(&counter, NULL, module_open(), "nothing"));
}

static void bad_text_is_refused_with_a_log(void)
{
    static const char bad[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry f()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n";
    char log[1024] = "", info[64] = "x";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log), info, (void *)sizeof(info)};
    CUmodule m;

    EXPECT(CUDA_ERROR_INVALID_PTX, cu.cuModuleLoadDataEx(&m, bad, 4, options, values));
    CHECK(strstr(log, "line 6"), "the log does not say where: %s", log);
    launch(NULL, "empty", 0, 0, 0);
    OK(cu.cuCtxSynchronize());
}

static void short_log_buffer_is_not_overrun(void)
{
    char log[16];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)8};
    CUmodule m;

    memset(log, 0x7e, sizeof(log));
    CHECK(cu.cuModuleLoadDataEx(&m, ".version 7.0\n.target sm_70\nrubbish rubbish rubbish\n", 2,
                                options, values) != CUDA_SUCCESS);
    for (size_t i = 8; i < sizeof(log); i++)
        CHECK(log[i] == 0x7e, "byte %zu behind the buffer was written", i - 8);
}

static void function_attributes(void)
{
    CUfunction f = kernel("empty");
    int value;

    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    CHECK(value == 1024, "%d", value);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("bounded")));
    CHECK(value == 128, "%d", value);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    CHECK(value == 0);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    CHECK(value > 0 && value <= 255);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    CHECK(value == 48 << 10);
    OK(cu.cuFuncLoad(f));
}

static void dynamic_shared_memory_is_opted_into(void)
{
    CUfunction f = kernel("dynamic_end");
    CUdeviceptr p = device_alloc(4);
    int most;
    uint64_t a = p, b = 99, c;
    void *params[] = {&a, &b, &c};

    OK(cu.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                               device));
    c = most;
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, most, NULL, params, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1024));
    OK(cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, most, NULL, params, NULL));
    CHECK(device_word(p) == 99);
}

static void packed_parameters(void)
{
    CUdeviceptr p = device_alloc(4);
    uint64_t packed[3] = {p, 321, 0};
    size_t size = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};

    OK(cu.cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    CHECK(device_word(p) == 321);
}

#define PARAMS_MOST 32764u

// A kernel with BYTES bytes of parameters: *out = the sum of the last's words.
static CUresult summing_load(CUmodule *module, const char *version, unsigned bytes)
{
    char text[1024];

    snprintf(text, sizeof(text),
             ".version %s\n.target sm_80\n.address_size 64\n"
             ".visible .entry sum(.param .u64 out, .param .align 4 .b8 data[%u])\n"
             "{ .reg .b64 %%rd<2>; .reg .b32 %%r<3>; .reg .pred %%p; ld.param.u64 %%rd0, [out];\n"
             "  mov.b64 %%rd1, data; mov.u32 %%r0, %u; mov.u32 %%r1, 0;\n"
             "again: ld.param.u32 %%r2, [%%rd1]; add.u32 %%r1, %%r1, %%r2;\n"
             "  add.u64 %%rd1, %%rd1, 4; sub.u32 %%r0, %%r0, 1; setp.ne.u32 %%p, %%r0, 0;\n"
             "  @%%p bra again; st.global.u32 [%%rd0], %%r1; ret; }\n",
             version, bytes - 8, (bytes - 8) / 4);
    return cu.cuModuleLoadData(module, text);
}

// Counts from FIRST on, and returns the sum.
static uint32_t params_fill(uint32_t *data, uint32_t first)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < (PARAMS_MOST - 8) / 4; i++)
        sum += data[i] = first + i;
    return sum;
}

static void large_parameters(void)
{
    CUdeviceptr p = device_alloc(4);
    struct {
        uint64_t out;
        uint32_t data[(PARAMS_MOST - 8) / 4];
    } packed = {.out = p};
    size_t size = PARAMS_MOST;
    void *params[] = {&packed.out, packed.data};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS node_params = {.gridDimX = 1,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 1,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = params};
    CUmodule module;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;
    uint32_t sum;

    OK(summing_load(&module, "8.1", PARAMS_MOST));
    OK(cu.cuModuleGetFunction(&node_params.func, module, "sum"));
    sum = params_fill(packed.data, 1);
    OK(cu.cuLaunchKernel(node_params.func, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    CHECK(device_word(p) == sum);
    sum = params_fill(packed.data, 2);
    OK(cu.cuLaunchKernel(node_params.func, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    CHECK(device_word(p) == sum);
    sum = params_fill(packed.data, 3);
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &node_params));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    params_fill(packed.data, 99);
    OK(cu.cuGraphLaunch(exec, NULL));
    CHECK(device_word(p) == sum);
    sum = params_fill(packed.data, 4);
    OK(cu.cuGraphExecKernelNodeSetParams_v2(exec, node, &node_params));
    params_fill(packed.data, 99);
    OK(cu.cuGraphLaunch(exec, NULL));
    CHECK(device_word(p) == sum);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void too_large_parameters(void)
{
    CUmodule module;

    EXPECT(CUDA_ERROR_INVALID_PTX, summing_load(&module, "8.1", PARAMS_MOST + 4));
    OK(summing_load(&module, "8.0", 4352));
    EXPECT(CUDA_ERROR_INVALID_PTX, summing_load(&module, "8.0", 4356));
}

static void occupancy(void)
{
    CUfunction f = kernel("empty");
    int blocks, size, grid, sms;

    OK(cu.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
    CHECK(blocks == 2, "%d", blocks);
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0));
    CHECK(blocks == 32, "%d", blocks);
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, 40 << 10));
    CHECK(blocks == 5, "%d", blocks);
    OK(cu.cuOccupancyMaxPotentialBlockSize(&grid, &size, f, NULL, 0, 0));
    CHECK(grid * size == sms * 2048, "%d x %d", grid, size);
}

static void unloading_spares_what_runs(void)
{
    _Atomic uint64_t *words = host_words();
    CUdeviceptr base = (CUdeviceptr)(uintptr_t)words;
    CUstream s = stream_open();
    CUmodule m;
    CUfunction f;

    for (int i = 0; i < 50; i++) {
        uint64_t a = base, b = i, c = 0;
        void *params[] = {&a, &b, &c};

        OK(cu.cuModuleLoadData(&m, kernels_ptx));
        OK(cu.cuModuleGetFunction(&f, m, "store64"));
        OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL));
        OK(cu.cuStreamSynchronize(s));
        OK(cu.cuModuleUnload(m));
        CHECK(words[0] == (uint64_t)i);
    }
}

static const struct test tests[] = {
    {"functions are found, named and enumerated", functions_are_found, false},
    {"parameters have known places and sizes", parameters_are_known, false},
    {"variables are initialised, reached, and each module's own", variables_live_in_the_module,
     false},
    {"bad text is refused with its line", bad_text_is_refused_with_a_log, false},
    {"a short log buffer is not overrun", short_log_buffer_is_not_overrun, false},
    {"functions have attributes", function_attributes, false},
    {"more shared memory is opted into", dynamic_shared_memory_is_opted_into, false},
    {"parameters may come packed", packed_parameters, false},
    {"parameters take up to 32,764 bytes", large_parameters, false},
    {"larger parameters are refused", too_large_parameters, false},
    {"occupancy follows an SM's limits", occupancy, false},
    {"modules come and go", unloading_spares_what_runs, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
