/*
 * mpi.c - the ranks of an MPI job on one machine share its GPUs, and each other's memory: every
 * rank exports a buffer, the handles travel by MPI, and each rank reads its neighbour's without a
 * copy through the host.
 *
 *     gshared -d --devices all
 *     mpicc mpi.c $(pkg-config --cflags --libs gshare) -o mpi && mpirun -n 4 ./mpi
 */
#include <gshare.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 4 << 20, RANKS_MAX = 256 };

struct offer {
    gs_mem_handle handle;
    int device; /* ranks of one device can share memory */
};

static void check(gs_status status)
{
    if (status != GS_OK) {
        fprintf(stderr, "mpi: %s: %s\n", gs_status_name(status), gs_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The next rank that is on the same device; the rank itself when it is there alone. */
static int neighbour(const struct offer *offers, int rank, int ranks)
{
    int next = (rank + 1) % ranks;

    while (offers[next].device != offers[rank].device)
        next = (next + 1) % ranks;
    return next;
}

int main(int argc, char **argv)
{
    static struct offer offers[RANKS_MAX];
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    unsigned char first = 0, last = 0;
    gs_devptr own, theirs;
    struct offer mine;
    gs_session session;
    int rank, ranks, next;
    size_t size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > RANKS_MAX) {
        fprintf(stderr, "mpi: %d ranks, at most %d\n", ranks, RANKS_MAX);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }

    check(gs_attach(NULL, &session)); /* the device of this rank on the machine */
    check(gs_session_info(session, &desc));
    mine.device = desc.device;
    check(gs_malloc(session, BYTES, &own));
    check(gs_memset(session, own, rank + 1, BYTES));
    check(gs_mem_export(session, own, GS_EXPORT_TO_USER, &mine.handle));
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, offers, sizeof(mine), MPI_BYTE, MPI_COMM_WORLD);

    next = neighbour(offers, rank, ranks);
    check(gs_mem_import(session, &offers[next].handle, &theirs, &size));
    /* A handle is void when its owner has ended; what is mapped stays. */
    MPI_Barrier(MPI_COMM_WORLD);
    check(gs_memcpy_dtoh(session, &first, theirs, 1));
    check(gs_memcpy_dtoh(session, &last, theirs + size - 1, 1));
    printf("rank %d on device %d reads %d of rank %d\n", rank, desc.device, first, next);
    check(gs_detach(session));

    MPI_Finalize();
    return first == next + 1 && last == first ? 0 : 1;
}
