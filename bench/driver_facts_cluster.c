/*
 * What a block reaches by the addresses of its cluster: of a block that has ended and whose SM and
 * memory another kernel's block has taken, of a rank that the cluster has not, and of what lies
 * behind a block's own shared memory. By loads, stores, atomics, arrivals at barriers and bulk
 * copies. A fault ends the context, so each combination is asked in a process of its own, and what
 * was seen until then stands in memory of the host.
 */
#include "driver_facts.h"

#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define WHOLE        (200u * 1024) /* an SM's shared memory to one block */
#define HALF         (100u * 1024)
#define SMS_MAX      256
#define SECRETS      "0x5ec7e7" /* the upper 24 bits of the victims' words */

/* The words of the host, 4 bytes each: see both kernels. */
enum word { SMID, STOP, MET, DONE, READ, LOOKED, CHANGED, PRESENT = 16, WORDS = PRESENT + SMS_MAX };

static const char *const op_names[] = {
    "load",           "store",        "atomic exchange",        "arrival",           "bulk copy",
    "bulk reduction", "generic load", "bulk copy, own barrier", "asynchronous store"};
enum place { ENDED, NO_RANK, BEHIND };

/* %r0: bytes, %r1: operation, %r2: place, %r3: rank; %r5: the own memory; %r6: what is reached for.
 * Block 1 says on which SM it runs, and ends at once (place ENDED) or when block 0 is done. Block 0
 * waits until a victim is on that SM (place NO_RANK: on its own), and makes 3,000 accesses. */
#define OP(n)  "setp.eq.u32 %p, %r1, " #n "; @!%p bra not" #n ";\n"
#define END(n) "bra made; not" #n ":\n"
#define BULK   "and.b32 %r9, %r6, 0xfffffff0; "
static const char ptx_cluster[] =
    ".version 8.1\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b32 room[];\n"
    ".visible .entry looker" PTX_PARAMS ".reqnctapercluster 2, 1, 1\n"
    "{ .reg .b64 %t<5>; .reg .b32 %r<14>; .reg .pred %p;\n"
    "ld.param.u64 %t0, [a]; ld.param.u32 %r0, [b]; ld.param.u32 %r1, [c]; ld.param.u32 %r3, [d];\n"
    "shr.u32 %r2, %r1, 8; and.b32 %r1, %r1, 255; mov.u32 %r5, room; mov.u32 %r4, "
    "%cluster_ctarank;\n"
    "mov.u32 %r7, 0; add.u32 %r8, %r4, 0x11110000;\n"
    "own: add.u32 %r9, %r5, %r7; st.shared.u32 [%r9], %r8; add.u32 %r7, %r7, 4;\n"
    "setp.lt.u32 %p, %r7, %r0; @%p bra own;\n"
    "setp.eq.u32 %p, %r4, 0; @%p bra met; mov.u32 %r8, %smid; st.volatile.global.u32 [%t0], %r8;\n"
    "met: membar.sys; barrier.cluster.arrive; barrier.cluster.wait;\n"
    "setp.eq.u32 %p, %r4, 0; @%p bra first; setp.eq.u32 %p, %r2, 0; @%p bra end;\n"
    "stay: ld.volatile.global.u32 %r8, [%t0+4]; setp.eq.u32 %p, %r8, 0; @%p bra stay;\n"
    "end: ret;\n"
    "first: ld.volatile.global.u32 %r8, [%t0]; setp.ne.u32 %p, %r2, 1; @%p bra wait;\n"
    "mov.u32 %r8, %smid;\n"
    "wait: mad.wide.u32 %t1, %r8, 4, %t0;\n"
    "again: ld.volatile.global.u32 %r9, [%t1+64]; setp.eq.u32 %p, %r9, 0; @%p bra again;\n"
    "st.volatile.global.u32 [%t0+8], 1; and.b32 %r9, %r5, 0xffffff; shl.b32 %r10, %r3, 24;\n"
    "or.b32 %r6, %r9, %r10; setp.eq.u32 %p, %r2, 1; @%p bra reach;\n"
    "mapa.shared::cluster.u32 %r6, %r5, 1; setp.ne.u32 %p, %r2, 2; @%p bra reach;\n"
    "add.u32 %r6, %r6, %r0;\n"
    "reach: mov.u32 %r7, 0; mov.u32 %r11, 0;\n"
    "access: mov.u32 %r8, 0;\n" OP(0) "ld.volatile.shared::cluster.u32 %r8, [%r6];" END(0)
        OP(1) "st.volatile.shared::cluster.u32 [%r6], 7;" END(1)
            OP(2) "atom.shared::cluster.exch.b32 %r8, [%r6], 7;" END(2)
                OP(3) "and.b32 %r9, %r6, 0xfffffff8;"
                      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];" END(3) OP(4)
                          BULK
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    " [%r9], [%r5], 16, [%r9+64];" END(4) OP(5) BULK
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add"
    ".u32 [%r9], [%r5], 16, [%r9+64];" END(5)
        OP(6) "cvt.u64.u32 %t2, %r6; cvta.shared::cluster.u64 %t2, %t2; ld.volatile.u32 %r8, "
              "[%t2];" END(6) OP(7) BULK
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    " [%r9], [%r5], 16, [%r5+64];" END(7) OP(8) BULK
    "mov.u32 %r12, 7; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32"
    " [%r6], %r12, [%r9+64];" END(
        8) "made: add.u32 %r11, %r11, 1; st.volatile.global.u32 [%t0+12], %r11; shr.u32 %r8, %r8, "
           "8;\n"
           "setp.ne.u32 %p, %r8, " SECRETS "; @%p bra none; ld.volatile.global.u32 %r9, [%t0+16];\n"
           "add.u32 %r9, %r9, 1; st.volatile.global.u32 [%t0+16], %r9;\n"
           "none: add.u32 %r6, %r6, 32; setp.lt.u32 %p, %r11, 3000; @%p bra access;\n"
           "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; mov.u64 %t2, %clock64;\n"
           "rest: mov.u64 %t3, %clock64; sub.u64 %t3, %t3, %t2; setp.lt.u64 %p, %t3, 20000000;\n"
           "@%p bra rest; st.volatile.global.u32 [%t0+4], 1; membar.sys; ret; }\n"
           /* Fills its memory, says that it is there, and counts what is no longer as it was. */
           ".visible .entry victim" PTX_PARAMS
           "{ .reg .b64 %t<4>; .reg .b32 %r<8>; .reg .pred %p;\n"
           "ld.param.u64 %t0, [a]; ld.param.u32 %r0, [b]; mov.u32 %r1, room; mov.u32 %r2, 0;\n"
           "fill: and.b32 %r3, %r2, 255; or.b32 %r3, %r3, " SECRETS "00; add.u32 %r4, %r1, %r2;\n"
           "st.shared.u32 [%r4], %r3; add.u32 %r2, %r2, 4; setp.lt.u32 %p, %r2, %r0; @%p bra "
           "fill;\n"
           "membar.sys; mov.u32 %r5, %smid; mad.wide.u32 %t1, %r5, 4, %t0; mov.u64 %t2, %clock64;\n"
           "st.volatile.global.u32 [%t1+64], 1;\n"
           "look: mov.u32 %r2, 0;\n"
           "word: and.b32 %r3, %r2, 255; or.b32 %r3, %r3, " SECRETS "00; add.u32 %r4, %r1, %r2;\n"
           "ld.volatile.shared.u32 %r5, [%r4]; setp.eq.u32 %p, %r5, %r3; @%p bra same;\n"
           "red.global.sys.add.u32 [%t0+24], 1;\n"
           "same: add.u32 %r2, %r2, 4; setp.lt.u32 %p, %r2, %r0; @%p bra word;\n"
           "red.global.sys.add.u32 [%t0+20], 1; mov.u64 %t3, %clock64; sub.u64 %t3, %t3, %t2;\n"
           "setp.gt.u64 %p, %t3, 2000000000; @%p bra out;\n"
           "ld.volatile.global.u32 %r5, [%t0+4]; setp.eq.u32 %p, %r5, 0; @%p bra look;\n"
           "out: ret; }\n";

