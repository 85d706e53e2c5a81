/* status_page.h - the page by which clients see that the server lives (wire_control.h has its
 * layout). */
#ifndef GS_SERVER_STATUS_PAGE_H
#define GS_SERVER_STATUS_PAGE_H

#include <stdbool.h>

#include "common/wire.h"

struct status_map {
    struct status_page *page;
    int id; /* System V */
};

/* Makes the page of an instance and has the kernel mark it at the death of the calling thread,
 * which must be the one that serves. open_to_all: readable by every user. 0 or -errno. */
int status_page_init(struct status_map *map, const char *instance, bool open_to_all);
/* Keeps the kernel from marking the page while the calling process becomes another program. */
void status_page_pause(void);
/* Has the kernel mark the page at the death of the calling thread again. 0 or -errno. */
int status_page_go_on(const struct status_map *map);
/* Attaches the page of the program that this process was. false: nobody had it attached, and it is
 * gone. */
bool status_page_restore(struct status_map *map);
/* Tells the clients that the server has ended, before it has. Harmless without a page. */
void status_page_end(struct status_map *map);

#endif
