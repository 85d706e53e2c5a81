/* Whether two modules are the same in everything but line numbers, forms and debug, which printing
 * does not keep. */
#ifndef GS_TEST_PTX_EQUAL_H
#define GS_TEST_PTX_EQUAL_H

#include "ptx/ptx.h"

/* Fails the test, naming the place, where they differ. */
void ptx_assert_equal(const struct ptx_module *a, const struct ptx_module *b);
/* The same for a module and what is read of its text. */
void ptx_assert_reads_back(const struct ptx_module *m);

#endif
