// Many rows are copied and set as one operation of the stream, from and to memory of any kind.
#include <vector>

#include "show.h"

enum { WIDTH = 999, PITCH = 1024, HEIGHT = 4096 };

static unsigned char value(int x, int y)
{
    return (unsigned char)(x * 7 + y * 13 + (y >> 8));
}

static int wrong(const unsigned char *p, size_t pitch, int first, int last)
{
    int count = 0;

    for (int y = first; y < last; y++)
        for (int x = 0; x < WIDTH; x++)
            count += p[y * pitch + x] != value(x, y);
    return count;
}

int main()
{
    std::vector<unsigned char> host(WIDTH * HEIGHT), back(PITCH * HEIGHT, 0xee);
    unsigned char *a, *b, *pinned, edge = 0;
    cudaStream_t stream;
    int others = 0;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            host[y * WIDTH + x] = value(x, y);
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&a, PITCH * HEIGHT));
    MUST(cudaMalloc(&b, PITCH * HEIGHT));
    MUST(cudaMallocHost(&pinned, PITCH * HEIGHT));
    MUST(cudaMemset(a, 0x55, PITCH * HEIGHT));
    MUST(cudaMemcpy2D(a, PITCH, host.data(), WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy2DAsync(b, PITCH - 1, a, PITCH, WIDTH, HEIGHT, cudaMemcpyDeviceToDevice, stream));
    MUST(cudaMemcpy2DAsync(pinned, PITCH, b, PITCH - 1, WIDTH, HEIGHT, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("%d wrong\n", wrong(pinned, PITCH, 0, HEIGHT)); //> 0 wrong
    MUST(cudaMemcpy2D(back.data(), PITCH, a, PITCH, WIDTH, HEIGHT, cudaMemcpyDefault));
    for (int y = 0; y < HEIGHT; y++)
        others += back[y * PITCH + WIDTH] != 0xee;
    printf("%d wrong, %d others\n", wrong(back.data(), PITCH, 0, HEIGHT), others); //> 0 wrong, 0 others
    MUST(cudaMemset2DAsync(a, PITCH, 9, WIDTH, HEIGHT - 1, stream));
    MUST(cudaMemcpyAsync(pinned, a, PITCH * HEIGHT, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    others = 0;
    for (int y = 0; y < HEIGHT - 1; y++) {
        for (int x = 0; x < WIDTH; x++)
            others += pinned[y * PITCH + x] != 9;
        edge |= pinned[y * PITCH + WIDTH] ^ 0x55;
    }
    printf("%d not set, %d beyond, %d in the last row\n", others, edge,
           wrong(pinned, PITCH, HEIGHT - 1, HEIGHT)); //> 0 not set, 0 beyond, 0 in the last row
}
