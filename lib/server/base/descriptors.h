/* descriptors.h - the descriptors that this process has open. */
#ifndef GS_SERVER_DESCRIPTORS_H
#define GS_SERVER_DESCRIPTORS_H

/* Calls visit for each but the three standard ones, with `with`; visit may close it. */
void descriptors_visit(void (*visit)(int fd, const void *with), const void *with);

#endif
