/* Random valid modules (test/fuzz/write_program.c: loops, calls, recursion, indirect calls, generic
 * pointers to all spaces, atomics, matrices, textures) behind the fence, alone and beside the other
 * passes, with random pointers: none leaves the window.
 *
 *   GS_FENCE_PROGRAMS=100000 test_ptx_fence_random      more of them than `make test` runs */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence_rig.h"
#include "fuzz/write_program.h"
#include "ptx/ptx.h"
#include "softcuda/lower/program.h"
#include "softcuda/memory/view.h"

enum { BYTES = 400, PARAMS = 6 };

static struct fence_rig rig;
static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Drops lines until the reader and the lowering take the program. */
static char *write_valid(struct program *p)
{
    uint8_t data[BYTES];
    uint32_t line = 1;

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(random_u64() >> 24);
    program_write(p, data, sizeof(data));
    do {
        struct ptx_module *m = NULL;
        struct exec_program *program = NULL;
        struct ptx_error error = {0};
        size_t length;
        char *text = program_text(p, &length), log[256] = "";
        bool bad = true;

        if (ptx_parse(text, length, &m, &error))
            line = error.line;
        else if (exec_program_new(m, &program, log, sizeof(log)) || log[0])
            bad = sscanf(log, "%*[^,], line %u:", &line) == 1;
        else
            bad = false;
        exec_program_free(program);
        ptx_module_free(m);
        if (!bad)
            return text;
        free(text);
    } while (program_drop(p, line));
    return NULL;
}

/* Drops what the fence refuses. NULL: it belongs to the frame. */
static char *write_fenced(struct program *p, unsigned passes, struct ptx_rewrite_report *report,
                          unsigned *refused)
{
    unsigned line = 0;
    char *text = write_valid(p), *out = NULL;
    size_t len;
    int result;

    while (text) {
        memset(report, 0, sizeof(*report));
        result = ptx_rewrite(text, strlen(text), passes, &out, &len, report);
        free(text);
        if (!result)
            return out;
        assert_int_equal(result, -EPERM);
        assert_string_not_equal(report->fence.reason, "");
        if (strstr(report->fence.reason, "verified") || strstr(report->fence.reason, "fences:"))
            fail_msg("%s", report->fence.reason);
        if (sscanf(report->fence.reason, "line %u:", &line) != 1 || !program_drop(p, line)) {
            ptx_rewrite_report_deinit(report);
            return NULL;
        }
        ptx_rewrite_report_deinit(report);
        ++*refused;
        text = program_text(p, &len);
    }
    return NULL;
}

/* Into the window, at its ends, into other spaces, wild. */
static uint64_t any_pointer(void)
{
    uint64_t r = random_u64(), low = r >> 20 & 0xfffff0;

    switch (r % 8) {
    case 0:
        return r;
    case 1:
        return rig.base - 16 + (r >> 8 & 1) * rig.size;
    case 2:
        return MEM_SHARED_WINDOW + (low & 0xf0);
    case 3:
        return MEM_LOCAL_WINDOW + (low & 0x30);
    case 4:
        return rig.base + 3 * rig.size + low;
    default:
        return rig.base + low;
    }
}

static void random_programs_stay_inside(void **state)
{
    static const unsigned passes[] = {
        PTX_PASS_FENCE, PTX_PASS_FENCE | PTX_PASS_PRINTF,
        PTX_PASS_FENCE | PTX_PASS_PRINTF | PTX_PASS_COMPLETION | PTX_PASS_GRID | PTX_PASS_WINDOW,
        PTX_PASS_FENCE | PTX_PASS_PRINTF | PTX_PASS_COMPLETION | PTX_PASS_STRAYS | PTX_PASS_WINDOW};
    static struct program p;
    const char *wanted = getenv("GS_FENCE_PROGRAMS");
    unsigned count = wanted ? (unsigned)atoi(wanted) : 400, ran = 0, refused = 0, whole = 0;
    uint32_t columns = 0;

    (void)state;
    for (unsigned i = 0; i < count; i++) {
        struct ptx_rewrite_report report;
        uint64_t params[PARAMS];
        char *text = write_fenced(&p, passes[i % 4], &report, &refused);
        enum fence_end end;

        if (!text)
            continue;
        for (unsigned k = 0; k < PARAMS; k++)
            params[k] = any_pointer();
        end = fence_rig_run(&rig, text, &report.fence, 2, 32 + i % 3 * 16, params, PARAMS);
        fence_rig_clear(&rig);
        if (end == FENCE_ESCAPED)
            fail_msg("program %u: %s\n%s", i, rig.what, text);
        assert_int_not_equal(end, FENCE_REFUSED);
        ran++;
        whole += !rig.faults;
        columns |= rig.columns;
        ptx_rewrite_report_deinit(&report);
        free(text);
    }
    print_message("%u of %u programs ran, %u without a fault; %u lines refused; textures of %d "
                  "geometries\n",
                  ran, count, whole, refused, __builtin_popcount(columns));
    assert_true(ran > count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_stay_inside)};
    int failed;

    fence_rig_init(&rig);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    fence_rig_deinit(&rig);
    return failed;
}
