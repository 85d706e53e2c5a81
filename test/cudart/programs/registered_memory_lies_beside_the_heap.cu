// Memory is registered, reached and unregistered while another thread allocates beside it, in the same pages and from the
// same arena of malloc, whose lock that thread has when it writes there.
#include "show.h"

#include <atomic>
#include <malloc.h>
#include <thread>

__global__ void add(int *p, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] += value;
}

int main()
{
    const int buffers = 8, n = 2300; // none is whole pages
    int *memory[buffers], *there, turns = 0;
    void *hole[buffers];
    std::atomic<bool> stop{false}, whole{true};
    std::atomic<int> allocated{0};

    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 24);
    for (int i = 0; i < buffers; i++) {
        memory[i] = (int *)calloc(n, sizeof(int));
        hole[i] = malloc(7000);
    }
    for (void *one : hole)
        free(one);

    std::thread beside([&] {
        unsigned next = 1;

        while (!stop) {
            unsigned char *kept[24];
            unsigned size[24];

            for (int i = 0; i < 24; i++) {
                next = next * 1103515245 + 12345;
                size[i] = 1100 + next / 65536 % 2000; // larger than what a thread keeps of its own
                kept[i] = (unsigned char *)malloc(size[i]);
                memset(kept[i], i, size[i]);
            }
            for (int i = 0; i < 24; i++) {
                if (kept[i][0] != i || kept[i][size[i] - 1] != i)
                    whole = false;
                free(kept[i]);
            }
            allocated++;
        }
    });
    for (; turns < 100 || allocated < 100; turns++) {
        for (int *one : memory) {
            MUST(cudaHostRegister(one, n * sizeof(int), cudaHostRegisterDefault));
            MUST(cudaHostGetDevicePointer((void **)&there, one, 0));
            add<<<1, 128>>>(there, n, 1);
            MUST(cudaDeviceSynchronize());
            MUST(cudaHostUnregister(one));
        }
    }
    stop = true;
    beside.join();
    HOLDS(whole); //> whole: yes
    for (int *one : memory) {
        for (int i = 0; i < n; i++)
            whole = whole && one[i] == turns;
        free(one);
    }
    HOLDS(whole); //> whole: yes
}
