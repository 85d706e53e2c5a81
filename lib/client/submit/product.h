/*
 * product.h - which products the server can compute. It loads what a kind of product needs before
 * the first one of it, so that no stream waits for that, and says where it cannot. Any thread.
 */
#ifndef GS_CLIENT_PRODUCT_H
#define GS_CLIENT_PRODUCT_H

#include "client/session/session.h"

/* Asks the server for such products, unless it has answered for the kind before. The server answers
 * for a record that finds nothing prepared too, only later; so what this side forgets does no harm.
 * Statuses as gs_gemm. */
gs_status product_prepare(struct session *session, const struct rec_gemm *record);

#endif
