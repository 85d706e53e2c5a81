// Descriptors tell where the elements of matrices lie in shared memory: each swizzle, stored along their depth or across it.
#include "wgmma.h"

enum { N = 128, DEPTH = 16 };

OF_MEMORY(k_k, 16, "m64n128k16.f32.f16.f16", ", 1, 1, 0, 0")
OF_MEMORY(mn_k, 16, "m64n128k16.f32.f16.f16", ", 1, 1, 1, 0")
OF_MEMORY(k_mn, 16, "m64n128k16.f32.f16.f16", ", 1, 1, 0, 1")
OF_MEMORY(mn_mn, 16, "m64n128k16.f32.f16.f16", ", 1, 1, 1, 1")

/* The steps that one line of the pattern has room for. */
static int steps_of(swizzle mode)
{
    return mode == B128 ? 4 : mode == B64 ? 2 : 1;
}

/* Patterns follow each other with gaps: 8 lines of them take at most 1,024 bytes. */
static layout layout_of(swizzle mode, bool mn_major, unsigned at)
{
    if (mode == NONE)
        return {NONE, mn_major, at, 8192, 256, 16384};
    return mn_major ? layout{mode, true, at, 9216, 1024, 2048} : layout{mode, false, at, 16, 1024, 32};
}

static int wrong_of(swizzle a, bool a_mn, swizzle b, bool b_mn)
{
    const int steps = steps_of(a) < steps_of(b) ? steps_of(a) : steps_of(b);
    const product p = {a_mn ? b_mn ? mn_mn : mn_k : b_mn ? k_mn : k_k,
                       F16,
                       F16,
                       F32,
                       N,
                       DEPTH,
                       steps,
                       layout_of(a, a_mn, 0),
                       layout_of(b, b_mn, 65536),
                       false,
                       1,
                       {-8, 8},
                       {-8, 8},
                       NOTHING};

    return wrong(p);
}

/* Both factors alike, and each as the other is not. */
static int wrong_of_all(swizzle mode)
{
    int n = 0;

    for (int i = 0; i < 4; i++)
        n += wrong_of(mode, i & 1, mode, i & 2);
    return n;
}

int main()
{
    need_wgmma();
    HOLDS(wrong_of_all(NONE) == 0);                 //> wrong_of_all(NONE) == 0: yes
    HOLDS(wrong_of_all(B32) == 0);                  //> wrong_of_all(B32) == 0: yes
    HOLDS(wrong_of_all(B64) == 0);                  //> wrong_of_all(B64) == 0: yes
    HOLDS(wrong_of_all(B128) == 0);                 //> wrong_of_all(B128) == 0: yes
    HOLDS(wrong_of(B128, false, NONE, true) == 0);  //> wrong_of(B128, false, NONE, true) == 0: yes
    HOLDS(wrong_of(B32, true, B64, false) == 0);    //> wrong_of(B32, true, B64, false) == 0: yes
}
