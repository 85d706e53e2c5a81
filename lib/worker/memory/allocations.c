/* allocations.c - see allocations.h. */
#include "worker/memory/allocations.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_PLACES 512u

struct allocation_page {
    size_t count;
    struct place places[PAGE_PLACES]; /* sorted by address, disjoint */
};

void allocations_deinit(struct allocations *allocations)
{
    for (size_t i = 0; i < allocations->count; i++)
        free(allocations->pages[i]);
    free(allocations->pages);
    *allocations = (struct allocations){0};
}

/* Returns how many pages begin at `address` or before it. */
static size_t pages_up_to(const struct allocations *allocations, uint64_t address)
{
    size_t low = 0, high = allocations->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (allocations->pages[middle]->places[0].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the last entry that begins at `address` or before it; NULL: there is none. */
static const struct place *last_up_to(const struct allocations *allocations, uint64_t address)
{
    const size_t pages = pages_up_to(allocations, address);

    if (!pages)
        return NULL;
    const struct allocation_page *page = allocations->pages[pages - 1];
    return &page->places[places_up_to(page->places, page->count, address) - 1];
}

const struct place *allocations_at(const struct allocations *allocations, uint64_t address)
{
    const struct place *place = last_up_to(allocations, address);

    return place && place->address == address ? place : NULL;
}

const struct place *allocations_containing(const struct allocations *allocations, uint64_t address,
                                           uint64_t size)
{
    const struct place *place = last_up_to(allocations, address);

    return place && address - place->address < place->size &&
                   size <= place->size - (address - place->address)
               ? place
               : NULL;
}

/* Inserts an empty page at index `number`. NULL: no memory. */
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

/* Returns whether all entries end before the address. If so, the new entry needs no search, and
 * splits no page. */
static bool ends_before(const struct allocations *allocations, uint64_t address)
{
    const struct allocation_page *page;
    const struct place *last;

    if (!allocations->count)
        return true;
    page = allocations->pages[allocations->count - 1];
    last = &page->places[page->count - 1];
    return last->address < address && address - last->address >= last->size;
}

/* Returns the last page, with room for an entry behind all others. NULL: no memory. */
static struct allocation_page *page_behind(struct allocations *allocations)
{
    struct allocation_page *page =
        allocations->count ? allocations->pages[allocations->count - 1] : NULL;

    return page && page->count < PAGE_PLACES ? page : page_new(allocations, allocations->count);
}

/* Returns the page for an entry at `address`, after splitting it if it is full. NULL: no memory. */
static struct allocation_page *page_for(struct allocations *allocations, uint64_t address)
{
    const size_t up_to = pages_up_to(allocations, address), number = up_to ? up_to - 1 : 0;
    struct allocation_page *page, *behind;

    page = allocations->pages[number];
    if (page->count < PAGE_PLACES)
        return page;
    behind = page_new(allocations, number + 1);
    if (!behind)
        return NULL;
    page->count = PAGE_PLACES / 2;
    behind->count = PAGE_PLACES - page->count;
    memcpy(behind->places, &page->places[page->count], behind->count * sizeof(*behind->places));
    return address < behind->places[0].address ? page : behind;
}

/* Returns whether no entry overlaps the range. */
static bool is_free(const struct allocations *allocations, uint64_t address, uint64_t size)
{
    const struct place *before = last_up_to(allocations, address);
    const struct place *last = last_up_to(allocations, address + size - 1);

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
    const size_t at = behind ? page->count : places_up_to(page->places, page->count, address);
    memmove(&page->places[at + 1], &page->places[at], (page->count - at) * sizeof(*page->places));
    page->places[at] = (struct place){address, size, tag};
    page->count++;
    return true;
}

void allocations_remove(struct allocations *allocations, uint64_t address)
{
    const size_t pages = pages_up_to(allocations, address);

    if (!allocations_at(allocations, address))
        return;
    struct allocation_page *page = allocations->pages[pages - 1];
    const size_t behind = places_up_to(page->places, page->count, address);
    memmove(&page->places[behind - 1], &page->places[behind],
            (page->count - behind) * sizeof(*page->places));
    if (--page->count == 0)
        page_free(allocations, pages - 1);
}
