// epilogue.cu - what cublasLtMatmul does to a product: bias, ReLU, GELU and their derivatives.
#include "cublas/kernels/words.h"

#define THREADS 256
#define LANES   32
#define GROUPS  (THREADS / LANES)

// GELU by tanh, as cuBLASLt has it: x / 2 (1 + tanh(SCALE (x + CUBE x^3))).
#define SCALE 0.7978845608028654f
#define CUBE  0.044715f

INLINE float tanh_of(float x)
{
    float power;

    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(x * 2.8853900817779268f)); // e^(2x)
    return 1.0f - 2.0f / (power + 1.0f);
}

INLINE float gelu(float x)
{
    return 0.5f * x * (1.0f + tanh_of(SCALE * (x + CUBE * x * x * x)));
}

INLINE float gelu_slope(float x)
{
    const float t = tanh_of(SCALE * (x + CUBE * x * x * x));

    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * SCALE * (1.0f + 3.0f * CUBE * x * x);
}

// Reads the number at base[index], of a type that the call names.
INLINE float number_read(u64 base, long long index, unsigned type)
{
    switch (type) {
    case SCALAR_F16:
        return convert<float>::from(((const GLOBAL f16 *)base)[index]);
    case SCALAR_BF16:
        return convert<float>::from(((const GLOBAL bf16 *)base)[index]);
    default:
        return ((const GLOBAL float *)base)[index];
    }
}

INLINE void number_write(u64 base, long long index, unsigned type, float x)
{
    switch (type) {
    case SCALAR_F16:
        ((GLOBAL f16 *)base)[index] = convert<f16>::from(x);
        break;
    case SCALAR_BF16:
        ((GLOBAL bf16 *)base)[index] = convert<bf16>::from(x);
        break;
    default:
        ((GLOBAL float *)base)[index] = x;
    }
}

// The warp's 32 rows are one word of the mask.
INLINE void mask_write(const struct epilogue_params &p, long long column, int row, bool set)
{
    unsigned word;

    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(word)
                 : "r"((unsigned)set));
    if (row % LANES == 0 && row < p.m)
        ((GLOBAL unsigned *)p.aux.address)[(column + row) / 32] = word;
}

INLINE bool mask_read(const struct epilogue_params &p, long long column, int row)
{
    return ((const GLOBAL unsigned *)p.aux.address)[(column + row) / 32] >> row % 32 & 1;
}

// One thread for each element of a column; a block handles its columns one after the other.
template <class T> INLINE void epilogue(const struct epilogue_params &p)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    const bool inside = i < p.m;

    for (int batch = (int)blockIdx.z; batch < p.batch; batch += (int)gridDim.z) {
        for (int j = (int)blockIdx.y; j < p.n; j += (int)gridDim.y) {
            GLOBAL T *d = operand<T>(&p.d, batch) + i * p.d.row + j * p.d.column;
            const long long aux = batch * p.aux.stride + j * p.aux.column;
            float x = inside ? convert<float>::from(T(*d)) : 0.0f;

            if (inside && p.does & EPILOGUE_BIAS)
                x += number_read(p.bias, batch * p.bias_stride + i, p.bias_type);
            if (p.does & EPILOGUE_RELU) {
                if (p.does & EPILOGUE_AUX)
                    mask_write(p, aux, i, x > 0.0f);
                x = x > 0.0f ? x : 0.0f;
            }
            if (!inside)
                continue;
            if (p.does & EPILOGUE_DRELU)
                x = mask_read(p, aux, i) ? x : 0.0f;
            if (p.does & EPILOGUE_GELU) {
                if (p.does & EPILOGUE_AUX)
                    number_write(p.aux.address, aux + i, p.aux_type, x);
                x = gelu(x);
            }
            if (p.does & EPILOGUE_DGELU)
                x *= gelu_slope(number_read(p.aux.address, aux + i, p.aux_type));
            *d = convert<T>::from(x);
        }
    }
}

// Each lane has a row, and the groups share the row's columns.
template <class T> INLINE void row_sums(const struct epilogue_params &p)
{
    static __shared__ float part[GROUPS][LANES];
    const int lane = (int)threadIdx.x % LANES, group = (int)threadIdx.x / LANES;
    const int i = (int)blockIdx.x * LANES + lane;

    for (int batch = (int)blockIdx.z; batch < p.batch; batch += (int)gridDim.z) {
        const GLOBAL T *row = operand<T>(&p.d, batch) + i * p.d.row;
        float sum = 0.0f;

        if (i < p.m)
            for (int j = group; j < p.n; j += GROUPS)
                sum += convert<float>::from(T(row[j * p.d.column]));
        part[group][lane] = sum;
        __syncthreads();
        if (i < p.m && group == 0) {
            for (int g = 1; g < GROUPS; g++)
                sum += part[g][lane];
            number_write(p.bias, batch * p.bias_stride + i, p.bias_type, sum);
        }
        __syncthreads();
    }
}

#define KERNELS(suffix, T)                                                                         \
    KERNEL(THREADS) void epilogue_##suffix(const struct epilogue_params p)                         \
    {                                                                                              \
        epilogue<T>(p);                                                                            \
    }                                                                                              \
    KERNEL(THREADS) void row_sums_##suffix(const struct epilogue_params p)                         \
    {                                                                                              \
        row_sums<T>(p);                                                                            \
    }
KERNELS(f32, float)
KERNELS(f16, f16)
KERNELS(bf16, bf16)
