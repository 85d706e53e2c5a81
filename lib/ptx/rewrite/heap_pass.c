/* The pass over a module whose kernels allocate: its calls of CUDA's malloc and free go to
 * functions of gshare (heap_device.cu), which allocate from a heap of the session. The driver's
 * heap is shared by all tenants, and one tenant can read there what another has freed.
 *
 * The address fence treats these functions as the tenant's: it fences them as it does a kernel, and
 * an indirect call may go to them. So their names do not have a reserved prefix. */
#include "ptx/heap_pass.h"

#include <string.h>

#include "common/embed.h"
#include "ptx/rewrite/heap.h"
#include "ptx/rewrite/redirect.h"

EMBED_TEXT(heap_device_ptx, PTX_FILE)

/* new and delete call the first two; __nv_aligned_device_malloc calls the third. */
static const struct redirect redirects[] = {
    {"malloc", HEAP_FUNCTIONS "$malloc"},
    {"free", HEAP_FUNCTIONS "$free"},
    {"__cuda_syscall_aligned_malloc", HEAP_FUNCTIONS "$aligned_malloc"},
};
enum { REDIRECTS = sizeof(redirects) / sizeof(redirects[0]) };

struct ptx_heap ptx_heap(uint64_t base, uint64_t bytes)
{
    return (struct ptx_heap){base, HEAP_PAGES(bytes)};
}

bool heap_pass_maybe(const char *ptx, size_t len)
{
    return redirect_maybe(ptx, len, redirects, REDIRECTS);
}

static bool run(struct rewrite *rw)
{
    rw->report->allocates = !memmem(rw->text, rw->len, HEAP_FUNCTIONS, strlen(HEAP_FUNCTIONS)) &&
                            redirect_run(rw, redirects, REDIRECTS, heap_device_ptx);
    return rw->report->allocates;
}

static void dropped(struct rewrite *rw)
{
    rw->report->allocates = false;
}

const struct pass heap_pass_rules = {
    .bit = PTX_PASS_HEAP, .maybe = heap_pass_maybe, .run = run, .dropped = dropped};
