/* Rewrites a tenant's PTX before it is compiled: chosen passes over one module, in a fixed order,
 * its text read once and written once.
 *
 * Passes do not change the IR. They record edits against the source text, so that what no pass
 * names stays as the tenant wrote it: comments, debug sections, instructions that the reader does
 * not know. Every line keeps its number, so the compiler's messages name the tenant's lines.
 *
 * Any thread; no state. Trusts nothing of the text. Inside, see pass.h. */
#ifndef GS_PTX_REWRITE_REWRITE_H
#define GS_PTX_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_pass {
    /* Calls of vprintf and __assertfail go to functions that write to the print ring; see
     * printf_pass.c. Works on any text that the lexer can cut. */
    PTX_PASS_PRINTF = 1 << 0,
    /* Kernels get a hidden parameter and tell their own end; see completion_pass.c. Needs a module
     * that the reader can read. */
    PTX_PASS_COMPLETION = 1 << 1
};

/* The .global .u64 variable that PTX_PASS_PRINTF adds: device address of a PRINT_BLOCK_BYTES block
 * as common/print_ring.h says, 0 until somebody writes it there. */
#define PTX_PRINT_VARIABLE "gshare$print"

/* One .entry of the module that has a body. */
struct ptx_rewrite_kernel {
    const char *name;
    bool completes;   /* it has struct completion_params behind its own parameters */
    uint32_t index;   /* of that parameter: how many parameters the tenant's text has */
    uint32_t offset;  /* of that parameter in the parameter buffer, in bytes */
    char reason[120]; /* why not, "line 12: ..."; empty where it completes */
};

/* What the passes did. Zeroed before the call; ptx_rewrite_report_deinit afterwards. */
struct ptx_rewrite_report {
    bool prints; /* the module has PTX_PRINT_VARIABLE */
    /* Of PTX_PASS_COMPLETION: the kernels in the order of their first mention, or none and why the
     * pass does not apply to the module. A module with names that begin with gshare$ is left alone
     * by all passes. */
    uint32_t count;
    struct ptx_rewrite_kernel *kernels;
    char reason[320];
    void *memory; /* holds kernels and names */
};

/* Runs PASSES, a set of enum ptx_pass, over LEN bytes of PTX (a NUL ends it early).
 *
 * 0: *OUT is the new text, NUL-terminated, the caller's to free(); *OUT_LEN does not count the NUL.
 * -ENOENT: there was nothing to change, or nothing that may be; use the text as it is. -ENOMEM: no
 * memory. REPORT may be NULL; it is filled with 0 and -ENOENT, and left zeroed with -ENOMEM.
 * O(LEN log LEN). */
int ptx_rewrite(const char *ptx, size_t len, unsigned passes, char **out, size_t *out_len,
                struct ptx_rewrite_report *report);
/* Frees what the report holds and zeroes it; a zeroed one is fine. */
void ptx_rewrite_report_deinit(struct ptx_rewrite_report *report);

/* The kernel of that name, NULL where the report has none. O(count). */
const struct ptx_rewrite_kernel *ptx_rewrite_report_kernel(const struct ptx_rewrite_report *report,
                                                           const char *name);

#endif
