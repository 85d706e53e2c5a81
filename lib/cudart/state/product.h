/* product.h - a product of matrices on a stream. */
#ifndef GS_CUDART_PRODUCT_H
#define GS_CUDART_PRODUCT_H

#include "cudart/state/stream.h"

/* Gives the product to a stream that does not capture. Statuses as for gs_gemm. */
gs_status product_issue(struct stream *stream, const gs_gemm_params *params);

#endif
