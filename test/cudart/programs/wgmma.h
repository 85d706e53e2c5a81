/* wgmma.h - what the programs about wgmma share: matrices in shared memory as descriptors tell
 * them, kernels that multiply two of them, and products to compare with. All numbers are small and
 * whole, so that every sum is exact. */
#ifndef WGMMA_H
#define WGMMA_H

#include "show.h"
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <vector>

/* ---- On the device ---- */

/* A product of 64 x DEPTH and DEPTH x N for each step; each adds to the sum before. */
struct run {
    const uint4 *image; /* of shared memory, from an address on that 1,024 divides */
    unsigned chunks;    /* of it */
    uint64_t a, b;      /* descriptors, without that address */
    uint64_t step_a, step_b;
    int steps;
    int adds;                    /* the first one too */
    const unsigned *a_registers; /* four of each thread, step after step */
    unsigned *sums;              /* each thread's registers */
};

/* Shared memory as the image has it, for wgmma to read. Returns what descriptors call its address.
 */
__device__ static uint64_t begin(const run &r)
{
    extern __shared__ uint4 memory[];
    const unsigned at = (unsigned)__cvta_generic_to_shared(memory),
                   base = (at + 1023) / 1024 * 1024;

    for (unsigned i = threadIdx.x; i < r.chunks; i += blockDim.x)
        memory[(base - at) / 16 + i] = r.image[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    return base >> 4;
}

/* Registers of sums, four by four. */
/* clang-format off */
#define QUAD(q)           "d" q "0, d" q "1, d" q "2, d" q "3"
#define NEXT_QUAD(q, at)  ", " QUAD(q)
#define LOAD_QUAD(q, at)  "ld.global.v4.b32 {" QUAD(q) "}, [%0+" at "];\n"
#define STORE_QUAD(q, at) "st.global.v4.b32 [%0+" at "], {" QUAD(q) "};\n"
#define REST1(M)
#define REST2(M)    M("b", "16")
#define REST3(M)    REST2(M) M("c", "32")
#define REST4(M)    REST3(M) M("d", "48")
#define REST5(M)    REST4(M) M("e", "64")
#define REST8(M)    REST5(M) M("f", "80") M("g", "96") M("h", "112")
#define REST12(M)   REST8(M) M("i", "128") M("j", "144") M("k", "160") M("l", "176")
#define REST16(M)   REST12(M) M("m", "192") M("n", "208") M("o", "224") M("p", "240")
#define REST32(M)   REST16(M) M("q", "256") M("r", "272") M("s", "288") M("t", "304") M("u", "320") \
                    M("v", "336") M("w", "352") M("x", "368") M("y", "384") M("z", "400") M("A", "416") \
                    M("B", "432") M("C", "448") M("D", "464") M("E", "480") M("F", "496")
#define QUADS(n, M) M("a", "0") REST##n(M)
#define LIST(n)     QUAD("a") REST##n(NEXT_QUAD)
/* clang-format on */

/* The instruction of a step: QUADS registers of sums times four, and behind the predicate TAIL. */
#define PRODUCT(quads, words, load_a, a, tail)                                                     \
    "{\n.reg .pred p;\n.reg .b32 " LIST(quads) ", a0, a1, a2, a3;\n" QUADS(quads, LOAD_QUAD)       \
        load_a                                                                                     \
        "setp.ne.b32 p, %3, 0;\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned." words    \
        " {" LIST(quads) "}, " a ", %2, p" tail ";\nwgmma.commit_group.sync.aligned;\n"            \
                         "wgmma.wait_group.sync.aligned 0;\n" QUADS(quads, STORE_QUAD) "}"

/* A kernel with both factors in shared memory. */
#define OF_MEMORY(name, quads, words, tail)                                                        \
    __global__ void name(const __grid_constant__ run r)                                            \
    {                                                                                              \
        const uint64_t base = begin(r);                                                            \
        for (int i = 0; i < r.steps; i++)                                                          \
            asm volatile(PRODUCT(quads, words, "", "%1", tail)                                     \
                         :                                                                         \
                         : "l"(r.sums + 4 * quads * threadIdx.x), "l"(r.a + base + i * r.step_a),  \
                           "l"(r.b + base + i * r.step_b), "r"(r.adds | i)                         \
                         : "memory");                                                              \
    }
/* One with the left factor in registers. */
#define OF_REGISTERS(name, quads, words, tail)                                                     \
    __global__ void name(const __grid_constant__ run r)                                            \
    {                                                                                              \
        const uint64_t base = begin(r);                                                            \
        for (int i = 0; i < r.steps; i++)                                                          \
            asm volatile(PRODUCT(quads, words, "ld.global.v4.b32 {a0, a1, a2, a3}, [%1];\n",       \
                                 "{a0, a1, a2, a3}", tail)                                         \
                         :                                                                         \
                         : "l"(r.sums + 4 * quads * threadIdx.x),                                  \
                           "l"(r.a_registers + 4 * (128 * i + threadIdx.x)),                       \
                           "l"(r.b + base + i * r.step_b), "r"(r.adds | i)                         \
                         : "memory");                                                              \
    }

/* ---- Elements ---- */

struct type {
    int bits;
    unsigned (*code)(int);
    int (*value)(unsigned);
};

static unsigned float_code(int x)
{
    const float f = (float)x;
    unsigned bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}
static int float_value(unsigned bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f == (float)(int)f ? (int)f : 0x7fffffff;
}
static unsigned half_code(int x)
{
    return __half_as_ushort(__float2half((float)x));
}
static int half_value(unsigned bits)
{
    return (int)__half2float(__ushort_as_half((unsigned short)bits));
}
static unsigned bfloat_code(int x)
{
    return __bfloat16_as_ushort(__float2bfloat16((float)x));
}
static unsigned e4m3_code(int x)
{
    return __nv_fp8_e4m3((float)x).__x;
}
static unsigned e5m2_code(int x)
{
    return __nv_fp8_e5m2((float)x).__x;
}
static unsigned whole_code(int x)
{
    return (unsigned)x;
}
static int whole_value(unsigned x)
{
    return (int)x;
}

static const type F32 = {32, float_code, float_value}, F16 = {16, half_code, half_value},
                  BF16 = {16, bfloat_code, NULL}, TF32 = {32, float_code, NULL},
                  E4M3 = {8, e4m3_code, NULL}, E5M2 = {8, e5m2_code, NULL},
                  INT8 = {8, whole_code, NULL}, S32 = {32, whole_code, whole_value},
                  B1 = {1, whole_code, NULL};

/* ---- Matrices in shared memory ---- */

enum swizzle { NONE, B128, B64, B32 }; /* as in descriptors */

/* Of a left factor MN are the rows, of a right one the columns; K is the depth. Offsets are bytes.
 */
struct layout {
    swizzle mode;
    bool mn_major;
    unsigned at, leading, stride;
    unsigned step;          /* from the product of one step to that of the next */
    unsigned shifted_lines; /* the pattern begins so many 128 bytes behind a multiple of 1,024 */
};

static unsigned width_of(swizzle mode)
{
    return mode == NONE ? 16 : 256 >> mode;
}

/* Lines of 128 bytes along the depth, of which four steps take 32 bytes each. */
static layout in_lines(unsigned at)
{
    return {B128, false, at, 16, 1024, 32};
}

static uint64_t descriptor(const layout &l)
{
    return (l.at >> 4) | (uint64_t)(l.leading >> 4) << 16 | (uint64_t)(l.stride >> 4) << 32 |
           (uint64_t)l.shifted_lines << 49 | (uint64_t)l.mode << 62;
}

/* The byte of shared memory that has element (MN, K), as PTX ISA's canonical layouts say. */
static unsigned place(const layout &l, int bits, unsigned mn, unsigned k)
{
    const unsigned width = width_of(l.mode), along = (l.mn_major ? mn : k) * bits / 8,
                   line = l.mn_major ? k : mn;
    unsigned offset = line % 8 * width;

    if (!l.mn_major)
        offset +=
            line / 8 * l.stride + (l.mode == NONE ? along / 16 * l.leading + along % 16 : along);
    else if (l.mode == NONE)
        offset += line / 8 * l.leading + along / 16 * l.stride + along % 16;
    else
        offset += line / 8 * l.stride + along / width * l.leading + along % width;
    offset += l.at;
    return offset ^ ((offset >> 7) - l.shifted_lines & (width / 16 - 1)) << 4;
}

/* ---- Products ---- */

/* Of elements. */
struct range {
    int low, high;
};

struct product {
    void (*kernel)(run);
    type a, b, d;
    int n, depth, steps;
    layout la, lb;
    bool a_in_registers;
    int sign; /* of the product */
    range ra, rb;
    int before; /* what the sums are first; NOTHING: they are not added to */
    bool saturates;
};

enum { ROWS = 64, THREADS = 128, NOTHING = -123456789 };

static int element(unsigned seed, range of)
{
    seed = seed * 2654435761u + 12345;
    seed ^= seed >> 13;
    seed *= 0x5bd1e995;
    return of.low + (int)((seed >> 8) % (unsigned)(of.high - of.low + 1));
}

static int of_a(const product &p, int i, int k)
{
    return element(i * 1009 + k, p.ra);
}

static int of_b(const product &p, int k, int j)
{
    return element(j * 2003 + k + 777777, p.rb);
}

static void put(std::vector<unsigned char> &image, const layout &l, const type &t, unsigned mn,
                unsigned k, int x)
{
    const unsigned at = place(l, t.bits, mn, k), code = t.code(x);

    if (image.size() < at + 16)
        image.resize(at + 16);
    if (t.bits == 1)
        image[at] |= (code & 1) << k % 8;
    else
        memcpy(&image[at], &code, t.bits / 8);
}

static std::vector<unsigned char> image_of(const product &p)
{
    std::vector<unsigned char> image;

    for (int k = 0; k < p.depth * p.steps; k++) {
        for (int i = 0; !p.a_in_registers && i < ROWS; i++)
            put(image, p.la, p.a, i, k, of_a(p, i, k));
        for (int j = 0; j < p.n; j++)
            put(image, p.lb, p.b, j, k, of_b(p, k, j));
    }
    image.resize((image.size() + 15) / 16 * 16);
    return image;
}

/* Element I of a thread's left factor, as mma's fragments have it. */
static void fragment_of_a(const product &p, int thread, int i, int *row, int *k)
{
    const int per = 32 / p.a.bits, reg = i / per;

    *row = thread / 32 * 16 + thread % 32 / 4 + 8 * (reg & 1);
    *k = thread % 4 * per + i % per + reg / 2 * 4 * per;
}

static void fragment_of_d(int thread, int i, int *row, int *column)
{
    *row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2);
    *column = i / 4 * 8 + thread % 4 * 2 + i % 2;
}

