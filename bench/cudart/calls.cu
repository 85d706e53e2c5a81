/* calls.cu - rows of single calls: how long each keeps its caller. */
#include "measure.h"

#define BURST 64 /* calls before a wait */

__global__ void small(int a, int b, int c, int d)
{
    if (a + b + c + d == 1 << 30)
        __trap();
}

static void warm_up()
{
    for (int i = 0; i < (quick ? 16 : 500); i++) {
        small<<<1, 32>>>(1, 2, 3, 4);
        if (i % 8 == 7)
            MUST(cudaDeviceSynchronize());
    }
    MUST(cudaGetLastError());
    MUST(cudaDeviceSynchronize());
}

/* Times each call in bursts, with a wait after each. */
template <typename Call>
static void bursts(const std::string &name, Call call)
{
    std::vector<double> samples;
    budget time(2);

    for (int b = 0; b < 300 && (b == 0 || time.left()); b++) {
        for (int i = 0; i < BURST; i++) {
            double start = now_ns();

            call(i);
            samples.push_back(now_ns() - start);
        }
        MUST(cudaDeviceSynchronize());
    }
    figures(name, samples, clock_cost());
}

void row_launch()
{
    warm_up();
    bursts("launch", [](int) { small<<<1, 32>>>(1, 2, 3, 4); });
    MUST(cudaGetLastError());
}

void row_trip()
{
    std::vector<double> samples;
    budget time(3);

    warm_up();
    for (int i = 0; i < 20000 && (i == 0 || time.left()); i++) {
        double start = now_ns();

        small<<<1, 32>>>(1, 2, 3, 4);
        cudaDeviceSynchronize();
        samples.push_back(now_ns() - start);
    }
    MUST(cudaGetLastError());
    figures("trip", samples);
}

void row_malloc()
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"1K", 1 << 10}, {"64K", 64 << 10}, {"1M", 1 << 20}};
    std::vector<void *> kept;

    warm_up();
    /* A program has other memory too: a device's last block of a size goes back to the driver. */
    for (const auto &size : sizes) {
        for (int i = 0; i < 3; i++) {
            void *ptr;

            MUST(cudaMalloc(&ptr, size.size));
            kept.push_back(ptr);
        }
    }
    for (const auto &size : sizes) {
        std::vector<double> malloc_samples, free_samples, pair_samples, busy_samples;
        budget time(1);

        for (int i = 0; i < 5000 && (i == 0 || time.left()); i++) {
            double start = now_ns(), between, end;
            void *ptr;

            MUST(cudaMalloc(&ptr, size.size));
            between = now_ns();
            MUST(cudaFree(ptr));
            end = now_ns();
            malloc_samples.push_back(between - start);
            free_samples.push_back(end - between);
            pair_samples.push_back(end - start);
        }
        /* A free behind work. */
        budget busy_time(1);
        for (int i = 0; i < 1000 && (i == 0 || busy_time.left()); i++) {
            double start = now_ns();
            void *ptr;

            MUST(cudaMalloc(&ptr, size.size));
            small<<<1, 32>>>(1, 2, 3, 4);
            MUST(cudaFree(ptr));
            busy_samples.push_back(now_ns() - start);
        }
        MUST(cudaDeviceSynchronize());
        figures(std::string("malloc_") + size.name, malloc_samples, clock_cost());
        figures(std::string("free_") + size.name, free_samples, clock_cost());
        figures(std::string("malloc_free_") + size.name, pair_samples, 2 * clock_cost());
        figures(std::string("malloc_launch_free_") + size.name, busy_samples, clock_cost());
    }
    for (void *ptr : kept)
        MUST(cudaFree(ptr));
}

void row_malloc_async()
{
    static void *blocks[BURST];
    cudaStream_t stream;

    warm_up();
    MUST(cudaStreamCreate(&stream));
    for (size_t size : {(size_t)1 << 10, (size_t)1 << 20}) {
        std::vector<double> malloc_samples, free_samples;
        std::string name = size == 1 << 10 ? "1K" : "1M";
        budget time(2);
        void *kept;

        /* What a pool has given out once it has at hand, until somebody waits for its stream. */
        MUST(cudaMallocAsync(&kept, size, stream));
        for (int b = 0; b < 100 && (b == 0 || time.left()); b++) {
            for (int i = 0; i < BURST; i++) {
                double start = now_ns(), between;

                MUST(cudaMallocAsync(&blocks[i], size, stream));
                between = now_ns();
                small<<<1, 32, 0, stream>>>(1, 2, 3, 4);
                malloc_samples.push_back(between - start);
                start = now_ns();
                MUST(cudaFreeAsync(blocks[i], stream));
                free_samples.push_back(now_ns() - start);
            }
            MUST(cudaStreamSynchronize(stream));
        }
        figures("malloc_async_" + name, malloc_samples, clock_cost());
        figures("free_async_" + name, free_samples, clock_cost());
        MUST(cudaFreeAsync(kept, stream));
    }
    MUST(cudaStreamDestroy(stream));
}

void row_copy_async()
{
    const size_t size = 4096;
    static char pageable[size];
    char *device, *other, *pinned;
    cudaStream_t stream;

    warm_up();
    MUST(cudaMalloc(&device, BURST * size));
    MUST(cudaMalloc(&other, BURST * size));
    MUST(cudaMallocHost(&pinned, BURST * size));
    MUST(cudaStreamCreate(&stream));
    bursts("copy_to_device", [&](int i) {
        cudaMemcpyAsync(device + i * size, pinned + i * size, size, cudaMemcpyHostToDevice, stream);
    });
    bursts("copy_to_host", [&](int i) {
        cudaMemcpyAsync(pinned + i * size, device + i * size, size, cudaMemcpyDeviceToHost, stream);
    });
    bursts("copy_on_device", [&](int i) {
        cudaMemcpyAsync(other + i * size, device + i * size, size, cudaMemcpyDeviceToDevice, stream);
    });
    bursts("copy_pageable", [&](int i) {
        cudaMemcpyAsync(device + i * size, pageable, size, cudaMemcpyHostToDevice, stream);
    });
    MUST(cudaGetLastError());
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFreeHost(pinned));
    MUST(cudaFree(other));
    MUST(cudaFree(device));
}

