// An event that is recorded anew has the time of the latest record, though an earlier one, in another stream, is
// reached later. One that was destroyed before it was reached takes no time from the events that come after it.
#include <atomic>
#include <thread>
#include "show.h"

static std::atomic<bool> go_on;

__global__ void wait_for(const volatile int *flag)
{
    while (!*flag)
        ;
}

__global__ void nothing()
{
}

static void CUDART_CB block(void *)
{
    while (!go_on)
        std::this_thread::yield();
}

// The milliseconds from one event to another, both recorded now.
static float measure(cudaEvent_t begin, cudaEvent_t end, cudaStream_t stream)
{
    float ms = -1;

    MUST(cudaEventRecord(begin, stream));
    nothing<<<1, 1, 0, stream>>>();
    MUST(cudaEventRecord(end, stream));
    MUST(cudaEventSynchronize(end));
    MUST(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

static bool is_the_same(cudaEvent_t begin, cudaEvent_t end, float before)
{
    float ms = -1;

    MUST(cudaEventElapsedTime(&ms, begin, end));
    return ms == before && ms >= 0;
}

// Records what is recorded anew, and what is destroyed, in a stream that is held up, and then measures in another.
static bool holds(cudaStream_t held, cudaStream_t other, void (*let_go)(int *), int *flag)
{
    cudaEvent_t begin, end, gone, second[2];
    float first_ms, second_ms;
    bool same;

    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    MUST(cudaEventRecord(begin, held));
    MUST(cudaEventCreate(&gone));
    MUST(cudaEventRecord(gone, held));
    MUST(cudaEventDestroy(gone));
    MUST(cudaEventCreate(&second[0]));
    MUST(cudaEventCreate(&second[1]));
    first_ms = measure(begin, end, other);
    second_ms = measure(second[0], second[1], other);
    let_go(flag);
    MUST(cudaStreamSynchronize(held));
    same = is_the_same(begin, end, first_ms) && is_the_same(second[0], second[1], second_ms);
    for (cudaEvent_t event : {begin, end, second[0], second[1]})
        MUST(cudaEventDestroy(event));
    return same;
}

int main()
{
    cudaStream_t held, other;
    int *flag;

    MUST(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaHostAlloc(&flag, sizeof(*flag), cudaHostAllocMapped));
    *flag = 0;
    nothing<<<1, 1, 0, other>>>();
    MUST(cudaDeviceSynchronize());

    MUST(cudaLaunchHostFunc(held, block, nullptr));
    printf("behind a host function: %d\n", //> behind a host function: 1
           holds(held, other, [](int *) { go_on = true; }, flag));
    wait_for<<<1, 1, 0, held>>>(flag);
    printf("behind a kernel: %d\n", //> behind a kernel: 1
           holds(held, other, [](int *at) { *(volatile int *)at = 1; }, flag));
}
