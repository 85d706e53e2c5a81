// A fenced program's arrays of pointers reach nobody else's memory, whatever a kernel puts there.
#include <gshare_cuda.h>

#include "blas.h"

static const int N = 32, BATCH = 3;

// The second of a batch lies in the other session, the third nowhere.
__global__ void point(float **at, float *own, unsigned long long other)
{
    at[0] = own;
    at[1] = (float *)other;
    at[2] = (float *)0x7ff123456780ull;
}

int main()
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    const size_t bytes = N * N * sizeof(float);
    const float one = 1, zero = 0;
    gs_session other;
    gs_devptr theirs;
    float **pointers;

    if (gs_attach(NULL, &other) != GS_OK || gs_malloc(other, bytes, &theirs) != GS_OK ||
        gs_memset(other, theirs, 0x3c, bytes) != GS_OK)
        return 1;
    params.fence = GS_FENCE_ON;
    if (gs_cuda_attach(&params) != GS_OK)
        return 1;

    {
        blas_handle handle;
        array<float> a(N * N, 1), b(N * N, 2), c(N * N, 3);

        MUST(cudaMalloc(&pointers, 3 * BATCH * sizeof(float *)));
        point<<<1, 1>>>(pointers, a.device, theirs);
        point<<<1, 1>>>(pointers + BATCH, b.device, theirs);
        point<<<1, 1>>>(pointers + 2 * BATCH, c.device, theirs);
        STATUS_OF("batched", cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, pointers, N, pointers + BATCH, N, &zero, pointers + 2 * BATCH, N, BATCH)); //> batched: CUBLAS_STATUS_SUCCESS
        STATUS_OF("trsm", cublasStrsmBatched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, N, N, &one, pointers, N, pointers + 2 * BATCH, N, BATCH)); //> trsm: CUBLAS_STATUS_SUCCESS
        cudaDeviceSynchronize();
    }
    std::vector<uint8_t> got(bytes);
    if (gs_memcpy_dtoh(other, got.data(), theirs, bytes) != GS_OK)
        return 1;
    bool kept = true;
    for (uint8_t byte : got)
        kept &= byte == 0x3c;
    printf("the other's memory: %s\n", kept ? "kept" : "changed"); //> the other's memory: kept
    printf("detached: %s\n", gs_status_name(gs_detach(other))); //> detached: GS_OK
}
