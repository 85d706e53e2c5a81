/*
 * sm_topology.c - finds how finely the device can be divided, and which SMs each group has.
 *
 * The driver splits the device into groups of SMs, but says only how many SMs each has (2 on an
 * H200). The worker finds the SMs of a group by running a kernel on them. For n groups it makes
 * some log2(n) green contexts: context k contains the groups whose number, counted from 1, has bit
 * k set. In each of them a kernel with one block on each SM records %smid, so each SM collects the
 * bits of its group's number. The answers must be consistent (each SM once in a context, as many
 * SMs in a group as the driver said); otherwise none of them is used. The same contexts show
 * whether the driver gives a destroyed context's memory back.
 *
 * Runs at the worker's start, before there are threads or tenants; takes some 10 ms on an H200.
 */
#include "worker/partition/sm_topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

/* a counter of blocks for each SM, and a last one for all SMs with higher numbers */
#define RECORDS      (SM_MASK_SMS + 1)
#define ARRIVED      RECORDS /* the counter of blocks that have recorded their SM */
#define WORDS        (RECORDS + 1)
#define PATIENCE_NS  10000000000u /* the longest that a block waits for the others */
#define GROUPS_LEAST 2u           /* with fewer groups there is nothing to choose from */
#define CODE_BITS    16           /* bits of a group's number */

static struct {
    uint32_t count;
    CUdevResource resource[SM_GROUPS_MAX];
    char fault[160]; /* why the device has no partitions */
} groups;

/* The kernel that records SMs. Each block asks for so much shared memory that no two fit on an SM,
 * and stays until all blocks have started, so each block has an SM of its own. */
