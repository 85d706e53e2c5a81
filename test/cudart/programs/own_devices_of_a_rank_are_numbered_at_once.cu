// In a job of MPI, threads that begin together and have chosen no device all have the rank's, with the limits
// that the program has set before.
#include <pthread.h>
#include "devices.h"

enum { THREADS = 8 };

static pthread_barrier_t barrier;
static int number[THREADS];

static void *begin(void *at)
{
    cudaPointerAttributes attributes = {};
    void *memory = nullptr;

    pthread_barrier_wait(&barrier);
    MUST(cudaMalloc(&memory, 4096));
    MUST(cudaPointerGetAttributes(&attributes, memory));
    *(int *)at = attributes.device;
    return nullptr;
}

int main()
{
    pthread_t threads[THREADS];
    int wrong = 0, current = -1;
    size_t limit = 0;

    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
    MUST(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    pthread_barrier_init(&barrier, nullptr, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], nullptr, begin, &number[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], nullptr);
    for (int i = 0; i < THREADS; i++)
        wrong += number[i] != 1;
    two_needed();
    printf("%d wrong\n", wrong); //> 0 wrong
    MUST(cudaGetDevice(&current));
    printf("%d\n", current); //> 1
    MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    printf("%zu\n", limit); //> 67108864
}
