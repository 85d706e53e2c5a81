/* status_page.h - the page by which clients see that the server lives (wire_control.h has its
 * layout). */
#ifndef GS_SERVER_STATUS_PAGE_H
#define GS_SERVER_STATUS_PAGE_H

#include "common/wire.h"

struct status_map {
    struct status_page *page;
    int id; /* System V */
};

/* Makes the page and has the kernel mark it at the death of the calling thread, which must be the
 * one that serves. open_to_all: readable by every user. 0 or -errno. */
int status_page_init(struct status_map *map, int open_to_all);
/* Tells the clients that the server has ended, before it has. Harmless without a page. */
void status_page_end(struct status_map *map);

#endif
