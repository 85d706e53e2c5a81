/* main.h - the worker's entry; see main.c. */
#ifndef GS_WORKER_LOOP_MAIN_H
#define GS_WORKER_LOOP_MAIN_H

/* Runs the worker of device number `device` with the driver `kind` (cuda, soft or auto) and the
 * doorbell queue bell_name, until the supervisor's socket ends. Returns the exit status. */
int worker_main(int device, const char *kind, const char *bell_name, const char *code_directory);

#endif
