// The lanes of a warp that a lock has kept apart are together again behind a block's barrier and a
// warp's: each instruction is then done by all of them before the next, as Kokkos 3 counts on when
// it adds up a warp's values.
#include "show.h"

enum { THREADS = 256, BLOCKS = 64, LOCKS = 16, ROUNDS = 20 };

__device__ int locks[LOCKS];

__device__ void take_a_turn(int lock)
{
    for (bool done = false; !done;) {
        if (atomicCAS(&locks[lock], 0, 1) == 0) {
            __threadfence();
            atomicExch(&locks[lock], 0);
            done = true;
        }
    }
}

// All lanes load before any of them stores.
__device__ void add_up(volatile long *at, int lane)
{
    for (int step = 1; step < 32; step *= 2) {
        if (lane + step < 32) {
            long sum = at[0] + at[step];

            at[0] = sum;
        }
        __syncwarp();
    }
}

__global__ void count(int *wrong)
{
    __shared__ long values[THREADS];
    const int lane = threadIdx.x % 32;

    for (int i = 0; i < ROUNDS; i++) {
        take_a_turn((threadIdx.x + i) % LOCKS);
        values[threadIdx.x] = 1;
        __syncthreads();
        add_up(&values[threadIdx.x], lane);
        if (lane == 0 && values[threadIdx.x] != 32)
            atomicAdd(wrong, 1);
        take_a_turn(lane % LOCKS);
        __syncwarp();
        values[threadIdx.x] = 1;
        __syncwarp();
        add_up(&values[threadIdx.x], lane);
        if (lane == 0 && values[threadIdx.x] != 32)
            atomicAdd(wrong, 1);
    }
}

int main()
{
    int *wrong, found = -1;

    MUST(cudaMalloc(&wrong, sizeof(*wrong)));
    MUST(cudaMemset(wrong, 0, sizeof(*wrong)));
    count<<<BLOCKS, THREADS>>>(wrong);
    MUST(cudaMemcpy(&found, wrong, sizeof(found), cudaMemcpyDeviceToHost));
    printf("%d wrong\n", found); //> 0 wrong
}
