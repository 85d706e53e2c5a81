// A device that a pool has given access reaches the pool's memory by kernels and copies: what was allocated
// before and after, large and small, until the access is taken away. Other memory of the pool's device it
// does not reach.
#include "devices.h"

enum { LARGE = 1 << 20, SMALL = 100 };

__global__ void add(int *to, const int *from, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        to[i] += from[i];
}

static cudaStream_t stream[2];
static cudaEvent_t event[2];

static void follow(int d)
{
    MUST(cudaEventRecord(event[1 - d], stream[1 - d]));
    MUST(cudaStreamWaitEvent(stream[d], event[1 - d], 0));
}

static int wrong(const int *at, int value, int step, int count)
{
    int *words = (int *)malloc(count * sizeof(int)), found = 0;

    MUST(cudaMemcpy(words, at, count * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < count; i++)
        found += words[i] != value + step * i;
    free(words);
    return found;
}

// Device 1 reads and writes memory of device 0's pool.
static void reach(int *pooled, int *own, int count)
{
    fill<<<(count + 255) / 256, 256, 0, stream[0]>>>(pooled, 7, count);
    follow(1);
    fill<<<(count + 255) / 256, 256, 0, stream[1]>>>(own, 1000, count);
    add<<<(count + 255) / 256, 256, 0, stream[1]>>>(own, pooled, count);
    add<<<(count + 255) / 256, 256, 0, stream[1]>>>(pooled, own, count);
    MUST(cudaMemcpyAsync(own, pooled, count * sizeof(int), cudaMemcpyDefault, stream[1]));
    follow(0);
    add<<<(count + 255) / 256, 256, 0, stream[0]>>>(pooled, pooled, count);
    follow(1);
    MUST(cudaStreamSynchronize(stream[1]));
    printf("%d, %d wrong\n", wrong(own, 1014, 3, count), wrong(pooled, 2028, 6, count));
}

int main()
{
    int *own, *large, *small, *plain, can = 0;
    cudaMemPoolProps props = {};
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
    cudaMemAccessFlags flags;
    cudaMemPool_t pools[2];
    cudaPointerAttributes about;

    two_needed();
    MUST(cudaDeviceCanAccessPeer(&can, 1, 0));
    if (!can) {
        printf("no peer access\n");
        exit(77);
    }
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaEventCreateWithFlags(&event[d], cudaEventDisableTiming));
    }
    MUST(cudaMalloc(&own, LARGE * sizeof(int))); // of device 1
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    MUST(cudaDeviceGetDefaultMemPool(&pools[0], 0));
    MUST(cudaMemPoolCreate(&pools[1], &props));
    for (int p = 0; p < 2; p++) {
        MUST(cudaMallocFromPoolAsync(&large, LARGE * sizeof(int), pools[p], stream[0]));
        MUST(cudaMallocFromPoolAsync(&small, SMALL * sizeof(int), pools[p], stream[0]));
        MUST(cudaMemPoolSetAccess(pools[p], &access, 1));
        MUST(cudaMemPoolGetAccess(&flags, pools[p], &access.location));
        printf("access %d\n", flags);
        reach(large, own, LARGE);
        reach(small, own, SMALL);
        for (int i = 0; i < 4; i++) {
            MUST(cudaFreeAsync(i % 2 ? large : small, stream[i % 2]));
            if (i % 2)
                MUST(cudaMallocFromPoolAsync(&large, (LARGE - i) * sizeof(int), pools[p], stream[0]));
            else
                MUST(cudaMallocFromPoolAsync(&small, (SMALL + i) * sizeof(int), pools[p], stream[0]));
            MUST(cudaStreamSynchronize(stream[0]));
        }
        reach(large, own, LARGE - 3);
        reach(small, own, SMALL);
        MUST(cudaPointerGetAttributes(&about, large));
        printf("device %d\n", about.device);
        MUST(cudaFreeAsync(large, stream[0]));
        MUST(cudaFreeAsync(small, stream[1]));
    }
    //> access 3
    //> 0, 0 wrong
    //> 0, 0 wrong
    //> 0, 0 wrong
    //> 0, 0 wrong
    //> device 0
    //> access 3
    //> 0, 0 wrong
    //> 0, 0 wrong
    //> 0, 0 wrong
    //> 0, 0 wrong
    //> device 0

    // Access to a pool is not access to what cudaMalloc has allocated, nor the other way round.
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc(&plain, SMALL * sizeof(int)));
    SHOW(cudaMemsetAsync(plain, 0, SMALL * sizeof(int), stream[1])); //> cudaMemsetAsync(plain, 0, SMALL * sizeof(int), stream[1]): cudaErrorInvalidValue
    access.flags = cudaMemAccessFlagsProtNone;
    for (int p = 0; p < 2; p++) {
        MUST(cudaMemPoolSetAccess(pools[p], &access, 1));
        MUST(cudaMemPoolGetAccess(&flags, pools[p], &access.location));
        printf("access %d\n", flags);
    }
    //> access 0
    //> access 0
    access.location.id = 0;
    SHOW(cudaMemPoolSetAccess(pools[1], &access, 1)); //> cudaMemPoolSetAccess(pools[1], &access, 1): cudaErrorInvalidDevice
    access.location.id = 1000;
    SHOW(cudaMemPoolSetAccess(pools[1], &access, 1)); //> cudaMemPoolSetAccess(pools[1], &access, 1): cudaErrorInvalidDevice
    SHOW(cudaMemPoolDestroy(pools[1])); //> cudaMemPoolDestroy(pools[1]): cudaSuccess
    MUST(cudaMemPoolCreate(&pools[1], &props)); // may have the number of the one that has ended
    access.location.id = 1;
    MUST(cudaMemPoolGetAccess(&flags, pools[1], &access.location));
    printf("access %d\n", flags); //> access 0
}
