/*
 * saxpy.cu - a CUDA program as any other: nothing in it knows of gshare. Two ways to make it a
 * tenant of a server (gshared -d):
 *
 *     nvcc -cudart none saxpy.cu -o saxpy -lgshare_cudart && ./saxpy
 *     nvcc -cudart shared saxpy.cu -o saxpy && gshare-run ./saxpy
 */
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

__global__ void saxpy(float a, const float *x, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main()
{
    const unsigned n = 1 << 20, bytes = n * sizeof(float);
    std::vector<float> x(n), y(n, 1.0f);
    float *device_x, *device_y;
    unsigned right = 0;
    cudaStream_t stream;

    for (unsigned i = 0; i < n; i++)
        x[i] = (float)i;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device_x, bytes));
    CHECK(cudaMalloc(&device_y, bytes));
    CHECK(cudaMemcpyAsync(device_x, x.data(), bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(device_y, y.data(), bytes, cudaMemcpyHostToDevice, stream));
    saxpy<<<(n + 255) / 256, 256, 0, stream>>>(2.0f, device_x, device_y, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(y.data(), device_y, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (unsigned i = 0; i < n; i++)
        right += y[i] == 2.0f * (float)i + 1.0f;
    printf("%u of %u elements right\n", right, n);
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(device_y));
    return right == n ? 0 : 1;
}
