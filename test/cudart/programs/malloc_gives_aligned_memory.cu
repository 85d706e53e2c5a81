// Memory of any size begins at a multiple of 256 bytes, and no two allocations overlap.
#include "show.h"

int main()
{
    static const size_t sizes[] = {1, 100, 256, 257, 4000, 65536, 100001, 1 << 20, 3 << 20};
    const int rounds = 12, kinds = sizeof(sizes) / sizeof(sizes[0]);
    static unsigned char *p[rounds][kinds];
    bool aligned = true, own = true;

    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < kinds; i++) {
            MUST(cudaMalloc(&p[round][i], sizes[i]));
            aligned = aligned && (size_t)p[round][i] % 256 == 0;
            MUST(cudaMemset(p[round][i], round * kinds + i, sizes[i]));
        }
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < kinds; i++) {
            unsigned char ends[2];

            MUST(cudaMemcpy(&ends[0], p[round][i], 1, cudaMemcpyDeviceToHost));
            MUST(cudaMemcpy(&ends[1], p[round][i] + sizes[i] - 1, 1, cudaMemcpyDeviceToHost));
            own = own && ends[0] == round * kinds + i && ends[1] == round * kinds + i;
        }
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < kinds; i++)
            MUST(cudaFree(p[round][i]));
    HOLDS(aligned); //> aligned: yes
    HOLDS(own);     //> own: yes
}
