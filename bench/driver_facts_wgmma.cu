/* driver_facts_wgmma.cu - what wgmma on a GPU makes of a matrix descriptor that leads out of its block's shared memory: a fault, the
 * block's own memory again, what a block beside it on the SM has there, or what an earlier kernel left.
 *
 *     nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o wgmma bench/driver_facts_wgmma.cu && ./wgmma
 *
 * On a GPU by itself, without gshare. Each case is a process of its own, since a fault ends its context. A kernel that
 * gives all of an SM's shared memory the number 3 runs first. Then two blocks of 96 KiB lie on each SM: the first to come
 * fills its memory with 2 and stays, the second has 1 in its own and multiplies by the unit matrix, so that the sums are
 * what was read. A line says how many elements were which number, over all SMs.
 *
 * An H200 shows no 2 (results/h200-driver-facts-wgmma.txt): what lies behind a block's own memory faults. A 3 stands in the
 * 1 KiB before it, which no kernel's variables have: what the block before left, as in the block's own.
 *
 * Then (48) some lanes of each warp alone come to a product: whether it writes the registers of the others, too, which have
 * ended, or are at work elsewhere. On an H200 it waits for these, which hold their registers until then. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_fp16.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t e_ = (call);                                                                                       \
        if (e_ != cudaSuccess) {                                                                                       \
            printf("%s\n", cudaGetErrorName(e_));                                                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { THREADS = 128, DYNAMIC = 96 * 1024, SMS = 512, SUMS = 64 * 8 };

__global__ void leave(unsigned bytes)
{
    extern __shared__ __align__(1024) __half memory[];

    for (unsigned i = threadIdx.x; i < bytes / 2; i += blockDim.x)
        memory[i] = __float2half(3.0f);
    __syncthreads();
    if (__half2float(memory[threadIdx.x]) != 3.0f)
        __trap();
}

struct state {
    unsigned arrived[SMS], ready[SMS], done[SMS];
    unsigned pairs, alone;
    float sums[SMS][SUMS];
    unsigned used[SMS];
};

__device__ static bool await(volatile unsigned *word)
{
    for (long long end = clock64() + 2000000000ll; clock64() < end;)
        if (*word)
            return true;
    return false;
}

/* B as the descriptor says, with the unit matrix in registers; or A, with a unit matrix at the start of shared memory. */
__global__ void ask(state *s, uint64_t descriptor, int of_a, int relative)
{
    extern __shared__ __align__(1024) __half memory[];
    __shared__ unsigned turn, smid;

    if (threadIdx.x == 0) {
        asm volatile("mov.u32 %0, %%smid;" : "=r"(smid));
        turn = atomicAdd(&s->arrived[smid], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < DYNAMIC / 2; i += blockDim.x)
        memory[i] = __float2half(turn == 0 ? 2.0f : 1.0f);
    __syncthreads();
    if (turn == 0) {
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(&s->ready[smid], 1);
            atomicAdd(await(&s->done[smid]) ? &s->pairs : &s->alone, 1);
        }
        __syncthreads();
        return;
    }
    /* K-major without a swizzle: two chunks of eight along the depth, eight columns each. */
    for (unsigned i = threadIdx.x; of_a && i < 128; i += blockDim.x)
        memory[i] = __float2half(i / 64 * 8 + i % 8 == i / 8 % 8 ? 1.0f : 0.0f);
    if (turn > 1)
        return;
    if (threadIdx.x == 0)
        await(&s->ready[smid]);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const unsigned at = (unsigned)__cvta_generic_to_shared(memory);
    const uint64_t unit = (at >> 4) | (uint64_t)8 << 16 | (uint64_t)8 << 32;
    const uint64_t asked = relative ? descriptor + (at >> 4) : descriptor;
    float d[4] = {-7, -7, -7, -7};
    if (of_a) {
        asm volatile("wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, "
                     "1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "l"(asked), "l"(unit)
                     : "memory");
    } else {
        unsigned a[4] = {0, 0, 0, 0};
        const unsigned one = 0x3c00;
        for (int i = 0; i < 8; i++) {
            const int row = threadIdx.x % 32 / 4 + 8 * (i / 2 & 1), k = threadIdx.x % 4 * 2 + i % 2 + i / 4 * 8;
            if (row == k)
                a[i / 2] |= one << 16 * (i % 2);
        }
        asm volatile("wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, "
                     "%7}, %8, 0, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(asked)
                     : "memory");
    }
    for (int i = 0; i < 4; i++)
        s->sums[smid][threadIdx.x * 4 + i] = d[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        s->used[smid] = 1;
        atomicExch(&s->done[smid], 1);
    }
}

static uint64_t describe(uint64_t start, uint64_t leading, uint64_t stride, uint64_t mode)
{
    return (start & 0x3ffff) >> 4 | (leading & 0x3ffff) >> 4 << 16 | (stride & 0x3ffff) >> 4 << 32 | mode << 62;
}

