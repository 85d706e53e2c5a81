/* status_page.h - the page by which clients see that the server lives (wire_control.h has its
 * layout). */
#ifndef GS_SERVER_STATUS_PAGE_H
#define GS_SERVER_STATUS_PAGE_H

#include <stdbool.h>

#include "common/wire.h"

struct status_map {
    struct status_page *page;
    int id; /* System V id */
};

/* Makes the page of an instance, which the kernel marks at the death of the calling thread, the
 * keeper's. open_to_all: readable by every user. Returns 0 or -errno. */
int status_page_init(struct status_map *map, const char *instance, bool open_to_all);
/* Keeps the kernel from marking the page while the calling process becomes another program. */
void status_page_pause(void);
/* Makes the kernel mark the page at the death of the calling thread again. Returns 0 or -errno. */
int status_page_go_on(const struct status_map *map);
/* Attaches the page of the program that this process was before an exec. Returns false if the page
 * is gone because no process had it attached. */
bool status_page_restore(struct status_map *map);
/* Tells the clients that the server has ended, just before it does. Does nothing without a page. */
void status_page_end(struct status_map *map);

#endif
