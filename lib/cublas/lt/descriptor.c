/* descriptor.c - see descriptor.h. */
#include "cublas/lt/descriptor.h"

#include <string.h>

#define ATTRIBUTE(number, type, member)                                                            \
    {                                                                                              \
        number, offsetof(struct type, member), sizeof(((struct type *)NULL)->member)               \
    }
#define END                                                                                        \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

const struct lt_attribute lt_layout_attributes[] = {
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, lt_layout, type),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, lt_layout, order),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, lt_layout, rows),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, lt_layout, columns),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, lt_layout, ld),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, lt_layout, batch),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, lt_layout, stride),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, lt_layout, plane),
    ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, lt_layout, batch_mode),
    END,
};

const struct lt_attribute lt_desc_attributes[] = {
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, lt_desc, compute),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, lt_desc, scale),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, lt_desc, pointer_mode),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, lt_desc, transa),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, lt_desc, transb),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, lt_desc, transc),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_FILL_MODE, lt_desc, fill),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, lt_desc, epilogue),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, lt_desc, bias),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, lt_desc, bias_stride),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, lt_desc, aux),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, lt_desc, aux_ld),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, lt_desc, aux_stride),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, lt_desc, scales[0]),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, lt_desc, scales[1]),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, lt_desc, scales[2]),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, lt_desc, scales[3]),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, lt_desc, scales[4]),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, lt_desc, sm_count_target),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, lt_desc, aux_type),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, lt_desc, bias_type),
    ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, lt_desc, fast_accumulation),
    END,
};

const struct lt_attribute lt_preference_attributes[] = {
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, lt_preference, search_mode),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, lt_preference, workspace),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, lt_preference, reduction_mask),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, lt_preference, alignment[0]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, lt_preference, alignment[1]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, lt_preference, alignment[2]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, lt_preference, alignment[3]),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, lt_preference, waves),
    ATTRIBUTE(CUBLASLT_MATMUL_PREF_IMPL_MASK, lt_preference, implementations),
    END,
};

static const struct lt_attribute *attribute_find(const struct lt_attribute *table, int number)
{
    for (; table->size != 0; table++)
        if (table->number == number)
            return table;
    return NULL;
}

cublasStatus_t lt_attribute_set(const struct lt_attribute *table, void *descriptor, int number,
                                const void *value, size_t size)
{
    const struct lt_attribute *attribute = attribute_find(table, number);

    if (descriptor == NULL || value == NULL || attribute == NULL || size != attribute->size)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)descriptor + attribute->offset, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t lt_attribute_get(const struct lt_attribute *table, const void *descriptor,
                                int number, void *value, size_t size, size_t *written)
{
    const struct lt_attribute *attribute = attribute_find(table, number);

    if (descriptor == NULL || attribute == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (size == 0 ? written == NULL : value == NULL || size != attribute->size)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (size != 0)
        memcpy(value, (const char *)descriptor + attribute->offset, size);
    if (written != NULL)
        *written = attribute->size;
    return CUBLAS_STATUS_SUCCESS;
}
