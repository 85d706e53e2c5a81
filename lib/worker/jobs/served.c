/* served.c - see served.h. */
#include "worker/jobs/served.h"

#include <string.h>

uint32_t served_since(const struct served *served, uint32_t uid)
{
    uint32_t i = 0;

    while (i < served->count && served->uid[i] != uid)
        i++;
    return i;
}

void served_note(struct served *served, uint32_t uid)
{
    uint32_t i = served_since(served, uid);

    if (i == served->count && i < SERVED_MAX)
        served->count++;
    else if (i == SERVED_MAX)
        i--;
    memmove(&served->uid[1], &served->uid[0], i * sizeof(served->uid[0]));
    served->uid[0] = uid;
}
