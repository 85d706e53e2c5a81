/* What kernels print, over its whole way: any bytes as a module that prints, and any bytes as the
 * block that its kernels wrote. The first byte says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/print/print_format.h"
#include "client/print/print_read.h"
#include "common/print_ring.h"
#include "ptx/rewrite/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pass(const char *text, size_t size)
{
    char *out;
    size_t out_size;

    if (ptx_rewrite(text, size, PTX_PASS_PRINTF, &out, &out_size, NULL))
        return;
    if (out_size < size || out[out_size])
        abort();
    free(out);
}

static void take(void *context, const unsigned char *record, size_t bytes)
{
    print_format(record, bytes, context);
}

/* The words that the device and the client keep, then the ring from `taken` on. A word with 0x15 at
 * its end becomes the stamp of its place, which nobody would guess. */
static void fill(unsigned char *block, const uint8_t *data, size_t size)
{
    uint64_t taken;

    memset(block, 0, PRINT_BLOCK_BYTES);
    if (size < 32)
        return;
    memcpy(block, data, 24);
    memcpy(&taken, data + 24, 8);
    memcpy(block + PRINT_AT_TAKEN, &taken, 8);
    for (size_t at = 32; at + 8 <= size; at += 8) {
        uint64_t word, position = (taken & ~UINT64_C(7)) + at - 32;

        memcpy(&word, data + at, 8);
        if ((word & 0xff) == 0x15)
            word = position ^ PRINT_STAMP;
        memcpy(block + PRINT_AT_RING + position % PRINT_RING_BYTES, &word, 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct print_reader reader;
    static struct text text;

    if (!size)
        return 0;
    if (data[0] & 1) {
        pass((const char *)data + 1, size - 1);
        return 0;
    }
    if (!reader.block) {
        reader.block = aligned_alloc(4096, PRINT_BLOCK_BYTES);
        reader.record = malloc(PRINT_RECORD_MAX);
        if (!reader.block || !reader.record)
            abort();
    }
    reader.dropped = 0;
    fill(reader.block, data + 1, size - 1);
    print_read(&reader, take, &text);
    return 0;
}
