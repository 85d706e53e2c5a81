/*
 * hello.c - the shortest complete program: attach, load a kernel, launch it, read the result.
 *
 *     gshared -d
 *     cc hello.c $(pkg-config --cflags --libs gshare) -o hello && ./hello
 */
#include <gshare.h>
#include <stdio.h>
#include <stdlib.h>

/* out[i] = i * i, as nvcc or clang would compile it. */
static const char ptx[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                          ".visible .entry square(.param .u64 out)\n"
                          "{\n"
                          "    .reg .b32 %r<5>;\n"
                          "    .reg .b64 %rd<5>;\n"
                          "    ld.param.u64        %rd1, [out];\n"
                          "    cvta.to.global.u64  %rd2, %rd1;\n"
                          "    mov.u32             %r1, %ctaid.x;\n"
                          "    mov.u32             %r2, %ntid.x;\n"
                          "    mov.u32             %r3, %tid.x;\n"
                          "    mad.lo.s32          %r4, %r1, %r2, %r3;\n"
                          "    mul.wide.u32        %rd3, %r4, 4;\n"
                          "    add.s64             %rd4, %rd2, %rd3;\n"
                          "    mul.lo.s32          %r4, %r4, %r4;\n"
                          "    st.global.u32       [%rd4], %r4;\n"
                          "    ret;\n"
                          "}\n";

static void check(gs_status status)
{
    if (status != GS_OK) {
        fprintf(stderr, "hello: %s: %s\n", gs_status_name(status), gs_last_error_message());
        exit(1);
    }
}

int main(void)
{
    enum { N = 1024 };
    unsigned squares[N];
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(N / 128, 128);
    gs_session session;
    gs_module module;
    gs_kernel square;
    gs_devptr out;

    check(gs_attach(NULL, &session));
    check(gs_module_load(session, ptx, 0, &module));
    check(gs_kernel_get(module, "square", &square));
    check(gs_malloc(session, sizeof(squares), &out));
    check(gs_launch(NULL, square, &config, (void *[]){&out}));
    check(gs_memcpy_dtoh(session, squares, out, sizeof(squares)));
    check(gs_detach(session));
    printf("%d squares, from %u to %u\n", N, squares[0], squares[N - 1]);
    return squares[N - 1] == (N - 1) * (N - 1) ? 0 : 1;
}
