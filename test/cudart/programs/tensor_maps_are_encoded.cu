// The driver's function that encodes tensor maps is found by its name, and checks what it is told.
#include "show.h"
#include <cuda.h>

typedef CUresult encode_fn(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                           const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_fn *encode;

/* A matrix of floats, of 64 rows of 128, and boxes of 16 rows of WIDTH. */
static CUresult matrix(CUtensorMap *map, void *at, unsigned width, CUtensorMapSwizzle swizzle)
{
    const cuuint64_t dims[] = {128, 64}, strides[] = {512};
    const cuuint32_t box[] = {width, 16}, steps[] = {1, 1};

    return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, at, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main()
{
    cudaDriverEntryPointQueryResult found;
    CUtensorMap one, same, other;
    char *memory;
    int major;

    MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major < 9)
        return 77;
    MUST(cudaMalloc(&memory, 1 << 20));
    MUST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    printf("found: %d\n", found == cudaDriverEntryPointSuccess && encode != NULL); //> found: 1
    void *older = &major;
    MUST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &older, 11000, cudaEnableDefault, &found));
    printf("for CUDA 11: %d, %d\n", found == cudaDriverEntryPointVersionNotSufficent, older == NULL); //> for CUDA 11: 1, 1
    const CUresult first = matrix(&one, memory, 32, CU_TENSOR_MAP_SWIZZLE_NONE);
    if (first == CUDA_ERROR_NOT_SUPPORTED)
        return 77; // a fenced session
    printf("%d\n", first);                                                    //> 0
    printf("%d\n", matrix(&same, memory, 32, CU_TENSOR_MAP_SWIZZLE_NONE));    //> 0
    printf("%d\n", matrix(&other, memory + 4096, 32, CU_TENSOR_MAP_SWIZZLE_128B)); //> 0
    HOLDS(memcmp(&one, &same, sizeof(one)) == 0);  //> memcmp(&one, &same, sizeof(one)) == 0: yes
    HOLDS(memcmp(&one, &other, sizeof(one)) != 0); //> memcmp(&one, &other, sizeof(one)) != 0: yes
    /* The same values give the same map, whatever was encoded meanwhile. */
    CUtensorMap before[200], after;
    int differ = 0, equal = 0;
    for (int i = 0; i < 200; i++)
        MUST((cudaError_t)matrix(&before[i], memory + i * 1024, 32, CU_TENSOR_MAP_SWIZZLE_NONE));
    for (int i = 0; i < 200; i++) {
        MUST((cudaError_t)matrix(&after, memory + i * 1024, 32, CU_TENSOR_MAP_SWIZZLE_NONE));
        differ += memcmp(&after, &before[i], sizeof(after)) != 0;
        equal += i > 0 && memcmp(&before[i], &before[i - 1], sizeof(after)) == 0;
    }
    HOLDS(differ == 0 && equal == 0); //> differ == 0 && equal == 0: yes
    printf("%d\n", matrix(&one, memory + 8, 32, CU_TENSOR_MAP_SWIZZLE_NONE));  //> 1
    printf("%d\n", matrix(&one, memory, 3, CU_TENSOR_MAP_SWIZZLE_NONE));       //> 1
    printf("%d\n", matrix(&one, memory, 32, CU_TENSOR_MAP_SWIZZLE_64B));       //> 1
    printf("%d\n", matrix(&one, memory, 512, CU_TENSOR_MAP_SWIZZLE_NONE));     //> 1
    return 0;
}
