/* sm_mask.c - see sm_mask.h. */
#include "common/sm_mask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

const char *sm_mask_print(char *out, size_t size, const struct sm_mask *mask)
{
    size_t length = 0;

    out[0] = 0;
    for (uint32_t sm = 0; sm < SM_MASK_SMS; sm++) {
        uint32_t last = sm;
        char part[24];

        if (!sm_mask_has(mask, sm))
            continue;
        while (sm_mask_has(mask, last + 1))
            last++;
        int n = last > sm ? snprintf(part, sizeof(part), "%s%u-%u", length ? "," : "", sm, last)
                          : snprintf(part, sizeof(part), "%s%u", length ? "," : "", sm);
        if (length + (size_t)n + sizeof("...") > size) {
            snprintf(out + length, size - length, "...");
            return out;
        }
        memcpy(out + length, part, (size_t)n + 1);
        length += (size_t)n;
        sm = last;
    }
    return out;
}

/* Reads one SM's number and returns its end; NULL if `text` does not begin with one. */
static const char *number_parse(uint32_t *number, const char *text)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    unsigned long value = strtoul(text, &end, 10);
    if (value >= SM_MASK_SMS || end - text > 9)
        return NULL;
    *number = (uint32_t)value;
    return end;
}

bool sm_mask_parse(struct sm_mask *mask, const char *text)
{
    struct sm_mask read = {{0}};

    for (;;) {
        uint32_t first, last;

        text = number_parse(&first, text);
        if (!text)
            return false;
        last = first;
        if (*text == '-')
            text = number_parse(&last, text + 1);
        if (!text || last < first)
            return false;
        for (uint32_t sm = first; sm <= last; sm++)
            sm_mask_set(&read, sm);
        if (*text == 0)
            break;
        if (*text++ != ',')
            return false;
    }
    *mask = read;
    return true;
}
