/*
 * mpi.c - the ranks of an MPI job on one host share its GPUs, and each other's memory: every rank
 * exports a buffer, the handles travel by MPI, and each rank reads its neighbour's without a copy
 * through the host. Ranks of other hosts, where another server is, hear by MPI that all was right.
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
    int device; /* ranks of one device of one host can share memory */
    int rank;
};

static void check(gs_status status)
{
    if (status != GS_OK) {
        fprintf(stderr, "mpi: %s: %s\n", gs_status_name(status), gs_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The next rank of the host that is on the same device; the one at `at` itself when it is there
 * alone. */
static const struct offer *neighbour(const struct offer *offers, int at, int count)
{
    int next = (at + 1) % count;

    while (offers[next].device != offers[at].device)
        next = (next + 1) % count;
    return &offers[next];
}

int main(int argc, char **argv)
{
    static struct offer offers[RANKS_MAX];
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    unsigned char first = 0, last = 0, wanted;
    const struct offer *next;
    gs_devptr own, theirs;
    struct offer mine;
    gs_session session;
    int at, count, right, all;
    MPI_Comm host;
    size_t size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mine.rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, mine.rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &at);
    MPI_Comm_size(host, &count);
    if (count > RANKS_MAX) {
        fprintf(stderr, "mpi: %d ranks of a host, at most %d\n", count, RANKS_MAX);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }

    check(gs_attach(NULL, &session)); /* the device of this rank on the host */
    check(gs_session_info(session, &desc));
    mine.device = desc.device;
    check(gs_malloc(session, BYTES, &own));
    check(gs_memset(session, own, mine.rank + 1, BYTES));
    check(gs_mem_export(session, own, GS_EXPORT_TO_USER, &mine.handle));
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, offers, sizeof(mine), MPI_BYTE, host);

    next = neighbour(offers, at, count);
    check(gs_mem_import(session, &next->handle, &theirs, &size));
    /* A handle is void when its owner has ended; what is mapped stays. */
    MPI_Barrier(host);
    check(gs_memcpy_dtoh(session, &first, theirs, 1));
    check(gs_memcpy_dtoh(session, &last, theirs + size - 1, 1));
    printf("rank %d on device %d reads %d of rank %d\n", mine.rank, desc.device, first, next->rank);
    check(gs_detach(session));

    wanted = (unsigned char)(next->rank + 1);
    right = first == wanted && last == wanted;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Finalize();
    return all ? 0 : 1;
}
