/* What stands in which section is not documented. Found by compiling with CUDA 13.0 for sm_75
 * to sm_100, and linking with nvlink:
 *
 *   .nv.global, .nv.global.init     variables
 *   .nv.constant0.K                 the parameters of kernel K
 *   .nv.constant2.K                 jump tables of K and the addresses of functions that it takes,
 *                                   which nothing tells apart
 *   .nv.constant3                   the program's constants
 *   .nv.constant4                   addresses of variables, and of printf, malloc and the like
 *   .nv.merc.S                      for sm_100 and later: what section S says, once more
 *   .rel.S, .rela.S                 what the loader puts into section S: calls between files that
 *                                   nvlink has joined, addresses of functions there. Empty ones are
 *                                   left of calls within a file. Those of .debug_ are for debuggers
 *
 * The address of a function that a single kernel takes is computed in its code, and leaves no trace
 * but the function's symbol, $KERNEL$FUNCTION, as a function has that is only called. ptxas' own
 * (slow paths of division and the like) are $KERNEL$__internal_N_$NAME, and no program takes their
 * addresses. */
#include "ptx/cubin.h"

#include <elf.h>
#include <string.h>

#define SYMBOL_ENTRY 0x10 /* in st_other: the function is a kernel */
#define OWN_FUNCTION "$__internal_"

static bool has_prefix(const char *name, size_t room, const char *prefix)
{
    const size_t length = strlen(prefix);

    return length <= room && !memcmp(name, prefix, length);
}

/* Whether a section with this name, of which ROOM bytes can be read, holds nothing of that. */
static bool section_is_pure(const char *name, size_t room, const Elf64_Shdr *section)
{
    static const char *const pure[] = {
        ".text.",        ".nv.shared.",   ".nv.constant0.", ".nv.constant3",  ".nv.info",
        ".nv.callgraph", ".nv.prototype", ".nv.compat",     ".nv.rel.action", ".nv.merc.",
        ".nv.capmerc.",  ".note.",        ".debug_",        ".nv_debug_",     ".symtab",
        ".strtab",       ".shstrtab"};

    if (section->sh_type == SHT_NULL)
        return true;
    if (section->sh_type == SHT_REL || section->sh_type == SHT_RELA)
        return section->sh_size == 0 || has_prefix(name, room, ".rel.debug_") ||
               has_prefix(name, room, ".rela.debug_") || has_prefix(name, room, ".nv.merc.");
    for (size_t i = 0; i < sizeof(pure) / sizeof(pure[0]); i++) {
        if (has_prefix(name, room, pure[i]))
            return true;
    }
    return false;
}

static bool inside(uint64_t offset, uint64_t bytes, size_t size)
{
    return offset <= size && bytes <= size - offset;
}

static bool has_bytes(const Elf64_Shdr *section, size_t size)
{
    return section->sh_type != SHT_NOBITS && inside(section->sh_offset, section->sh_size, size);
}

/* Whether all functions of a table of symbols are kernels or ptxas' own. NAMES and the table lie in
 * the file. The names of functions differ, so together they are no longer than the section of
 * names; where symbols share names, the file is refused: a long name that millions of symbols share
 * would keep the thread for hours. */
static bool symbols_are_pure(const unsigned char *bytes, const Elf64_Shdr *table,
                             const Elf64_Shdr *names)
{
    uint64_t left = names->sh_size; /* bytes of names that the symbols to come can have */
    Elf64_Sym symbol;

    for (uint64_t at = 0; at + sizeof(symbol) <= table->sh_size; at += sizeof(symbol)) {
        memcpy(&symbol, bytes + table->sh_offset + at, sizeof(symbol));
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_other & SYMBOL_ENTRY)
            continue;
        if (symbol.st_name >= names->sh_size)
            return false;
        const char *name = (const char *)bytes + names->sh_offset + symbol.st_name;
        const uint64_t room = names->sh_size - symbol.st_name;
        const uint64_t length = strnlen(name, room < left ? room : left);
        if (length == left || !memmem(name, length, OWN_FUNCTION, strlen(OWN_FUNCTION)))
            return false;
        left -= length + 1; /* the NUL too */
    }
    return true;
}

static void section_read(const unsigned char *bytes, const Elf64_Ehdr *head, uint32_t index,
                         Elf64_Shdr *section)
{
    memcpy(section, bytes + head->e_shoff + (uint64_t)index * sizeof(*section), sizeof(*section));
}

bool cubin_is_pure(const void *code, size_t size)
{
    const unsigned char *bytes = code;
    Elf64_Shdr section, names, strings;
    Elf64_Ehdr head;
    bool symbols = false;

    if (size < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_machine != EM_CUDA ||
        head.e_type != ET_EXEC || head.e_shentsize != sizeof(section) ||
        head.e_shstrndx >= head.e_shnum ||
        !inside(head.e_shoff, (uint64_t)head.e_shnum * sizeof(section), size))
        return false;
    section_read(bytes, &head, head.e_shstrndx, &names);
    if (!has_bytes(&names, size))
        return false;
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        section_read(bytes, &head, i, &section);
        if (section.sh_name >= names.sh_size ||
            !section_is_pure((const char *)bytes + names.sh_offset + section.sh_name,
                             names.sh_size - section.sh_name, &section))
            return false;
        if (section.sh_type != SHT_SYMTAB)
            continue;
        /* A file has one table of symbols; tables that overlap would be read again and again. */
        if (symbols || !has_bytes(&section, size) || section.sh_link >= head.e_shnum)
            return false;
        section_read(bytes, &head, section.sh_link, &strings);
        if (!has_bytes(&strings, size) || !symbols_are_pure(bytes, &section, &strings))
            return false;
        symbols = true;
    }
    return symbols;
}
