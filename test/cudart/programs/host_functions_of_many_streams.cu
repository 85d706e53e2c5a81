// Each of many streams has host functions between its kernels, which see what came before them.
#include <atomic>

#include "show.h"

enum { STREAMS = 100, ROUNDS = 5 };

__global__ void add(int *p)
{
    ++*p;
}

static int *pinned, wrong;
static std::atomic<int> calls;

struct look {
    int stream, wanted;
};
static look looks[STREAMS][ROUNDS];

static void check(void *data)
{
    const look *l = (const look *)data;

    wrong += pinned[l->stream] != l->wanted;
    calls++;
}

int main()
{
    static cudaStream_t streams[STREAMS];
    int *p;

    MUST(cudaMallocHost(&pinned, STREAMS * 4));
    MUST(cudaMalloc(&p, STREAMS * 4));
    MUST(cudaMemset(p, 0, STREAMS * 4));
    for (int s = 0; s < STREAMS; s++)
        MUST(cudaStreamCreate(&streams[s]));
    for (int r = 0; r < ROUNDS; r++) {
        for (int s = 0; s < STREAMS; s++) {
            looks[s][r] = {s, r + 1};
            add<<<1, 1, 0, streams[s]>>>(p + s);
            MUST(cudaMemcpyAsync(pinned + s, p + s, 4, cudaMemcpyDeviceToHost, streams[s]));
            MUST(cudaLaunchHostFunc(streams[s], check, &looks[s][r]));
        }
    }
    MUST(cudaDeviceSynchronize());
    printf("%d calls, %d wrong\n", calls.load(), wrong); //> 500 calls, 0 wrong
}
