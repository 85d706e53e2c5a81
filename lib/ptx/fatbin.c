/* NVIDIA's container of device code. Its layout is not documented; what stands here was found by
 * comparing images made by nvcc 13 in each of its compression modes. Any thread; trusts nothing in
 * the image.
 *
 *   header, 16 bytes: magic, version, size of the header, size of all that follows
 *   then entries, each a header of 64 bytes or more and its payload, one right after the other:
 *      0 kind: 1 PTX, 2 ELF
 *      4 size of this header
 *      8 size of the payload, padded to 8
 *     16 size of the payload as packed, 0 where it is not
 *     28 architecture: 90
 *     40 flags: how it is packed, and whether it is for that architecture alone
 *     56 size of the payload when unpacked */
#include "ptx/fatbin.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "ptx/unpack.h"

static const uint32_t FATBIN_MAGIC = 0xba55ed50u;
static const uint32_t WRAPPER_MAGIC = 0x466243b1u;

enum { KIND_PTX = 1, KIND_ELF = 2 };
enum {
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCH_ONLY = 0x100000 /* such as sm_90a: code for that architecture alone */
};

struct header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};

struct entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t packed_size, options;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name_offset, name_size;
    uint64_t flags, reserved, unpacked_size;
};

struct wrapper {
    uint32_t magic, version;
    const void *data;
    void *more;
};

_Static_assert(sizeof(struct header) == 16, "header of a fatbin");
_Static_assert(sizeof(struct entry) == 64 && offsetof(struct entry, arch) == 28 &&
                   offsetof(struct entry, flags) == 40 &&
                   offsetof(struct entry, unpacked_size) == 56,
               "header of a fatbin's entry");
_Static_assert(sizeof(struct wrapper) == 24, "__fatBinC_Wrapper");

struct found {
    struct entry entry;
    const unsigned char *payload;
};

bool fatbin_is_fatbin(const void *image, size_t size)
{
    uint32_t magic;

    if (size < sizeof(struct header))
        return false;
    memcpy(&magic, image, sizeof(magic));
    return magic == FATBIN_MAGIC;
}

const void *fatbin_unwrap(const void *image)
{
    struct wrapper w;

    memcpy(&w.magic, image, sizeof(w.magic));
    if (w.magic != WRAPPER_MAGIC)
        return image;
    memcpy(&w, image, sizeof(w));
    return w.data;
}

size_t fatbin_total_size(const void *image)
{
    struct header h;

    memcpy(&h, image, sizeof(h));
    if (h.magic != FATBIN_MAGIC || h.size > SIZE_MAX - h.header_size)
        return 0;
    return (size_t)h.size + h.header_size;
}

static int damaged(char err[256], const char *what, size_t at)
{
    snprintf(err, 256, "damaged fatbin: %s at byte %zu", what, at);
    return -EINVAL;
}

/* Whether device SM can run the entry: PTX of its architecture and of older ones, machine code
 * within one major version only. */
static bool is_fit(const struct entry *e, unsigned sm)
{
    if (e->arch > sm || (e->flags & FLAG_ARCH_ONLY && e->arch != sm))
        return false;
    return e->kind == KIND_PTX || e->arch / 10 == sm / 10;
}

/* The newer architecture. Of two for the same: machine code for that one alone, but PTX that keeps
 * to what all its devices have. */
static bool is_better(const struct entry *e, const struct entry *than)
{
    bool alone = e->flags & FLAG_ARCH_ONLY, than_alone = than->flags & FLAG_ARCH_ONLY;

    if (e->arch != than->arch)
        return e->arch > than->arch;
    return e->kind == KIND_PTX ? than_alone && !alone : alone && !than_alone;
}

static int not_found(unsigned kind, unsigned sm, unsigned others, unsigned unfit, char err[256])
{
    if (unfit)
        snprintf(err, 256, "the fatbin has %s for sm_%u, which does not run on this sm_%u",
                 kind == KIND_PTX ? "PTX" : "machine code", unfit, sm);
    else if (kind == KIND_PTX)
        snprintf(err, 256,
                 "the fatbin has no PTX (%u other entries): build with -gencode "
                 "arch=compute_%u,code=compute_%u",
                 others, sm, sm);
    else
        snprintf(err, 256, "the fatbin has no machine code (%u other entries)", others);
    return -ENOENT;
}

/* Of two entries for newer devices than SM, the one for the older device: it asks for less. */
static bool is_nearer(const struct entry *e, const struct entry *than)
{
    if (e->arch != than->arch)
        return e->arch < than->arch;
    return than->flags & FLAG_ARCH_ONLY && !(e->flags & FLAG_ARCH_ONLY);
}

/* Walks the entries; BEST is the one of this kind for the newest architecture that SM can run.
 * NEARER, where it is not NULL: of those for newer ones, the one for the oldest. */
static int find_entry(const unsigned char *image, size_t size, unsigned kind, unsigned sm,
                      struct found *best, struct found *nearer, char err[256])
{
    struct header h;
    struct entry e;
    size_t at, end;
    unsigned others = 0, unfit = 0;

