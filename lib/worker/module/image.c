/* image.c - see image.h. */
#include "worker/module/image.h"

#include <elf.h>
#include <string.h>

#include "common/image_bundle.h"

#define FATBIN_MAGIC   0xba55ed50u
#define FATBIN_WRAPPER 0x466243b1u
#define ELF_MAGIC      0x464c457fu

static uint64_t read_number(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, at, bytes);
    return value;
}

/* Returns whether a table of `count` entries of `entry` bytes at `offset` ends inside the image. */
static bool table_inside(uint64_t offset, uint64_t entry, uint64_t count, uint64_t size)
{
    return offset <= size && entry * count <= size - offset;
}

static const char *elf_fault(const unsigned char *image, uint64_t size)
{
    Elf64_Shdr section;
    Elf64_Ehdr head;

    if (size < sizeof(head))
        return "the ELF header is cut off";
    memcpy(&head, image, sizeof(head));
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_machine != EM_CUDA)
        return "an ELF file, but no 64-bit CUDA one";
    if (!table_inside(head.e_phoff, head.e_phentsize, head.e_phnum, size))
        return "the ELF program headers end outside the image";
    if (!table_inside(head.e_shoff, head.e_shentsize, head.e_shnum, size) ||
        (head.e_shnum && head.e_shentsize < sizeof(section)))
        return "the ELF section headers end outside the image";
    for (uint64_t i = 0; i < head.e_shnum; i++) {
        memcpy(&section, image + head.e_shoff + i * head.e_shentsize, sizeof(section));
        if (section.sh_type != SHT_NOBITS &&
            (section.sh_offset > size || section.sh_size > size - section.sh_offset))
            return "an ELF section ends outside the image";
    }
    return NULL;
}

static const char *fatbin_fault(const unsigned char *image, uint64_t size)
{
    if (size < 16)
        return "the fatbin header is cut off";
    uint64_t header = read_number(image + 6, 2), body = read_number(image + 8, 8);
    if (header < 16 || header > size || body > size - header)
        return "the fatbin's sizes go beyond the image";
    /* An entry is a header and a payload. The header has its own size at 4, and the payload's at 8.
     */
    for (uint64_t at = header, end = header + body; end - at >= 16;) {
        uint64_t entry = read_number(image + at + 4, 4), payload = read_number(image + at + 8, 8);
        if (entry < 16 || entry > end - at || payload > end - at - entry)
            return "a fatbin's entry ends outside it";
        at += entry + payload;
    }
    return NULL;
}

bool image_binary(const unsigned char *image, uint64_t size)
{
    uint32_t magic = size >= 4 ? (uint32_t)read_number(image, 4) : 0;

    return magic == ELF_MAGIC || magic == FATBIN_MAGIC || magic == FATBIN_WRAPPER ||
           magic == BUNDLE_MAGIC;
}

bool image_is_bundle(const unsigned char *image, uint64_t size)
{
    return size >= 4 && read_number(image, 4) == BUNDLE_MAGIC;
}

const unsigned char *image_bundled(const unsigned char *image, uint32_t index, uint64_t *size)
{
    uint64_t at = bundle_head((uint32_t)read_number(image + 4, 4));

    for (uint32_t i = 0;; i++) {
        *size = read_number(image + sizeof(struct image_bundle) + i * sizeof(uint64_t), 8);
        if (i == index)
            return image + at;
        at = bundle_next(at, *size);
    }
}

static const char *bundle_fault(const unsigned char *image, uint64_t size)
{
    const uint32_t count = size < 8 ? 0 : (uint32_t)read_number(image + 4, 4);
    uint64_t at = bundle_head(count);

    if (count == 0 || count > BUNDLE_IMAGES || at > size)
        return "the bundle's head is damaged";
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t bytes = read_number(image + sizeof(struct image_bundle) + i * sizeof(at), 8);
        const char *fault;

        if (at > size || bytes > size - at || bytes == 0)
            return "an image of the bundle ends outside it";
        if (image_is_bundle(image + at, bytes))
            return "a bundle within a bundle";
        fault = image_fault(image + at, bytes);
        if (fault)
            return fault;
        at = bundle_next(at, bytes);
    }
    return NULL;
}

const char *image_fault(const unsigned char *image, uint64_t size)
{
    uint32_t magic = size >= 4 ? (uint32_t)read_number(image, 4) : 0;

    if (magic == ELF_MAGIC)
        return elf_fault(image, size);
    if (magic == FATBIN_MAGIC)
        return fatbin_fault(image, size);
    if (magic == BUNDLE_MAGIC)
        return bundle_fault(image, size);
    if (magic == FATBIN_WRAPPER)
        return "a fatbin wrapper, which holds a pointer: pass the image that it points to";
    if (memchr(image, '\0', size))
        return "neither a cubin nor a fatbin, and PTX text has no NUL inside";
    return NULL;
}

/* Returns whether the word stands in the text and is not followed by a dot, as the state space in
 * an instruction is. */
static bool text_declares(const unsigned char *text, uint64_t size, const char *word)
{
    const size_t length = strlen(word);
    const unsigned char *at = text, *end = text + size;

    while ((at = memmem(at, (size_t)(end - at), word, length))) {
        at += length;
        if (at == end || *at != '.')
            return true;
    }
    return false;
}

bool image_has_pointers(const unsigned char *text, uint64_t size)
{
    return text_declares(text, size, ".callprototype") || text_declares(text, size, ".calltargets");
}

bool image_has_state(const unsigned char *image, uint64_t size)
{
    return image_binary(image, size) || text_declares(image, size, ".global") ||
           image_has_pointers(image, size);
}
