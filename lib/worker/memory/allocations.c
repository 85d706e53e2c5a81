/* allocations.c - see allocations.h. */
#include "worker/memory/allocations.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SPANS 512u

struct allocation_page {
    size_t count;
    struct span spans[PAGE_SPANS]; /* sorted by address, disjoint */
};

void allocations_deinit(struct allocations *allocations)
{
    for (size_t i = 0; i < allocations->count; i++)
        free(allocations->pages[i]);
    free(allocations->pages);
    *allocations = (struct allocations){0};
}

/* How many pages begin at `address` or before it. */
static size_t pages_up_to(const struct allocations *allocations, uint64_t address)
{
    size_t low = 0, high = allocations->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (allocations->pages[middle]->spans[0].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last one that begins at `address` or before it; NULL: none does. */
static const struct span *last_up_to(const struct allocations *allocations, uint64_t address)
{
    const size_t pages = pages_up_to(allocations, address);

    if (!pages)
        return NULL;
    const struct allocation_page *page = allocations->pages[pages - 1];
    return &page->spans[spans_up_to(page->spans, page->count, address) - 1];
}

const struct span *allocations_at(const struct allocations *allocations, uint64_t address)
{
    const struct span *span = last_up_to(allocations, address);

    return span && span->address == address ? span : NULL;
}

const struct span *allocations_containing(const struct allocations *allocations, uint64_t address,
                                          uint64_t size)
{
    const struct span *span = last_up_to(allocations, address);

    return span && address - span->address < span->size &&
                   size <= span->size - (address - span->address)
               ? span
               : NULL;
}

/* Makes an empty page, the one of that number. NULL: no memory. */
static struct allocation_page *page_new(struct allocations *allocations, size_t number)
{
    if (allocations->count == allocations->capacity) {
        const size_t capacity = allocations->capacity ? 2 * allocations->capacity : 4;
        struct allocation_page **pages =
            reallocarray(allocations->pages, capacity, sizeof(*allocations->pages));
        if (!pages)
            return NULL;
        allocations->pages = pages;
        allocations->capacity = capacity;
    }
    struct allocation_page *page = malloc(sizeof(*page));
    if (!page)
        return NULL;
    page->count = 0;
    memmove(&allocations->pages[number + 1], &allocations->pages[number],
            (allocations->count - number) * sizeof(*allocations->pages));
    allocations->pages[number] = page;
    allocations->count++;
    return page;
}

static void page_free(struct allocations *allocations, size_t number)
{
    free(allocations->pages[number]);
    allocations->count--;
    memmove(&allocations->pages[number], &allocations->pages[number + 1],
            (allocations->count - number) * sizeof(*allocations->pages));
}

/* Whether all end before the address. Then the next one takes no look at others, and leaves no page
 * half full. */
static bool ends_before(const struct allocations *allocations, uint64_t address)
{
    const struct allocation_page *page;
    const struct span *last;

    if (!allocations->count)
        return true;
    page = allocations->pages[allocations->count - 1];
    last = &page->spans[page->count - 1];
    return last->address < address && address - last->address >= last->size;
}

/* The last page, with room for a span behind all others. NULL: no memory. */
static struct allocation_page *page_behind(struct allocations *allocations)
{
    struct allocation_page *page =
        allocations->count ? allocations->pages[allocations->count - 1] : NULL;

    return page && page->count < PAGE_SPANS ? page : page_new(allocations, allocations->count);
}

/* The page that is to have a span at `address`, with room for it. NULL: no memory. */
static struct allocation_page *page_for(struct allocations *allocations, uint64_t address)
{
    const size_t up_to = pages_up_to(allocations, address), number = up_to ? up_to - 1 : 0;
    struct allocation_page *page, *behind;

    page = allocations->pages[number];
    if (page->count < PAGE_SPANS)
        return page;
    behind = page_new(allocations, number + 1);
    if (!behind)
        return NULL;
    page->count = PAGE_SPANS / 2;
    behind->count = PAGE_SPANS - page->count;
    memcpy(behind->spans, &page->spans[page->count], behind->count * sizeof(*behind->spans));
    return address < behind->spans[0].address ? page : behind;
}

/* Whether none has an address in the range. */
static bool is_free(const struct allocations *allocations, uint64_t address, uint64_t size)
{
    const struct span *before = last_up_to(allocations, address);
    const struct span *last = last_up_to(allocations, address + size - 1);

    return last == before && (!before || address - before->address >= before->size);
}

bool allocations_put(struct allocations *allocations, uint64_t address, uint64_t size, void *tag)
{
    struct allocation_page *page;

    if (size == 0 || size - 1 > UINT64_MAX - address)
        return false;
    const bool behind = ends_before(allocations, address);
    if (!behind && !is_free(allocations, address, size))
        return false;
    page = behind ? page_behind(allocations) : page_for(allocations, address);
    if (!page)
        return false;
    const size_t at = behind ? page->count : spans_up_to(page->spans, page->count, address);
    memmove(&page->spans[at + 1], &page->spans[at], (page->count - at) * sizeof(*page->spans));
    page->spans[at] = (struct span){address, size, tag};
    page->count++;
    return true;
}

void allocations_remove(struct allocations *allocations, uint64_t address)
{
    const size_t pages = pages_up_to(allocations, address);

    if (!allocations_at(allocations, address))
        return;
    struct allocation_page *page = allocations->pages[pages - 1];
    const size_t behind = spans_up_to(page->spans, page->count, address);
    memmove(&page->spans[behind - 1], &page->spans[behind],
            (page->count - behind) * sizeof(*page->spans));
    if (--page->count == 0)
        page_free(allocations, pages - 1);
}
