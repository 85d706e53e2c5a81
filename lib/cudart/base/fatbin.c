/* fatbin.c - see fatbin.h. lib/ptx/fatbin.c, the server's reader, tells the layout. */
#include "cudart/base/fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FATBIN_MAGIC   0xba55ed50u
#define FLAG_ARCH_ONLY 0x100000u /* sm_90a: only for that architecture */
enum { KIND_PTX = 1, KIND_ELF = 2 };

struct header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* without the header */
};

struct entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t unused[3];
    uint32_t arch;
    uint64_t name;
    uint64_t flags;
};
_Static_assert(offsetof(struct entry, arch) == 28 && offsetof(struct entry, flags) == 40,
               "header of a fatbin's entry");

size_t image_size(const void *image)
{
    struct header header;

    memcpy(&header.magic, image, sizeof(header.magic));
    if (header.magic != FATBIN_MAGIC)
        return 0;
    memcpy(&header, image, sizeof(header));
    return header.header_size + (size_t)header.size;
}

static unsigned text_arch(const char *text, unsigned sm)
{
    const char *target = strstr(text, ".target sm_");

    return target != NULL ? (unsigned)strtoul(target + sizeof(".target sm_") - 1, NULL, 10) : sm;
}

unsigned image_ptx_arch(const void *image, unsigned sm)
{
    const unsigned char *bytes = image;
    size_t size = image_size(image);
    unsigned ptx = 0, code = 0;
    struct header header;
    struct entry entry;

    if (size == 0)
        return text_arch(image, sm);
    memcpy(&header, bytes, sizeof(header));
    for (size_t at = header.header_size; at + sizeof(entry) <= size;
         at += entry.header_size + (size_t)entry.size) {
        unsigned *newest;

        memcpy(&entry, bytes + at, sizeof(entry));
        newest = entry.kind == KIND_PTX ? &ptx : &code;
        if (entry.arch <= sm && entry.arch > *newest &&
            (!(entry.flags & FLAG_ARCH_ONLY) || entry.arch == sm) &&
            (entry.kind == KIND_PTX || (entry.kind == KIND_ELF && entry.arch / 10 == sm / 10)))
            *newest = entry.arch;
    }
    if (ptx == 0)
        ptx = code;
    return ptx != 0 ? ptx : sm;
}
