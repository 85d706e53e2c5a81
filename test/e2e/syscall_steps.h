/*
 * syscall_steps.h - runs another process from one boundary of its system calls to the next, so that
 * it can be killed at each. A boundary, called stop, is the entry to a system call of the main
 * thread or the return from one; at an entry the call has had no effect yet. Other threads and
 * children run freely. One thread of the test does all with the process.
 */
#ifndef GS_TEST_SYSCALL_STEPS_H
#define GS_TEST_SYSCALL_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct steps {
    pid_t pid; /* 0: nothing is traced */
    uint32_t stops;
    bool running;  /* towards the next stop */
    char last[64]; /* the last stop, for people: "entry of sendmsg" */
};

/* 0; or the errno with which the kernel forbids to trace a child. */
int steps_forbidden(void);
/* Takes the process, which stands still until steps_next. false: it has ended. */
bool steps_begin(struct steps *steps, pid_t pid);
/* The next child of the process is taken as it is made: for steps_follow_take. */
void steps_follow(pid_t parent);
/* Waits for that child, leaves the parent alone, and has the child stand before its first
 * instruction. false: there was none in time. */
bool steps_follow_take(struct steps *steps, pid_t parent, unsigned milliseconds);

enum step {
    STEP_STOPPED, /* at another stop */
    STEP_RUNNING, /* no stop in this time: it sleeps in a system call, or computes */
    STEP_ENDED    /* the process has ended by itself */
};
/* Lets it run to the next stop. */
enum step steps_next(struct steps *steps, unsigned milliseconds);
/* Sends SIGKILL where it stands, and waits for the end. */
void steps_kill(struct steps *steps);
/* Lets it go on by itself. */
void steps_end(struct steps *steps);

#endif
