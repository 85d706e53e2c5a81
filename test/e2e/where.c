/* where.c - see where.h. */
#include "where.h"

#include <stdio.h>
#include <string.h>

#include "harness/harness.h"

#define RECORDS (SM_MASK_SMS + 1) /* the last: for SMs beyond a mask */
#define WORDS   (RECORDS + 1)
#define BYTES   (WORDS * sizeof(uint32_t))

/* where: each block notes its SM and stays until all have come, ten seconds at most.
 * hold: adds 1 to the word and stays until it is 2.
 * mix: *state = *state * 1664525 + value. Out of order, or one lost: another result. */
static const char ptx[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                          ".visible .entry where(.param .u64 words, .param .u32 records,\n"
                          "                      .param .u32 blocks)\n"
                          "{\n"
                          "    .reg .pred %p<4>;\n"
                          "    .reg .b32 %r<8>;\n"
                          "    .reg .b64 %rd<10>;\n"
                          "    ld.param.u64 %rd1, [words];\n"
                          "    cvta.to.global.u64 %rd1, %rd1;\n"
                          "    ld.param.u32 %r1, [records];\n"
                          "    ld.param.u32 %r2, [blocks];\n"
                          "    mov.u32 %r3, %smid;\n"
                          "    sub.u32 %r4, %r1, 1;\n"
                          "    min.u32 %r3, %r3, %r4;\n"
                          "    mul.wide.u32 %rd3, %r3, 4;\n"
                          "    add.u64 %rd3, %rd1, %rd3;\n"
                          "    atom.global.add.u32 %r5, [%rd3], 1;\n"
                          "    mul.wide.u32 %rd4, %r1, 4;\n"
                          "    add.u64 %rd4, %rd1, %rd4;\n"
                          "    membar.gl;\n"
                          "    atom.global.add.u32 %r5, [%rd4], 1;\n"
                          "    mov.u64 %rd5, %globaltimer;\n"
                          "again:\n"
                          "    ld.volatile.global.u32 %r6, [%rd4];\n"
                          "    setp.ge.u32 %p1, %r6, %r2;\n"
                          "    @%p1 bra done;\n"
                          "    mov.u64 %rd6, %globaltimer;\n"
                          "    sub.u64 %rd6, %rd6, %rd5;\n"
                          "    setp.lt.u64 %p2, %rd6, 10000000000;\n"
                          "    @%p2 bra again;\n"
                          "done:\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry hold(.param .u64 word)\n"
                          "{\n"
                          "    .reg .pred %p<2>;\n"
                          "    .reg .b32 %r<4>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [word];\n"
                          "    cvta.to.global.u64 %rd1, %rd1;\n"
                          "    atom.global.add.u32 %r1, [%rd1], 1;\n"
                          "held:\n"
                          "    ld.volatile.global.u32 %r2, [%rd1];\n"
                          "    setp.lt.u32 %p1, %r2, 2;\n"
                          "    @%p1 bra held;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry mix(.param .u64 state, .param .u32 value)\n"
                          "{\n"
                          "    .reg .b32 %r<5>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    ld.param.u64 %rd1, [state];\n"
                          "    cvta.to.global.u64 %rd1, %rd1;\n"
                          "    ld.param.u32 %r1, [value];\n"
                          "    ld.global.u32 %r2, [%rd1];\n"
                          "    mad.lo.u32 %r3, %r2, 1664525, %r1;\n"
                          "    st.global.u32 [%rd1], %r3;\n"
                          "    ret;\n"
                          "}\n";

void where_open(struct where *where, gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_kernel_desc kernel = GS_KERNEL_DESC_INIT;
    gs_module module;

    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_module_load(session, ptx, sizeof(ptx) - 1, &module));
    *where = (struct where){
        .session = session, .sms = desc.sm_count, .granularity = desc.sm_granularity};
    CHECK_OK(gs_kernel_get(module, "where", &where->where));
    CHECK_OK(gs_kernel_get(module, "mix", &where->mix));
    CHECK_OK(gs_kernel_get(module, "hold", &where->hold));
    CHECK_OK(gs_kernel_info(where->where, &kernel));
    where->smem = kernel.max_dynamic_smem;
    CHECK_OK(gs_malloc(session, BYTES, &where->words));
}

gs_status where_launch(struct where *where, gs_stream stream, unsigned blocks, const gs_qos *qos,
                       gs_report_id *report)
{
    uint32_t records = RECORDS, count = blocks;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(blocks, 1);

    config.dynamic_smem = where->smem;
    config.qos = qos;
    config.report = report;
    CHECK_OK(gs_memset_async(where->session, where->words, 0, BYTES, stream));
    return gs_launch(stream, where->where, &config, (void *[]){&where->words, &records, &count});
}

