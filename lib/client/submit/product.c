/* product.c - see product.h. */
#include "client/submit/product.h"

#include <string.h>

#include "client/base/error.h"
#include "client/submit/sync_request.h"
#include "common/siphash.h"
#include "common/util.h"

#define ALIGN_MOST   256u
/* The time after a timeout in which the client asks for no new kind, because each such request
 * takes the server 10 s and holds up other tenants. */
#define ASK_AGAIN_NS UINT64_C(60000000000)

/* Returns a hash of all that the choice of an algorithm depends on. Never 0. */
static uint64_t kind_of(const struct rec_gemm *record)
{
    static const uint64_t key[2];
    struct rec_gemm kind = *record;

    kind.a.at %= ALIGN_MOST;
    kind.b.at %= ALIGN_MOST;
    kind.c.at %= ALIGN_MOST;
    kind.alpha = rec_gemm_zeros(record);
    kind.beta = 0;
    const uint64_t hash = siphash(key, &kind, sizeof(kind));
    return hash ? hash : 1;
}

gs_status product_prepare(struct session *session, const struct rec_gemm *record)
{
    struct sync_request request = {.op = REQ_GEMM_PREPARE, .gemm = record};
    const uint64_t kind = kind_of(record);
    _Atomic uint64_t *prepared = &session->products.prepared[kind % PRODUCTS_KNOWN],
                     *refused = &session->products.refused[kind % PRODUCTS_KNOWN];

    /* Relaxed: the words stand by themselves. */
    if (atomic_load_explicit(prepared, memory_order_relaxed) == kind)
        return GS_OK;
    if (atomic_load_explicit(refused, memory_order_relaxed) == kind)
        return error_set(GS_ERR_NOT_SUPPORTED, "the server has no such product");
    if (clock_ns() < atomic_load_explicit(&session->products.ask_from_ns, memory_order_relaxed))
        return error_set(GS_ERR_TIMEOUT,
                         "less than a minute ago no moment came without running kernels");
    gs_status status = sync_request(session, &request);
    if (status == GS_OK)
        atomic_store_explicit(prepared, kind, memory_order_relaxed);
    else if (status == GS_ERR_NOT_SUPPORTED)
        atomic_store_explicit(refused, kind, memory_order_relaxed);
    else if (status == GS_ERR_TIMEOUT)
        atomic_store_explicit(&session->products.ask_from_ns, clock_ns() + ASK_AGAIN_NS,
                              memory_order_relaxed);
    return status;
}
