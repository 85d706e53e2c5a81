/* descriptors.h - visits the descriptors that this process has open. */
#ifndef GS_SERVER_DESCRIPTORS_H
#define GS_SERVER_DESCRIPTORS_H

/* Calls visit(fd, with) for each except the three standard ones. `visit` may close the
 * descriptor. */
void descriptors_visit(void (*visit)(int fd, const void *with), const void *with);

#endif