struct sm_mask where_read(struct where *where, gs_stream stream, unsigned blocks)
{
    uint32_t words[WORDS];
    struct sm_mask used = {{0}};

    CHECK_OK(gs_memcpy_dtoh_async(where->session, words, where->words, BYTES, stream));
    CHECK_OK(gs_stream_sync(where->session, stream));
    CHECK_EQUAL(words[RECORDS], blocks);
    for (uint32_t sm = 0; sm < RECORDS; sm++) {
        if (words[sm] > 1 || (words[sm] && sm >= where->sms))
            test_fail(__FILE__, __LINE__, "%u blocks ran on SM %u", words[sm], sm);
        if (words[sm])
            sm_mask_set(&used, sm);
    }
    return used;
}

struct sm_mask where_run(struct where *where, gs_stream stream, unsigned blocks, const gs_qos *qos,
                         gs_report_id *report)
{
    CHECK_OK(where_launch(where, stream, blocks, qos, report));
    return where_read(where, stream, blocks);
}

struct sm_mask where_granted(const struct where *where)
{
    gs_exec_affinity affinity;
    struct sm_mask mask;

    CHECK_OK(gs_get_exec_affinity(where->session, &affinity));
    CHECK_EQUAL(affinity.type, GS_EXEC_AFFINITY_SM_COUNT);
    memcpy(mask.word, affinity.sm_mask, sizeof(mask.word));
    CHECK_EQUAL(affinity.sm_count, sm_mask_count(&mask));
    CHECK_EQUAL(where_rounded(where, sm_count_of_percentage(where->sms, affinity.percentage)),
                affinity.sm_count);
    return mask;
}

struct sm_mask where_exact(struct where *where)
{
    for (;;) {
        struct sm_mask before = where_granted(where);
        CHECK_OK(where_launch(where, NULL, sm_mask_count(&before), NULL, NULL));
        CHECK_OK(gs_sync(where->session));
        struct sm_mask after = where_granted(where);
        if (!sm_mask_equal(&before, &after))
            continue;
        CHECK_SMS(where_read(where, NULL, sm_mask_count(&before)), before);
        return before;
    }
}

unsigned where_rounded(const struct where *where, unsigned sms)
{
    unsigned group = where->granularity ? where->granularity : 1;

    return (sms + group - 1) / group * group;
}

gs_qos where_count(unsigned sms)
{
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = sms;
    return qos;
}

gs_qos where_percentage(unsigned percentage)
{
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE;
    qos.affinity.percentage = percentage;
    return qos;
}

gs_qos where_mask(const struct sm_mask *mask)
{
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_MASK;
    memcpy(qos.affinity.sm_mask, mask->word, sizeof(mask->word));
    return qos;
}

/* A launch on a count of SMs takes the first groups: each further one shows itself. */
static struct {
    unsigned count;
    struct sm_mask group[SM_GROUPS_MAX];
} groups;

void where_find_groups(struct where *where)
{
    struct sm_mask before = {{0}};

    groups.count = 0;
    for (unsigned sms = where->granularity; sms <= where->sms; sms += where->granularity) {
        gs_qos qos = where_count(sms);
        struct sm_mask used = where_run(where, NULL, sms, &qos, NULL);
        CHECK(sm_mask_within(&before, &used));
        groups.group[groups.count++] = sm_mask_minus(used, before);
        before = used;
    }
}

struct sm_mask where_some(const struct sm_mask *of)
{
    struct sm_mask some = {{0}};

    CHECK(groups.count > 1);
    for (unsigned i = 0; i < groups.count; i++) {
        if (sm_mask_within(&groups.group[i], of) && test_random() % 2)
            some = sm_mask_or(some, groups.group[i]);
    }
    return sm_mask_empty(&some) ? *of : some;
}

struct sm_mask where_group(unsigned number)
{
    CHECK(number < groups.count);
    return groups.group[number];
}

unsigned where_groups(void)
{
    return groups.count;
}

void where_same(const char *file, int line, const char *what, struct sm_mask got,
                struct sm_mask wanted)
{
    char a[200], b[200];

    if (!sm_mask_equal(&got, &wanted))
        test_fail(file, line, "%s: SMs %s, not %s", what, sm_mask_print(a, sizeof(a), &got),
                  sm_mask_print(b, sizeof(b), &wanted));
}
