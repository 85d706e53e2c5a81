/* occupancy.c - see occupancy.h. It searches the text for words and does not parse it: if it edits
 * the text in a wrong place, the compiler refuses the text, and the code of the first compilation
 * is used. The fence's checker has read the text before. Only one fixed directive is added here,
 * which counts blocks and does nothing else where the compiler takes it. */
#include "worker/module/occupancy.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same for all
 * since 5.0. A warp gets its registers in granules of 256. */
#define SM_REGISTERS 65536u
#define WARP_GRANULE 256u
#define WARP         32u

static const char asked[] = "\n.minnctapersm 2\n";

/* ---- What the compiler said ------------------------------------------------------------------ */

struct kernel_use {
    const char *name; /* in the log */
    size_t length;
    unsigned registers;
    unsigned spilled; /* bytes */
};

struct use_table {
    struct kernel_use *kernel; /* sorted by name */
    size_t count;
};

static int use_compare(const void *a, const void *b)
{
    const struct kernel_use *x = a, *y = b;
    const size_t n = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->name, y->name, n);

    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static void uses_free(struct use_table *table)
{
    free(table->kernel);
    *table = (struct use_table){0};
}
#define CLEANUP_USES __attribute__((cleanup(uses_free)))

/* Returns the number that ends right before the word; 0: the line has none. */
static unsigned number_before(const char *line, const char *end, const char *word)
{
    const char *at = memmem(line, (size_t)(end - line), word, strlen(word));
    const char *digits = at;

    while (digits && digits > line && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits && digits < at ? (unsigned)strtoul(digits, NULL, 10) : 0;
}

/* Reads a log, which has for each kernel
 *      ptxas info    : Compiling entry function 'NAME' for 'sm_90'
 *      ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *      ptxas info    : Used 154 registers, used 1 barriers, 37888 bytes smem
 * and between these lines others about functions that the kernel calls, whose spills count for it.
 */
static struct use_table uses_read(const char *log)
{
    static const char begin[] = "Compiling entry function '";
    struct use_table table = {0};
    size_t kernels = 0;

    for (const char *at = log; (at = strstr(at, begin)); at++)
        kernels++;
    table.kernel = calloc(kernels + 1, sizeof(*table.kernel));
    if (!table.kernel)
        return table;
    for (const char *line = log, *next; *line; line = next) {
        const char *end = strchrnul(line, '\n');
        const char *name = memmem(line, (size_t)(end - line), begin, sizeof(begin) - 1);
        struct kernel_use *last = table.count ? &table.kernel[table.count - 1] : NULL;

        next = *end ? end + 1 : end;
        if (name) {
            name += sizeof(begin) - 1;
            const char *quote = memchr(name, '\'', (size_t)(end - name));
            if (quote)
                table.kernel[table.count++] =
                    (struct kernel_use){.name = name, .length = (size_t)(quote - name)};
        } else if (last) {
            const unsigned registers = number_before(line, end, " registers");
            last->spilled += number_before(line, end, " bytes spill stores");
            if (registers && !last->registers)
                last->registers = registers;
        }
    }
    qsort(table.kernel, table.count, sizeof(*table.kernel), use_compare);
    return table;
}

static const struct kernel_use *use_find(const struct use_table *table, const char *name,
                                         size_t length)
{
    const struct kernel_use wanted = {.name = name, .length = length};

    return table->count ? bsearch(&wanted, table->kernel, table->count, sizeof(wanted), use_compare)
                        : NULL;
}

static bool spills_more(const struct kernel_use *kernel, const struct use_table *tried)
{
    const struct kernel_use *then = use_find(tried, kernel->name, kernel->length);

    return then && then->spilled > kernel->spilled;
}

unsigned occupancy_spilling(const char *log, const char *tried)
{
    CLEANUP_USES struct use_table before = uses_read(log);
    CLEANUP_USES struct use_table then = uses_read(tried);
    unsigned count = 0;

    for (size_t i = 0; i < before.count; i++)
        count += spills_more(&before.kernel[i], &then);
    return count;
}

/* ---- Which kernels, and the text ------------------------------------------------------------- */

/* A kernel in the text: its name, and the directives between the name and its body. */
struct entry {
    const char *name;
    size_t length;
    const char *body; /* at its '{' */
};

/* Finds the next kernel with a body. false: there is none. */
static bool entry_next(const char **at, struct entry *entry)
{
    static const char word[] = ".entry";

    while ((*at = strstr(*at, word))) {
        *at += sizeof(word) - 1;
        entry->name = *at + strspn(*at, " \t\r\n");
        entry->length = strcspn(entry->name, " \t\r\n(.{;");
        entry->body = entry->name + strcspn(entry->name, "{;");
        if (*entry->body == '{' && entry->length > 0)
            return true;
    }
    return false;
}

static const char *directive_find(const struct entry *entry, const char *word)
{
    return memmem(entry->name, (size_t)(entry->body - entry->name), word, strlen(word));
}

/* Returns the most threads of a block, if the kernel has a directive that says so; else 0. */
static uint64_t block_threads(const struct entry *entry)
{
    const char *at = directive_find(entry, ".reqntid");
    uint64_t threads = 1;

    if (!at)
        at = directive_find(entry, ".maxntid");
    if (!at)
        return 0;
    at += sizeof(".maxntid") - 1;
    for (;;) {
        char *end;
        const unsigned long n = strtoul(at, &end, 10);
        if (end == at || n == 0 || n > 1024)
            return 0;
        threads *= n;
        at = end + strspn(end, " \t");
        if (*at != ',')
            return threads;
        at++;
    }
}

/* Returns whether the registers leave room for one block only on an SM, and the kernel's author has
 * given no directive about that. */
static bool one_block(const struct entry *entry, unsigned registers)
{
    const uint64_t warps = (block_threads(entry) + WARP - 1) / WARP;
    const uint64_t granules = (registers * WARP + WARP_GRANULE - 1) / WARP_GRANULE;
    const uint64_t block = warps * granules * WARP_GRANULE;

    return block > 0 && block <= SM_REGISTERS && 2 * block > SM_REGISTERS &&
           !directive_find(entry, ".minnctapersm") && !directive_find(entry, ".maxnreg");
}

char *occupancy_ask(const char *text, const char *log, const char *tried)
{
    CLEANUP_USES struct use_table uses = uses_read(log);
    CLEANUP_USES struct use_table then = uses_read(tried ? tried : "");
    const char *from = text, *at = text;
    unsigned count = 0;
    struct entry entry;
    char *copy = NULL;
    size_t size;
    FILE *out = open_memstream(&copy, &size);

    if (!out)
        return NULL;
    while (entry_next(&at, &entry)) {
        const struct kernel_use *use = use_find(&uses, entry.name, entry.length);

        if (!use || spills_more(use, &then) || !one_block(&entry, use->registers))
            continue;
        fwrite(from, 1, (size_t)(entry.body - from), out);
        fputs(asked, out);
        from = entry.body;
        count++;
    }
    fputs(from, out);
    if (fclose(out) || count == 0) {
        free(copy);
        return NULL;
    }
    return copy;
}
