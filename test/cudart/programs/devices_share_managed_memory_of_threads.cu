// Threads with a device each use halves of the same managed memory at the same time.
#include <thread>

#include "devices.h"

enum { HALF = 100000, ROUNDS = 20 };

__managed__ int rounds[2];

__global__ void add(int *at, int count, int device)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        at[i]++;
    if (threadIdx.x == 0)
        rounds[device]++;
}

static int work(int device, int *half)
{
    int found = 0;

    MUST(cudaSetDevice(device));
    for (int round = 0; round < ROUNDS; round++) {
        add<<<1, 256>>>(half, HALF, device);
        MUST(cudaDeviceSynchronize());
        for (int i = 0; i < HALF; i += 500)
            found += half[i]++ != 2 * round + 1;
    }
    for (int i = 0; i < HALF; i++)
        found += half[i] != ROUNDS + (i % 500 == 0 ? ROUNDS : 0);
    return found;
}

int main()
{
    int *memory, wrong[2];

    reach_needed();
    MUST(cudaMallocManaged(&memory, 2 * HALF * sizeof(int)));
    MUST(cudaMemset(memory, 0, 2 * HALF * sizeof(int)));
    MUST(cudaDeviceSynchronize());
    std::thread first([&] { wrong[0] = work(0, memory); });
    std::thread second([&] { wrong[1] = work(1, memory + HALF); });
    first.join();
    second.join();
    printf("%d %d wrong, %d %d rounds\n", wrong[0], wrong[1], rounds[0], rounds[1]); //> 0 0 wrong, 20 20 rounds
}
