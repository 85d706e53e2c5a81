// Each thread works on its device and resets it, again and again; the other's work is not touched.
#include <pthread.h>
#include "devices.h"

enum { ROUNDS = 30, COUNT = 4096 };

static int wrong[2];

static void round_of(int d, int value)
{
    int *at, *managed, *pinned;
    cudaStream_t stream;

    MUST(cudaMalloc(&at, COUNT * sizeof(int)));
    MUST(cudaMallocManaged(&managed, COUNT * sizeof(int)));
    MUST(cudaMallocHost(&pinned, COUNT * sizeof(int)));
    MUST(cudaStreamCreate(&stream));
    fill<<<COUNT / 256, 256, 0, stream>>>(at, value, COUNT);
    fill<<<COUNT / 256, 256, 0, stream>>>(managed, value + 1, COUNT);
    MUST(cudaMemcpyAsync(pinned, at, COUNT * sizeof(int), cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++)
        wrong[d] += pinned[i] != value + i || managed[i] != value + 1 + i;
}

static void *work(void *number)
{
    const int d = *(int *)number;

    MUST(cudaSetDevice(d));
    for (int i = 0; i < ROUNDS; i++) {
        round_of(d, 1000 * i + d);
        if (i % 3 == d)
            MUST(cudaDeviceReset());
    }
    return nullptr;
}

int main()
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};

    two_needed();
    for (int d = 0; d < 2; d++)
        pthread_create(&threads[d], nullptr, work, &numbers[d]);
    for (int d = 0; d < 2; d++)
        pthread_join(threads[d], nullptr);
    printf("%d %d\n", wrong[0], wrong[1]); //> 0 0
}