    if (!fatbin_is_fatbin(image, size)) {
        snprintf(err, 256, "not a fatbin: it does not begin with 0x%08x", FATBIN_MAGIC);
        return -EINVAL;
    }
    memcpy(&h, image, sizeof(h));
    if (h.header_size < sizeof(h) || h.header_size > size || h.size > size - h.header_size)
        return damaged(err, "a size beyond its end", offsetof(struct header, size));
    end = h.header_size + (size_t)h.size;
    best->payload = NULL;
    for (at = h.header_size; at < end; at += e.header_size + (size_t)e.size) {
        if (end - at < sizeof(e))
            return damaged(err, "a cut-off entry", at);
        memcpy(&e, image + at, sizeof(e));
        if (e.header_size < sizeof(e) || e.header_size > end - at ||
            e.size > end - at - e.header_size)
            return damaged(err, "an entry beyond the end", at);
        if (e.kind != kind) {
            others++;
        } else if (!is_fit(&e, sm)) {
            unfit = e.arch;
            if (nearer && e.arch >= sm && (!nearer->payload || is_nearer(&e, &nearer->entry)))
                *nearer = (struct found){e, image + at + e.header_size};
        } else if (!best->payload || is_better(&e, &best->entry)) {
            best->entry = e;
            best->payload = image + at + e.header_size;
        }
    }
    return best->payload ? 0 : not_found(kind, sm, others, unfit, err);
}

static const char *kind_name(const struct entry *e)
{
    return e->kind == KIND_PTX ? "PTX" : "machine code";
}

static int too_large(const struct entry *e, uint64_t size, uint64_t most, char err[256])
{
    snprintf(err, 256, "%s of %llu bytes is larger than %llu", kind_name(e),
             (unsigned long long)size, (unsigned long long)most);
    return -E2BIG;
}

/* The whole unpacked size must come out, no more and no less. */
static int unpack(const struct found *f, char *to, char err[256])
{
    size_t unpacked = (size_t)f->entry.unpacked_size, got = unpacked;
    int status = (f->entry.flags & FLAG_ZSTD ? unpack_zstd : unpack_lz4)(
        f->payload, f->entry.packed_size, to, &got, err);

    if (status || (got == unpacked && got > 0))
        return status;
    snprintf(err, 256, "damaged fatbin: its %s does not unpack to %zu bytes", kind_name(&f->entry),
             unpacked);
    return -EINVAL;
}

/* The payload of an entry of the image, of MOST bytes at most, and a NUL behind it. */
static int take(const void *image, const struct found *best, uint64_t most, char **payload,
                size_t *len, char err[256])
{
    const bool packed = best->entry.packed_size != 0;
    uint64_t bytes;
    char *taken;
    int status = 0;

    if (packed && !(best->entry.flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        snprintf(err, 256, "the fatbin's %s is packed in an unknown way (flags 0x%llx)",
                 kind_name(&best->entry), (unsigned long long)best->entry.flags);
        return -ENOTSUP;
    }
    if (packed && best->entry.packed_size > best->entry.size)
        return damaged(err, "a packed payload beyond its entry",
                       (size_t)(best->payload - (const unsigned char *)image));
    bytes = packed ? best->entry.unpacked_size : best->entry.size;
    if (bytes > most)
        return too_large(&best->entry, bytes, most, err);
    taken = malloc((size_t)bytes + 1);
    if (!taken) {
        snprintf(err, 256, "no memory for %llu bytes of %s", (unsigned long long)bytes,
                 kind_name(&best->entry));
        return -ENOMEM;
    }
    if (packed)
        status = unpack(best, taken, err);
    else
        memcpy(taken, best->payload, (size_t)bytes);
    if (status) {
        free(taken);
        return status;
    }
    taken[bytes] = 0;
    *payload = taken;
    *len = (size_t)bytes;
    return 0;
}

static int take_text(const void *image, const struct found *best, char **ptx, size_t *len,
                     char err[256])
{
    const int status = take(image, best, PTX_MAX_TEXT, ptx, len, err);

    if (!status)
        *len = strlen(*ptx); /* padding of zeros is no part of it */
    return status;
}

int fatbin_find_ptx(const void *image, size_t size, unsigned sm, char **ptx, size_t *len,
                    char err[256])
{
    struct found best = {0};
    int status = find_entry(image, size, KIND_PTX, sm, &best, NULL, err);

    return status ? status : take_text(image, &best, ptx, len, err);
}

static int find_readable(const void *image, size_t size, unsigned sm, struct found *best,
                         char err[256])
{
    struct found nearer = {0};
    int status = find_entry(image, size, KIND_PTX, sm, best, &nearer, err);

    if (status != -ENOENT || !nearer.payload)
        return status;
    *best = nearer;
    return 0;
}

int fatbin_find_readable(const void *image, size_t size, unsigned sm, char **ptx, size_t *len,
                         char err[256])
{
    struct found best = {0};
    int status = find_readable(image, size, sm, &best, err);

    return status ? status : take_text(image, &best, ptx, len, err);
}

uint64_t fatbin_readable_size(const void *image, size_t size, unsigned sm)
{
    struct found best = {0};
    char err[256];

    if (find_readable(image, size, sm, &best, err))
        return 0;
    return best.entry.packed_size ? best.entry.unpacked_size : best.entry.size;
}

int fatbin_find_code(const void *image, size_t size, unsigned sm, char **code, size_t *len,
                     char err[256])
{
    struct found best = {0};
    int status = find_entry(image, size, KIND_ELF, sm, &best, NULL, err);

    return status ? status : take(image, &best, PTX_MAX_TEXT, code, len, err);
}

int fatbin_keep_code(void *image, size_t *size, unsigned sm, char err[256])
{
    unsigned char *bytes = image;
    struct found best = {0};
    struct header h;
    int status = find_entry(bytes, *size, KIND_ELF, sm, &best, NULL, err);

    if (status)
        return status;
    if (best.entry.unpacked_size > FATBIN_CODE_MAX)
        return too_large(&best.entry, best.entry.unpacked_size, FATBIN_CODE_MAX, err);
    memcpy(&h, bytes, sizeof(h));
    h.size = best.entry.header_size + best.entry.size;
    memmove(bytes + h.header_size, best.payload - best.entry.header_size, (size_t)h.size);
    memcpy(bytes, &h, sizeof(h));
    *size = h.header_size + (size_t)h.size;
    return 0;
}