static CUresult victims_launch(CUfunction f, unsigned blocks, unsigned shared, CUstream stream)
{
    return cuLaunchKernel(f, blocks, 1, 1, 1, 1, 1, shared, stream, args, NULL);
}

static CUresult ask(unsigned op, enum place place, unsigned rank)
{
    const unsigned shared = place == ENDED ? WHOLE : HALF;
    _Atomic uint32_t *seen;
    CUfunction looker, victim;
    CUstream one, two;
    CUmodule module;
    CUresult result;
    void *cubin;
    int sms;
    const char *name = "nothing";

    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CK(context_open(CU_CTX_SCHED_SPIN));
    CK(cubin_new(ptx_cluster, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&looker, module, "looker"));
    CK(cuModuleGetFunction(&victim, module, "victim"));
    CK(cuFuncSetAttribute(looker, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    CK(cuFuncSetAttribute(victim, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    CK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CK(stream_new(&one));
    CK(stream_new(&two));
    seen = (_Atomic uint32_t *)words;
    memset((void *)words, 0, WORDS * sizeof(*seen));
    seen[SMID] = UINT32_MAX;
    arg.a = words_dev;
    arg.b = shared;
    arg.c = op | (unsigned)place << 8;
    arg.d = rank;
    CK(cuLaunchKernel(looker, 2, 1, 1, 1, 1, 1, shared, one, args, NULL));
    while (atomic_load(&seen[SMID]) == UINT32_MAX)
        ;
    /* as many as fit beside block 0: one of them has the place of block 1 */
    CK(victims_launch(victim, (unsigned)(place == ENDED ? sms - 1 : 2 * sms - 2), shared, two));
    result = cuStreamSynchronize(one);
    if (result)
        cuGetErrorName(result, &name);
    printf(
        "  %-23s %s %3u: %s, after %u accesses%s: %u words of others read; they looked at theirs "
        "%u times, and %u had changed\n",
        op_names[op],
        place == ENDED     ? "ended block, rank"
        : place == NO_RANK ? "live cluster, rank"
                           : "behind block",
        rank, name, seen[DONE], seen[MET] ? "" : " (no victim there)", seen[READ], seen[LOOKED],
        seen[CHANGED]);
    return CUDA_SUCCESS;
}

static void ask_apart(unsigned op, enum place place, unsigned rank)
{
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(20);
        ask(op, place, rank);
        fflush(stdout);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

CUresult question_cluster(void)
{
    for (unsigned op = 0; op < COUNT(op_names); op++)
        ask_apart(op, ENDED, 1);
    for (unsigned op = 0; op < COUNT(op_names); op++)
        ask_apart(op, BEHIND, 1);
    return CUDA_SUCCESS;
}

CUresult question_cluster_ranks(void)
{
    static const unsigned ranks[] = {0, 1, 2, 7, 16, 255};

    for (unsigned op = 0; op < COUNT(op_names); op++)
        for (unsigned i = 0; i < COUNT(ranks); i++)
            ask_apart(op, NO_RANK, ranks[i]);
    return CUDA_SUCCESS;
}
