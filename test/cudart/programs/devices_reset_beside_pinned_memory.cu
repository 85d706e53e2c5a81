// A device is reset, again and again, while another thread has the other device join what is pinned. Afterwards
// the other device reaches what the reset one pins anew, at whichever addresses.
#include <atomic>
#include <thread>
#include "devices.h"

enum { ROUNDS = 40, BLOCKS = 24, EACH = 8, SIZE = 65536 };

static std::atomic<bool> stop;

__global__ void get(const int *at, int *out)
{
    *out = *at;
}

static void pin_again_and_again()
{
    int *pinned;

    MUST(cudaSetDevice(1));
    while (!stop) {
        MUST(cudaMallocHost(&pinned, SIZE));
        MUST(cudaFreeHost(pinned));
    }
}

int main()
{
    int *out, *pinned[BLOCKS], got, right = 0;

    reach_needed();
    MUST(cudaSetDevice(1));
    MUST(cudaMallocHost(&pinned[0], SIZE));
    MUST(cudaMalloc(&out, sizeof(*out)));
    get<<<1, 1>>>(pinned[0], out);
    MUST(cudaDeviceSynchronize());

    std::thread other(pin_again_and_again);
    MUST(cudaSetDevice(0));
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < EACH; j++)
            MUST(cudaMallocHost(&pinned[j], SIZE));
        MUST(cudaDeviceReset());
    }
    stop = true;
    other.join();

    for (int i = 0; i < BLOCKS; i++) {
        MUST(cudaMallocHost(&pinned[i], SIZE));
        *pinned[i] = 1000 + i;
    }
    MUST(cudaSetDevice(1));
    for (int i = 0; i < BLOCKS; i++) {
        get<<<1, 1>>>(pinned[i], out);
        MUST(cudaMemcpy(&got, out, sizeof(got), cudaMemcpyDeviceToHost));
        right += got == 1000 + i;
    }
    printf("%d right\n", right); //> 24 right
}
