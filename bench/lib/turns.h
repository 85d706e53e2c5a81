/*
 * turns.h - what a setting of the server costs: launches a second of tenants of a server that has
 * it, and of one that has not, by turns. In a cell of gshare's side.
 */
#ifndef GS_BENCH_TURNS_H
#define GS_BENCH_TURNS_H

#include <stddef.h>

enum { TURN_ON, TURN_OFF, TURN_MODES };

struct turns {
    struct {
        const char *log;            /* the name of the server's log, in the plan's folder */
        const char *const *options; /* of the server; NULL: none */
    } server[TURN_MODES];
    const void *image; /* the kernels that are launched */
    size_t image_size; /* 0: NUL-terminated PTX */
    /* Called once each round, when the tenants are there, with the path of the log of the server
     * that has the setting: returns when both servers are in the state to be measured. NULL: they
     * are at once. */
    void (*settle)(const char *log);
};

/* Compares with one tenant and with four. Notes on_N and off_N (launches a second), loss_N (the
 * median), loss_error_N, loss_q1_N, loss_q3_N, loss_n_N and loss_round_N_R. */
void turns_measure(const struct turns *turns);

#endif
