/*
 * product.h - prepares products of matrices. Before the first product of a kind the server loads
 * the kernels that the kind needs, so that no stream waits for that, or says that it cannot compute
 * the kind. Any thread.
 */
#ifndef GS_CLIENT_PRODUCT_H
#define GS_CLIENT_PRODUCT_H

#include "client/session/session.h"

/* Asks the server to prepare this kind of product, unless it has answered for the kind before. The
 * server also handles a record whose kind is not prepared, only later, so answers that the client
 * forgets do no harm. Statuses as gs_gemm. */
gs_status product_prepare(struct session *session, const struct rec_gemm *record);

#endif
