/* fatbin.c - see fatbin.h. lib/ptx/fatbin.c, the server's reader, tells the layout. */
#include "cudart/base/fatbin.h"

#include <elf.h>
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

static bool is_fatbin(const void *image)
{
    uint32_t magic;

    memcpy(&magic, image, sizeof(magic));
    return magic == FATBIN_MAGIC;
}

static size_t fatbin_size(const void *image, size_t limit)
{
    struct header header;

    if (limit < sizeof(header))
        return sizeof(header);
    memcpy(&header, image, sizeof(header));
    return header.size > SIZE_MAX - header.header_size ? SIZE_MAX
                                                       : header.header_size + header.size;
}

/* The larger of `end` and the end of what an ELF header or section places. */
static size_t later_end(size_t end, uint64_t offset, uint64_t bytes)
{
    uint64_t other = offset > SIZE_MAX - bytes ? SIZE_MAX : offset + bytes;

    return other > end ? other : end;
}

/* A cubin states no size. It ends where the last of its headers and sections does. Of a file that
 * is no cubin the header alone counts, with which the server refuses it. */
static size_t elf_size(const unsigned char *image, size_t limit)
{
    size_t end = sizeof(Elf64_Ehdr);
    Elf64_Shdr section;
    Elf64_Ehdr head;

    if (limit < end)
        return end;
    memcpy(&head, image, sizeof(head));
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_CUDA)
        return end;
    end = later_end(end, head.e_phoff, (uint64_t)head.e_phentsize * head.e_phnum);
    end = later_end(end, head.e_shoff, (uint64_t)head.e_shentsize * head.e_shnum);
    if (end > limit || head.e_shentsize < sizeof(section))
        return end;
    for (size_t i = 0; i < head.e_shnum; i++) {
        memcpy(&section, image + head.e_shoff + i * head.e_shentsize, sizeof(section));
        if (section.sh_type != SHT_NOBITS)
            end = later_end(end, section.sh_offset, section.sh_size);
    }
    return end;
}

/* As image_bytes, without a look beyond `limit` bytes; more than `limit` if the image is longer. */
static size_t size_within(const void *image, size_t limit)
{
    if (limit >= SELFMAG && strncmp(image, ELFMAG, SELFMAG) == 0)
        return elf_size(image, limit);
    return limit >= sizeof(uint32_t) && is_fatbin(image) ? fatbin_size(image, limit) : 0;
}

size_t image_bytes(const void *image)
{
    return size_within(image, SIZE_MAX);
}

bool image_is_whole(const void *image, size_t bytes)
{
    return size_within(image, bytes) <= bytes;
}

static unsigned text_arch(const char *text, unsigned sm)
{
    const char *target = strstr(text, ".target sm_");

    return target != NULL ? (unsigned)strtoul(target + sizeof(".target sm_") - 1, NULL, 10) : sm;
}

unsigned image_ptx_arch(const void *image, unsigned sm)
{
    const unsigned char *bytes = image;
    size_t size = image_bytes(image);
    unsigned ptx = 0, code = 0;
    struct header header;
    struct entry entry;

    if (size == 0)
        return text_arch(image, sm);
    if (!is_fatbin(image)) /* a cubin, which runs on the device for which it was made */
        return sm;
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
