// A device that is reset reaches the pinned memory of another at once, at the host's address, however much it had
// reached before: what the device lets go of takes longer than a moment.
#include "devices.h"

enum { BLOCKS = 200, COUNT = 1024, RESETS = 3 };

static int wrong(int *const *pinned, int value)
{
    int found = 0;

    for (int i = 0; i < BLOCKS; i++) {
        for (int j = 0; j < COUNT; j++)
            found += pinned[i][j] != value + i + j;
    }
    return found;
}

static void fill_all(int *const *pinned, int value)
{
    for (int i = 0; i < BLOCKS; i++)
        fill<<<COUNT / 256, 256>>>(pinned[i], value + i, COUNT);
    MUST(cudaDeviceSynchronize());
}

int main()
{
    int *pinned[BLOCKS];

    reach_needed();
    for (int i = 0; i < BLOCKS; i++)
        MUST(cudaMallocHost(&pinned[i], COUNT * sizeof(int)));
    MUST(cudaSetDevice(1));
    fill_all(pinned, 0);
    printf("%d wrong\n", wrong(pinned, 0)); //> 0 wrong
    for (int i = 1; i <= RESETS; i++) {
        MUST(cudaDeviceReset());
        fill_all(pinned, i * 1000);
        printf("%d wrong\n", wrong(pinned, i * 1000)); //> 0 wrong
    } //> 0 wrong
    //> 0 wrong
}
