// Kernels reach memory of the program's own that is registered, at the address that cudaHostGetDevicePointer tells, and
// cudaPointerGetAttributes of memory that was registered to be mapped. What lies beside it in its pages stays the program's,
// in other threads and in a child of a fork too.
#include "show.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void add(int *p, int n, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] += value;
}

static int sum(const int *p, int n)
{
    int all = 0;

    for (int i = 0; i < n; i++)
        all += p[i];
    return all;
}

int main()
{
    const int n = 100000;
    std::vector<int> memory(n, 1);
    cudaPointerAttributes attributes;
    int *there, *inside, status = 0;
    pid_t child;

    MUST(cudaHostRegister(memory.data(), n * sizeof(int), cudaHostRegisterMapped));
    MUST(cudaPointerGetAttributes(&attributes, memory.data()));
    MUST(cudaHostGetDevicePointer((void **)&there, memory.data(), 0));
    HOLDS(attributes.devicePointer == there); //> attributes.devicePointer == there: yes
    add<<<8, 128>>>(there, n, 2);
    MUST(cudaDeviceSynchronize());
    printf("%d\n", sum(memory.data(), n)); //> 300000
    memory[n / 2] = 1000;
    MUST(cudaHostGetDevicePointer((void **)&inside, memory.data() + n / 2, 0));
    HOLDS(inside == there + n / 2); //> inside == there + n / 2: yes
    MUST(cudaPointerGetAttributes(&attributes, memory.data() + 5));
    HOLDS(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == there + 5); //> attributes.type == cudaMemoryTypeHost && attributes.devicePointer == there + 5: yes
    MUST(cudaPointerGetAttributes(&attributes, there + 5));
    HOLDS(attributes.type == cudaMemoryTypeHost); //> attributes.type == cudaMemoryTypeHost: yes
    HOLDS(attributes.hostPointer == memory.data() + 5); //> attributes.hostPointer == memory.data() + 5: yes
    add<<<1, 1>>>(inside, 1, 5);
    MUST(cudaDeviceSynchronize());
    printf("%d\n", memory[n / 2]); //> 1005

    fflush(stdout);
    child = fork();
    if (child == 0) {
        bool same = memory[0] == 3 && memory[n / 2] == 1005;
        memory[0] = 77;
        _exit(same ? 7 : 8);
    }
    waitpid(child, &status, 0);
    printf("%d %d\n", WEXITSTATUS(status), memory[0]); //> 7 3

    SHOW(cudaHostUnregister(memory.data())); //> cudaHostUnregister(memory.data()): cudaSuccess
    SHOW(cudaHostGetDevicePointer((void **)&there, memory.data(), 0)); //> cudaHostGetDevicePointer((void **)&there, memory.data(), 0): cudaErrorInvalidValue
    cudaGetLastError();
    memory[n / 2] -= 1002;
    memory.push_back(3);
    printf("%d\n", sum(memory.data(), n + 1)); //> 300003

    /* A part of pages that another thread uses. */
    int *pages = (int *)aligned_alloc(4096, 5 * 4096), turns = 0;
    std::atomic<bool> stop{false};
    std::atomic<int> counted{0};
    volatile int *first = pages + 3, *last = pages + 5 * 1024 - 3;

    memset(pages, 0, 5 * 4096);
    std::thread beside([&] {
        while (!stop) {
            *first = *first + 1;
            *last = *last + 1;
            counted++;
        }
    });
    for (; turns < 200 || counted < 1000; turns++) {
        MUST(cudaHostRegister(pages + 100, 4 * 4096, cudaHostRegisterDefault));
        MUST(cudaHostGetDevicePointer((void **)&there, pages + 100, 0));
        add<<<1, 128>>>(there, 4096, 1);
        MUST(cudaDeviceSynchronize());
        MUST(cudaHostUnregister(pages + 100));
    }
    stop = true;
    beside.join();
    HOLDS(*first == counted && *last == counted);          //> *first == counted && *last == counted: yes
    HOLDS(sum(pages + 100, 4096) == 4096 * turns);         //> sum(pages + 100, 4096) == 4096 * turns: yes
    HOLDS(pages[99] == 0 && pages[100 + 4096] == 0);       //> pages[99] == 0 && pages[100 + 4096] == 0: yes
    free(pages);
}
