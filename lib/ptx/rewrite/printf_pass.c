/* The pass over a module that prints: its calls of CUDA's vprintf and __assertfail go to functions
 * of gshare (print_device.cu), which leave a record in memory that the tenant reads (redirect.h).
 * After an assertion was printed, trap_pass.c ends the thread; where that pass does not apply, the
 * driver's __assertfail ends the context. */
#include "ptx/printf_pass.h"

#include "common/embed.h"
#include "ptx/rewrite/redirect.h"

EMBED_TEXT(print_device_ptx, PTX_FILE)

static const struct redirect redirects[] = {
    {"vprintf", "gshare$vprintf"},
    {"__assertfail", "gshare$assertfail"},
};
/* For modules in which trap_pass.c ends the thread behind the call. */
static const struct redirect redirects_trapped[] = {
    {"vprintf", "gshare$vprintf"},
    {"__assertfail", "gshare$assertprint"},
};
enum { REDIRECTS = sizeof(redirects) / sizeof(redirects[0]) };

/* The driver's own function ends the kernel, so CUDA's own error is reported. */
#define ASSERT_PARAMS(c)                                                                           \
    "(.param .b64 " c "0, .param .b64 " c "1, .param .b32 " c "2, .param .b64 " c                  \
    "3, .param .b64 " c "4)"
static const char assertfail_text[] = "\n.extern .func __assertfail " ASSERT_PARAMS(
    "a") ";"
         "\n.visible .func gshare$assertfail " ASSERT_PARAMS(
             "b") "\n{ .reg .b32 %r; .reg .b64 %rd<4>;"
                  "\nld.param.b64 %rd0, [b0]; ld.param.b64 %rd1, [b1]; ld.param.b32 %r, [b2];"
                  "\nld.param.b64 %rd2, [b3]; ld.param.b64 %rd3, [b4];"
                  "\ncall gshare$assertprint, (%rd0, %rd1, %r, %rd2, %rd3);"
                  "\ncall __assertfail, (%rd0, %rd1, %r, %rd2, %rd3); trap; }\n";

bool printf_pass_maybe(const char *ptx, size_t len)
{
    return redirect_maybe(ptx, len, redirects, REDIRECTS);
}

static bool run(struct rewrite *rw)
{
    const bool trapped = trap_pass_serves(rw);

    rw->report->prints =
        redirect_run(rw, trapped ? redirects_trapped : redirects, REDIRECTS, print_device_ptx);
    if (!trapped)
        edits_insert(&rw->edits, rw->len, assertfail_text);
    return rw->report->prints;
}

static void dropped(struct rewrite *rw)
{
    rw->report->prints = false;
}

const struct pass printf_pass_rules = {
    .bit = PTX_PASS_PRINTF, .maybe = printf_pass_maybe, .run = run, .dropped = dropped};