void row_event()
{
    cudaEvent_t timed, plain;
    cudaStream_t stream;

    warm_up();
    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&timed));
    MUST(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    bursts("event_record", [&](int) { cudaEventRecord(timed, stream); });
    bursts("event_record_plain", [&](int) { cudaEventRecord(plain, stream); });
    MUST(cudaGetLastError());
    MUST(cudaEventDestroy(plain));
    MUST(cudaEventDestroy(timed));
    MUST(cudaStreamDestroy(stream));
}

#define GRAPH_NODES 50
#define GRAPH_BURST 16 /* launches before a wait */

/* A graph of kernels one after the other: as it was instantiated, and with other arguments before
 * each launch, of one kernel or of all, set node by node or by an update. What a launch takes with
 * its part of the wait, and what it and the changes keep their caller. */
void row_graph()
{
    cudaGraphNode_t nodes[GRAPH_NODES];
    cudaKernelNodeParams params = {};
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    cudaStream_t stream;
    int value[4] = {1, 2, 3, 4};
    void *args[] = {&value[0], &value[1], &value[2], &value[3]};

    warm_up();
    params.func = (void *)small;
    params.gridDim = dim3(1);
    params.blockDim = dim3(32);
    params.kernelParams = args;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < GRAPH_NODES; i++)
        MUST(cudaGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i ? 1 : 0, &params));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    auto launches = [&](const std::string &name, auto change) {
        std::vector<double> samples, calls;
        budget time(1);

        for (int b = 0; b < 500 && (b < 2 || time.left()); b++) {
            const double begin = now_ns();

            for (int i = 0; i < GRAPH_BURST; i++) {
                const double start = now_ns();

                value[0] = b * GRAPH_BURST + i;
                change();
                MUST(cudaGraphLaunch(exec, stream));
                if (b > 0)
                    calls.push_back(now_ns() - start);
            }
            MUST(cudaStreamSynchronize(stream));
            if (b > 0) /* the first makes what later ones have */
                samples.push_back((now_ns() - begin) / GRAPH_BURST);
        }
        figures(name, samples, clock_cost());
        figures(name + "_call", calls, clock_cost());
    };
    launches("graph_same", [] {});
    launches("graph_set_one",
             [&] { MUST(cudaGraphExecKernelNodeSetParams(exec, nodes[GRAPH_NODES / 2], &params)); });
    launches("graph_set_all", [&] {
        for (cudaGraphNode_t node : nodes)
            MUST(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    });
    launches("graph_update_all", [&] {
        cudaGraphExecUpdateResultInfo info;

        for (cudaGraphNode_t node : nodes)
            MUST(cudaGraphKernelNodeSetParams(node, &params));
        MUST(cudaGraphExecUpdate(exec, graph, &info));
    });
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
}

#define DEPENDENT_CYCLES 3000 /* 1.6 us on an H200 */

/* Lets the next kernel begin, and waits for the one before: before its work, or after it. */
__global__ void depends(int cycles, bool late)
{
    cudaTriggerProgrammaticLaunchCompletion();
    if (!late)
        cudaGridDependencySynchronize();
    for (const long long start = clock64(); clock64() - start < cycles;)
        ;
    if (late)
        cudaGridDependencySynchronize();
}

static void launch_dependent(cudaStream_t stream, bool programmatic, bool late)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = programmatic;
    config.gridDim = dim3(quick ? 1 : 132);
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    MUST(cudaLaunchKernelEx(&config, depends, DEPENDENT_CYCLES, late));
}

/* Programmatic dependent launches: 50 kernels, each behind the one before it, as a captured graph
 * and in a stream; what all of them take, with their part of the wait. */
void row_dependent()
{
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    cudaStream_t stream;
    auto chain = [&](bool programmatic, bool late) {
        for (int i = 0; i < GRAPH_NODES; i++)
            launch_dependent(stream, programmatic, late);
    };
    auto time = [&](const std::string &name, auto run) {
        std::vector<double> samples;
        budget time(1);

        for (int b = 0; b < 500 && (b < 4 || time.left()); b++) {
            const double begin = now_ns();

            for (int i = 0; i < GRAPH_BURST; i++)
                run();
            MUST(cudaStreamSynchronize(stream));
            if (b > 2) /* the first ones make what later ones have */
                samples.push_back((now_ns() - begin) / GRAPH_BURST);
        }
        figures(name, samples, clock_cost());
    };
    auto both = [&](const std::string &name, bool programmatic, bool late) {
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        chain(programmatic, late);
        MUST(cudaStreamEndCapture(stream, &graph));
        MUST(cudaGraphInstantiate(&exec, graph, 0));
        time("dependent_graph_" + name, [&] { MUST(cudaGraphLaunch(exec, stream)); });
        MUST(cudaGraphExecDestroy(exec));
        MUST(cudaGraphDestroy(graph));
        time("dependent_stream_" + name, [&] { chain(programmatic, late); });
    };

    warm_up();
    MUST(cudaStreamCreate(&stream));
    both("full", false, false);
    both("early", true, false);
    both("late", true, true);
    MUST(cudaStreamDestroy(stream));
}
