// The swizzle of a matrix may begin at any line of 128 bytes, which the descriptor then names.
#include "wgmma.h"

OF_MEMORY(k_k, 16, "m64n128k16.f32.f16.f16", ", 1, 1, 0, 0")
OF_MEMORY(mn_mn, 16, "m64n128k16.f32.f16.f16", ", 1, 1, 1, 1")

static int wrong_of(swizzle mode, bool mn_major, unsigned line_a, unsigned line_b)
{
    const layout plain = mn_major ? layout{mode, true, 0, 9216, 1024, 2048} : layout{mode, false, 0, 16, 1024, 32};
    layout la = plain, lb = plain;

    la.at = 128 * line_a;
    la.shifted_lines = line_a;
    lb.at = 65536 + 128 * line_b;
    lb.shifted_lines = line_b;
    return wrong({mn_major ? mn_mn : k_k, F16, F16, F32, 128, 16, mode == B128 ? 4 : mode == B64 ? 2 : 1, la, lb, false, 1,
                  {-8, 8}, {-8, 8}, NOTHING});
}

int main()
{
    need_wgmma();
    HOLDS(wrong_of(B128, false, 3, 0) == 0); //> wrong_of(B128, false, 3, 0) == 0: yes
    HOLDS(wrong_of(B128, false, 0, 5) == 0); //> wrong_of(B128, false, 0, 5) == 0: yes
    HOLDS(wrong_of(B64, false, 1, 6) == 0);  //> wrong_of(B64, false, 1, 6) == 0: yes
    HOLDS(wrong_of(B32, false, 1, 3) == 0);  //> wrong_of(B32, false, 1, 3) == 0: yes
    HOLDS(wrong_of(B128, true, 7, 2) == 0);  //> wrong_of(B128, true, 7, 2) == 0: yes
    HOLDS(wrong_of(B64, true, 3, 1) == 0);   //> wrong_of(B64, true, 3, 1) == 0: yes
}