static const char where_ptx[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                                ".visible .entry where(.param .u64 words, .param .u32 records,\n"
                                "                      .param .u32 blocks, .param .u64 patience)\n"
                                "{\n"
                                "    .reg .pred %p<4>;\n"
                                "    .reg .b32 %r<8>;\n"
                                "    .reg .b64 %rd<10>;\n"
                                "    ld.param.u64 %rd1, [words];\n"
                                "    cvta.to.global.u64 %rd1, %rd1;\n"
                                "    ld.param.u32 %r1, [records];\n"
                                "    ld.param.u32 %r2, [blocks];\n"
                                "    ld.param.u64 %rd2, [patience];\n"
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
                                "    setp.lt.u64 %p2, %rd6, %rd2;\n"
                                "    @%p2 bra again;\n"
                                "done:\n"
                                "    ret;\n"
                                "}\n";

/* Notes why the device has no groups. Returns false. */
static bool groups_fail(const char *why)
{
    snprintf(groups.fault, sizeof(groups.fault), "%s", why);
    return false;
}

/* Notes that the last driver call failed. Returns false. */
static bool groups_fail_driver(void)
{
    driver_describe(groups.fault, sizeof(groups.fault));
    return false;
}

/* Splits the device as finely as the driver can; SMs left over become one more group. */
static bool device_split(void)
{
    CUdevResource all, rest = {.type = CU_DEV_RESOURCE_TYPE_INVALID};
    unsigned int count = 0;

    if (DRV(cuDeviceGetDevResource, worker->device, &all, CU_DEV_RESOURCE_TYPE_SM) ||
        DRV(cuDevSmResourceSplitByCount, NULL, &count, &all, NULL,
            CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 1))
        return groups_fail_driver();
    if (count < GROUPS_LEAST || count >= SM_GROUPS_MAX || worker->info.sm_count > SM_MASK_SMS) {
        snprintf(groups.fault, sizeof(groups.fault), "%u groups of %u SMs", count,
                 worker->info.sm_count);
        return false;
    }
    if (DRV(cuDevSmResourceSplitByCount, groups.resource, &count, &all, &rest,
            CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 1))
        return groups_fail_driver();
    if (rest.type == CU_DEV_RESOURCE_TYPE_SM && rest.sm.smCount)
        groups.resource[count++] = rest;
    groups.count = count;
    return true;
}

/* Runs one block on each SM of `green`, which should have `sms` of them. Adds `bit` to the code of
 * each SM that recorded a block. */
static bool sms_record(CUgreenCtx green, CUfunction where, CUdeviceptr words, uint32_t sms,
                       uint32_t bit, uint16_t *code)
{
    uint32_t seen[WORDS], records = RECORDS, found = 0;
    uint64_t patience = PATIENCE_NS;
    void *params[] = {&words, &records, &sms, &patience};
    CUstream stream;

    if (DRV(cuGreenCtxStreamCreate, &stream, green, CU_STREAM_NON_BLOCKING, 0))
        return groups_fail_driver();
    CUresult result = DRV(cuMemsetD32Async, words, 0, WORDS, stream);
    if (!result)
        result = DRV(cuLaunchKernel, where, sms, 1, 1, 1, 1, 1, worker->info.max_dynamic_smem,
                     stream, params, NULL);
    if (!result)
        result = DRV(cuStreamSynchronize, stream);
    if (!result)
        result = DRV(cuMemcpyDtoH_v2, seen, words, sizeof(seen));
    if (result)
        groups_fail_driver();
    DRV_MUST(cuStreamDestroy_v2, stream);
    if (result)
        return false;
    for (uint32_t sm = 0; sm < RECORDS; sm++) {
        if (seen[sm] > 1 || (seen[sm] && sm >= worker->info.sm_count)) {
            snprintf(groups.fault, sizeof(groups.fault), "%u blocks ran on SM %u", seen[sm], sm);
            return false;
        }
        found += seen[sm];
        if (seen[sm])
            code[sm] = (uint16_t)(code[sm] | bit);
    }
    return found == sms && seen[ARRIVED] == sms ? true
                                                : groups_fail("a block found no SM of its own");
}

/* Records the SMs of the groups whose number has this bit. */
static bool bit_find(CUfunction where, CUdeviceptr words, uint32_t bit, uint16_t *code)
{
    static CUdevResource chosen[SM_GROUPS_MAX];
    uint32_t count = 0, sms = 0;
    CUdevResourceDesc desc;
    CUgreenCtx green;

    for (uint32_t i = 0; i < groups.count; i++) {
        if (!((i + 1) & bit))
            continue;
        sms += groups.resource[i].sm.smCount;
        chosen[count++] = groups.resource[i];
    }
    if (DRV(cuDevResourceGenerateDesc, &desc, chosen, count) ||
        DRV(cuGreenCtxCreate, &green, desc, worker->device, CU_GREEN_CTX_DEFAULT_STREAM))
        return groups_fail_driver();
    bool found = sms_record(green, where, words, sms, bit, code);
    DRV_MUST(cuGreenCtxDestroy, green);
    return found;
}

/* Checks the codes and fills found->info from them. Code 0 belongs to no group. */
static bool codes_take(struct worker *found, const uint16_t *code)
{
    uint32_t size[SM_GROUPS_MAX] = {0}, least = UINT32_MAX;

    for (uint32_t sm = 0; sm < worker->info.sm_count; sm++) {
        if (code[sm] == 0 || code[sm] > groups.count) {
            snprintf(groups.fault, sizeof(groups.fault), "SM %u is in no group", sm);
            return false;
        }
        found->info.sm_group[sm] = (uint8_t)(code[sm] - 1);
        size[code[sm] - 1]++;
    }
    for (uint32_t i = 0; i < groups.count; i++) {
        if (size[i] != groups.resource[i].sm.smCount) {
            snprintf(groups.fault, sizeof(groups.fault), "group %u has %u SMs, not %u", i, size[i],
                     groups.resource[i].sm.smCount);
            return false;
        }
        if (size[i] < least)
            least = size[i];
    }
    found->info.sm_granularity = least;
    return true;
}

static int64_t memory_free(void)
{
    size_t free = 0, total;

    DRV_MUST(cuMemGetInfo_v2, &free, &total);
    return (int64_t)free;
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Finds each SM's group, and how much memory a destroyed green context leaves with the driver. Each
 * context is destroyed before the next is made, so memory that is missing afterwards was not given
 * back. The median is taken, because the first context also takes what the driver needs only once,
 * and other processes on the device allocate and free meanwhile. */
static bool sm_topology_locate(struct worker *found, CUfunction where, CUdeviceptr words)
{
    uint16_t code[SM_MASK_SMS] = {0};
    int64_t lost[CODE_BITS];
    unsigned count = 0;

    for (uint32_t bit = 1; bit <= groups.count; bit *= 2) {
        const int64_t before = memory_free();

        if (!bit_find(where, words, bit, code))
            return false;
        lost[count++] = before - memory_free();
    }
    qsort(lost, count, sizeof(*lost), by_size);
    found->partition_lost = lost[count / 2] > 0 ? (uint64_t)lost[count / 2] : 0;
    return codes_take(found, code);
}

static bool device_explore(struct worker *found)
{
    CUmodule module;
    CUfunction where;
    CUdeviceptr words;

    if (!device_split())
        return false;
    if (DRV(cuModuleLoadData, &module, where_ptx))
        return groups_fail_driver();
    bool located = false;
    if (DRV(cuModuleGetFunction, &where, module, "where") ||
        DRV(cuFuncSetAttribute, where, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            (int)worker->info.max_dynamic_smem) ||
        DRV(cuMemAlloc_v2, &words, WORDS * sizeof(uint32_t))) {
        groups_fail_driver();
    } else {
        located = sm_topology_locate(found, where, words);
        DRV_MUST(cuMemFree_v2, words);
    }
    DRV_MUST(cuModuleUnload, module);
    return located;
}

void sm_topology_find(struct worker *found)
{
    found->info.sm_groups = 0;
    found->info.sm_granularity = 0;
    found->partition_lost = 0;
    if (device_explore(found)) {
        found->info.sm_groups = groups.count;
        log_debug("%u SMs in %u groups of %u and more; a destroyed partition leaves %llu KiB of "
                  "device memory with the driver",
                  found->info.sm_count, groups.count, found->info.sm_granularity,
                  (unsigned long long)found->partition_lost >> 10);
        return;
    }
    memset(found->info.sm_group, 0, sizeof(found->info.sm_group));
    found->info.sm_granularity = 0;
    log_warning("event=no-partitions reason=%s", groups.fault);
}

CUresult sm_topology_describe(const struct sm_mask *mask, CUdevResourceDesc *desc)
{
    CUdevResource chosen[SM_GROUPS_MAX];
    bool in[SM_GROUPS_MAX] = {false};
    uint32_t count = 0;

    for (uint32_t sm = 0; sm < worker->info.sm_count; sm++) {
        if (sm_mask_has(mask, sm))
            in[worker->info.sm_group[sm]] = true;
    }
    for (uint32_t i = 0; i < groups.count; i++) {
        if (in[i])
            chosen[count++] = groups.resource[i];
    }
    return DRV(cuDevResourceGenerateDesc, desc, chosen, count);
}
