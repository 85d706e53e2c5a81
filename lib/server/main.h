/* main.h - the supervisor's entry. */
#ifndef GS_SERVER_MAIN_H
#define GS_SERVER_MAIN_H

/* Runs the supervisor until it is told to end. Returns the exit status. */
int supervisor_main(int argc, char **argv);

#endif
