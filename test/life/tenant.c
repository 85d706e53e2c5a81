/* A tenant for test/package, test/systemd and test/container: it launches once for each line that
 * it reads, and prints how often it has, until its input ends. */
#include <gshare.h>
#include <stdio.h>

int main(void)
{
    static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry one(.param .u64 p) { .reg .u64 %a; .reg .u32 %v;\n"
                              "ld.param.u64 %a, [p]; ld.global.u32 %v, [%a]; add.u32 %v, %v, 1;\n"
                              "st.global.u32 [%a], %v; ret; }\n";
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_session s;
    gs_module m;
    gs_kernel one;
    gs_devptr p;
    unsigned value;
    char line[16];

    if (gs_attach(NULL, &s) || gs_module_load(s, ptx, 0, &m) || gs_kernel_get(m, "one", &one) ||
        gs_malloc(s, 4, &p))
        return fprintf(stderr, "%s\n", gs_last_error_message()), 1;
    do {
        if (gs_launch(NULL, one, &config, (void *[]){&p}) || gs_memcpy_dtoh(s, &value, p, 4))
            return fprintf(stderr, "%s\n", gs_last_error_message()), 1;
        printf("%u\n", value);
        fflush(stdout);
    } while (fgets(line, sizeof(line), stdin));
    return gs_detach(s) != GS_OK;
}