static void run(uint64_t descriptor, int of_a, int relative)
{
    static state host;
    state *s;
    cudaDeviceProp p;
    unsigned was[5] = {0};

    MUST(cudaGetDeviceProperties(&p, 0));
    MUST(cudaFuncSetAttribute(leave, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p.sharedMemPerBlockOptin));
    MUST(cudaFuncSetAttribute(ask, cudaFuncAttributeMaxDynamicSharedMemorySize, DYNAMIC));
    MUST(cudaMalloc(&s, sizeof(*s)));
    MUST(cudaMemset(s, 0, sizeof(*s)));
    leave<<<p.multiProcessorCount, THREADS, p.sharedMemPerBlockOptin>>>((unsigned)p.sharedMemPerBlockOptin);
    MUST(cudaDeviceSynchronize());
    ask<<<2 * p.multiProcessorCount, THREADS, DYNAMIC>>>(s, descriptor, of_a, relative);
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(&host, s, sizeof(host), cudaMemcpyDeviceToHost));
    for (int sm = 0; sm < SMS; sm++)
        for (int i = 0; host.used[sm] && i < SUMS; i++) {
            const float x = host.sums[sm][i];
            was[x == 0.0f ? 0 : x == 1.0f ? 1 : x == 2.0f ? 2 : x == 3.0f ? 3 : 4]++;
        }
    printf("pairs %u, alone %u; 0: %u, own 1: %u, NEIGHBOUR 2: %u, EARLIER 3: %u, other: %u\n", host.pairs, host.alone, was[0],
           was[1], was[2], was[3], was[4]);
}

static void show(const char *what, uint64_t descriptor, int of_a, int relative)
{
    printf("%s, %s: ", of_a ? "A" : "B", what);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run(descriptor, of_a, relative);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* ---- Some lanes of a warp alone ---- */

enum { OWN = 0x7f000000 };

__global__ void some(unsigned *out, unsigned lanes, int others_wait)
{
    extern __shared__ __align__(1024) __half memory[];
    unsigned d[4];

    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x)
        memory[i] = __float2half(1.0f);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const uint64_t ones = (__cvta_generic_to_shared(memory) >> 4) | (uint64_t)8 << 16 | (uint64_t)8 << 32;
    for (unsigned i = 0; i < 4; i++)
        d[i] = OWN + threadIdx.x * 4 + i;
    asm volatile("" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]));
    if (threadIdx.x % 32 < lanes) {
        asm volatile("wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 0, "
                     "1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "l"(ones)
                     : "memory");
    } else if (others_wait) {
        __syncwarp();
        asm volatile("" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]));
    }
    for (unsigned i = 0; i < 4; i++)
        out[threadIdx.x * 4 + i] = d[i];
}

static void part(unsigned lanes, int others_wait)
{
    unsigned *out, host[THREADS * 4], products = 0, kept = 0;
    cudaError_t result;

    MUST(cudaMalloc(&out, sizeof(host)));
    some<<<1, THREADS, 8192>>>(out, lanes, others_wait);
    for (time_t end = time(NULL) + 3; (result = cudaStreamQuery(0)) == cudaErrorNotReady && time(NULL) < end;)
        ;
    if (result == cudaErrorNotReady) {
        printf("it does not end\n");
        return;
    }
    MUST(result);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < THREADS * 4; i++)
        if (i / 4 % 32 < lanes)
            products += host[i] == 0x41800000; /* 16 */
        else
            kept += host[i] == OWN + i;
    printf("%u of %u are sums, %u of %u of the others kept\n", products, lanes * 16, kept, (32 - lanes) * 16);
}

static void show_part(unsigned lanes, int others_wait)
{
    printf("%u lanes, the others %s: ", lanes, others_wait ? "at another bar.warp.sync" : "go on to their end");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        part(lanes, others_wait);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main()
{
    /* Relative to the block's dynamic shared memory, which begins 1 KiB behind the start of its window. */
    static const struct {
        const char *what;
        int64_t start;
        uint64_t leading, stride, mode;
        int relative;
    } all[] = {
        {"inside", 4096, 128, 128, 0, 1},
        {"the last 256 bytes inside", DYNAMIC - 2048, 1024, 128, 0, 1},
        {"the reserved 1 KiB before", 0, 128, 128, 0, 0},
        {"from 16 bytes before the end", DYNAMIC - 16, 128, 128, 0, 1},
        {"just behind the end", DYNAMIC, 128, 128, 0, 1},
        {"4 KiB behind the end", DYNAMIC + 4096, 128, 128, 0, 1},
        {"64 KiB behind the end", DYNAMIC + 65536, 128, 128, 0, 1},
        {"behind 227 KiB", 232448, 128, 128, 0, 0},
        {"at 240 KiB", 240 * 1024, 128, 128, 0, 0},
        {"at the last 16 bytes of 256 KiB", 262128, 128, 128, 0, 0},
        {"inside, and by the leading offset 64 KiB behind the end", 4096, DYNAMIC + 65536, 128, 0, 1},
        {"inside, and by the leading offset beyond 256 KiB", 65536, 245760, 128, 0, 1},
        {"inside, and by the stride 64 KiB behind the end", 4096, 128, DYNAMIC + 65536, 0, 1},
        {"inside, and by the stride beyond 256 KiB", 65536, 128, 245760, 0, 1},
        {"with a swizzle of 128 bytes, just behind the end", DYNAMIC, 16, 1024, 1, 1},
        {"with a swizzle of 128 bytes, by the stride beyond 256 KiB", 65536, 16, 245760, 1, 1},
    };

    for (int of_a = 0; of_a < 2; of_a++)
        for (const auto &c : all)
            if (of_a || !strstr(c.what, "stride")) /* B's eight columns need no stride */
                show(c.what, describe((uint64_t)c.start, c.leading, c.stride, c.mode), of_a, c.relative);
    show_part(32, 0);
    show_part(16, 0);
    show_part(1, 0);
    show_part(16, 1);
    return 0;
}