static long long sum_of(const product &p, int row, int column)
{
    long long sum = p.before == NOTHING ? 0 : p.before;

    for (int k = 0; k < p.depth * p.steps; k++)
        sum += p.a.bits == 1 ? of_a(p, row, k) & of_b(p, k, column)
                             : (long long)p.sign * of_a(p, row, k) * of_b(p, k, column);
    if (p.saturates)
        sum = sum > 0x7fffffff ? 0x7fffffff : sum < -0x80000000ll ? -0x80000000ll : sum;
    return p.d.value == whole_value ? (int)sum : sum;
}

template <typename T> static T *copied(const std::vector<T> &v)
{
    T *at;

    MUST(cudaMalloc(&at, v.size() * sizeof(T) + 16));
    MUST(cudaMemcpy(at, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return at;
}

/* How many sums are wrong. */
static int wrong(const product &p)
{
    const int per = 32 / p.d.bits, held = p.n / 2, registers = held / per;
    const std::vector<unsigned char> image = image_of(p);
    std::vector<unsigned> sums(THREADS * registers), left(p.steps * THREADS * 4);
    const unsigned first = p.before == NOTHING ? ~0u : p.d.code(p.before);
    int row, other, n = 0;

    for (unsigned &s : sums)
        s = per == 2 ? (first & 0xffff) << 16 | (first & 0xffff) : first;
    for (int t = 0; p.a_in_registers && t < THREADS * p.steps; t++)
        for (int i = 0; i < 128 / p.a.bits; i++) {
            fragment_of_a(p, t % THREADS, i, &row, &other);
            const unsigned mask = p.a.bits == 32 ? ~0u : (1u << p.a.bits) - 1;
            left[4 * t + i * p.a.bits / 32] |=
                (p.a.code(of_a(p, row, t / THREADS * p.depth + other)) & mask) << i * p.a.bits % 32;
        }
    run r = {(const uint4 *)copied(image),
             (unsigned)image.size() / 16,
             descriptor(p.la),
             descriptor(p.lb),
             p.la.step >> 4,
             p.lb.step >> 4,
             p.steps,
             p.before != NOTHING,
             copied(left),
             copied(sums)};
    MUST(cudaFuncSetAttribute((const void *)p.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              image.size() + 1024));
    p.kernel<<<1, THREADS, image.size() + 1024>>>(r);
    MUST(cudaMemcpy(sums.data(), r.sums, sums.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < held; i++) {
            fragment_of_d(t, i, &row, &other);
            const unsigned word = sums[t * registers + i / per] >> (per == 2 ? i % 2 * 16 : 0);
            n += p.d.value(per == 2 ? word & 0xffff : word) != sum_of(p, row, other);
        }
    MUST(cudaFree((void *)r.image));
    MUST(cudaFree((void *)r.a_registers));
    MUST(cudaFree(r.sums));
    return n;
}

/* Ends the program as one that is skipped where no kernel can have wgmma: on any but Hopper. */
static void need_wgmma()
{
    int major;

    MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major != 9)
        exit(77);
}

#endif
