// Functions that are not inlined store to local variables of their callers, by pointers and references.
#include "show.h"

struct vec {
    float x, y, z;
};

__device__ __noinline__ void split(int i, int *tens, int &ones)
{
    *tens = i / 10;
    ones = i % 10;
}

__device__ __noinline__ void fill(int *at, int n, int first)
{
    for (int i = 0; i < n; i++)
        at[i] = first + i;
}

/* A function between the kernel and the one that stores, with a variable of its own. */
__device__ __noinline__ int squares(int first)
{
    int v[8], sum = 0;

    fill(v, 8, first);
    for (int i = 0; i < 8; i++)
        sum += v[i] * v[i];
    return sum;
}

__global__ void results(int *out)
{
    int tens, ones;

    split(threadIdx.x, &tens, ones);
    out[threadIdx.x] = 1000 * tens + ones + 100000 * squares(threadIdx.x);
}

/* One pointer, now to a local variable, now to global memory. */
__global__ void either(int *out, int n)
{
    int own[4] = {0};

    fill(n > 2 ? own : out, 4, 7);
    fill(n > 2 ? out : own, 4, 70);
    out[4] = own[0] + own[3];
}

__device__ int place(int *columns, int row, int n)
{
    int found = 0;

    if (row == n)
        return 1;
    for (int c = 0; c < n; c++) {
        bool free = true;

        for (int r = 0; r < row; r++)
            free &= columns[r] != c && abs(columns[r] - c) != row - r;
        if (free) {
            columns[row] = c;
            found += place(columns, row + 1, n);
        }
    }
    return found;
}

__global__ void queens(int *out)
{
    int columns[8];

    out[threadIdx.x] = place(columns, 0, 4 + threadIdx.x);
}

/* Each call has a variable that the next one stores to. */
__device__ __noinline__ void descend(int depth, int *sum)
{
    int below = 0;

    if (depth > 1)
        descend(depth - 1, &below);
    *sum = below + depth;
}

__global__ void descent(int *out)
{
    int sum;

    descend(1 + threadIdx.x, &sum);
    out[threadIdx.x] = sum;
}

typedef void (*operation)(vec *);

__device__ __noinline__ void scale(vec *v)
{
    v->x *= 2;
    v->y *= 3;
}

__device__ __noinline__ void turn(vec *v)
{
    float x = v->x;

    v->x = -v->y;
    v->y = x;
}

__device__ operation operations[2] = {scale, turn};

/* By the address of a function. */
__global__ void by_address(float *out)
{
    vec v = {1.0f + (float)threadIdx.x, 2, 3};

    operations[threadIdx.x & 1](&v);
    out[threadIdx.x] = 100 * v.x + v.y;
}

struct shape {
    __device__ virtual void bounds(float *low, float *high) const = 0;
};
struct disc : shape {
    float r;
    __device__ disc(float r) : r(r) {}
    __device__ void bounds(float *low, float *high) const override
    {
        *low = -r;
        *high = r;
    }
};
struct box : shape {
    float a, b;
    __device__ box(float a, float b) : a(a), b(b) {}
    __device__ void bounds(float *low, float *high) const override
    {
        *low = a;
        *high = b;
    }
};

__global__ void by_virtual_call(float *out)
{
    disc d((float)threadIdx.x);
    box b(1.5f, (float)threadIdx.x);
    const shape *s = threadIdx.x & 1 ? (const shape *)&d : &b;
    float low, high;

    s->bounds(&low, &high);
    out[threadIdx.x] = 10 * high + low;
}

/* The address goes through memory. */
struct work {
    int *result;
    int n;
};

__device__ __noinline__ void carry_out(work *w)
{
    *w->result = w->n * w->n;
    w->n++;
}

__global__ void through_memory(int *out)
{
    int result = 0, sum = 0;
    work w = {&result, (int)threadIdx.x};

    for (int i = 0; i < 3; i++) {
        carry_out(&w);
        sum += result;
    }
    out[threadIdx.x] = sum;
}

template <typename T> static T *fresh(int n)
{
    T *p;

    MUST(cudaMalloc(&p, n * sizeof(T)));
    MUST(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}

template <typename T> static void show_at(const T *p, int a, int b, int c)
{
    T host[64];

    MUST(cudaGetLastError());
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%.10g %.10g %.10g\n", (double)host[a], (double)host[b], (double)host[c]);
}

int main()
{
    int *ints = fresh<int>(64);
    float *floats = fresh<float>(64);

    results<<<1, 64>>>(ints);
    show_at(ints, 0, 9, 42); //> 14000000 129200009 1660404002
    either<<<1, 1>>>(ints, 1);
    show_at(ints, 0, 3, 4); //> 7 10 143
    either<<<1, 1>>>(ints, 3);
    show_at(ints, 0, 3, 4); //> 70 73 17
    queens<<<1, 5>>>(ints);
    show_at(ints, 0, 1, 4); //> 2 10 92
    descent<<<1, 8>>>(ints);
    show_at(ints, 0, 3, 7); //> 1 10 36
    by_address<<<1, 4>>>(floats);
    show_at(floats, 0, 1, 2); //> 206 -198 606
    by_virtual_call<<<1, 8>>>(floats);
    show_at(floats, 1, 2, 7); //> 9 21.5 63
    through_memory<<<1, 8>>>(ints);
    show_at(ints, 0, 1, 5); //> 5 14 110
    return 0;
}
