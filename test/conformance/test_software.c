// What only the software device promises: its settings, and that a stuck kernel can be ended.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"

static void need_software(void)
{
    if (!on_software)
        skip("about the software device");
}

static void settings_size_the_device(void)
{
    size_t total, left;
    int sms;
    char name[64];

    need_software();
    setenv("GSHARE_SOFT_SMS", "24", 1);
    setenv("GSHARE_SOFT_MEM", "64M", 1);
    context_open();
    OK(cu.cuDeviceGetName(name, sizeof(name), device));
    CHECK(strcmp(name, "gshare software device") == 0);
    OK(cu.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CHECK(sms == 24);
    OK(cu.cuMemGetInfo_v2(&left, &total));
    CHECK(total == 64 << 20 && left == total);
}

static void devices_are_alike_and_a_process_uses_one(void)
{
    CUuuid first, second;
    CUdevice other, now;
    CUcontext context;
    int count;

    need_software();
    setenv("GSHARE_SOFT_DEVICES", "3", 1);
    OK(cu.cuInit(0));
    OK(cu.cuDeviceGetCount(&count));
    CHECK(count == 3);
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cu.cuDeviceGet(&other, 3));
    EXPECT(CUDA_ERROR_INVALID_DEVICE, cu.cuDeviceGet(&other, -1));
    OK(cu.cuDeviceGet(&other, 2));
    OK(cu.cuDeviceGetUuid_v2(&first, 0));
    OK(cu.cuDeviceGetUuid_v2(&second, other));
    CHECK(memcmp(&first, &second, sizeof(first)) != 0);
    OK(cu.cuDevicePrimaryCtxRetain(&context, other));
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuCtxGetDevice(&now));
    CHECK(now == other);
    OK(cu.cuMemFree_v2(device_alloc(1 << 20)));
    EXPECT(CUDA_ERROR_DEVICE_UNAVAILABLE, cu.cuDevicePrimaryCtxRetain(&context, 0));
}

static void senseless_settings_are_refused(void)
{
    need_software();
    setenv("GSHARE_SOFT_SMS", "none", 1);
    CHECK(freopen("/dev/null", "w", stderr));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuInit(0));
}

static void stuck_kernel_is_ended(void)
{
    _Atomic uint64_t *words;
    CUstream s;

    need_software();
    setenv("GSHARE_SOFT_TIMEOUT_MS", "100", 1);
    context_open();
    words = host_words();
    s = stream_open();
    launch(s, "await", (CUdeviceptr)(uintptr_t)words, 1, 0);
    EXPECT(CUDA_ERROR_LAUNCH_TIMEOUT, cu.cuStreamSynchronize(s));
}

static void reset_ends_an_endless_kernel(void)
{
    _Atomic uint64_t *words;

    need_software();
    words = host_words();
    launch(NULL, "await", (CUdeviceptr)(uintptr_t)words, 1, 0);
    OK(cu.cuDevicePrimaryCtxReset_v2(device));
    EXPECT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.cuCtxSynchronize());
    // And the device is as good as new.
    OK(cu.cuDevicePrimaryCtxRetain(&primary, device));
    OK(cu.cuCtxSetCurrent(primary));
    OK(cu.cuMemFree_v2(device_alloc(1 << 20)));
}

static void ready_at_once(void)
{
    uint64_t start = now_ns();

    need_software();
    context_open();
    CHECK(now_ns() - start < 50000000u * time_scale(), "cuInit and a context took %llu ns",
          (unsigned long long)(now_ns() - start));
}

static void truncated_memory_is_not_imported(void)
{
    CUmemGenericAllocationHandle h;
    FILE *file = tmpfile();

    need_software();
    // A file that could shrink under the device's feet.
    CHECK(file && ftruncate(fileno(file), 2 << 20) == 0);
    EXPECT(CUDA_ERROR_INVALID_VALUE,
           cu.cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fileno(file),
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

// A guest that goes on using what the host takes away faults; the host does not.
static void unmapping_under_a_kernel(void)
{
    _Atomic uint64_t *words;
    CUdeviceptr p;
    CUstream s;

    need_software();
    s = stream_open();
    words = host_words();
    for (int i = 0; i < 50; i++) {
        CUdeviceptr scratch = device_alloc(4 << 20);

        launch(s, "await", (CUdeviceptr)(uintptr_t)words, i + 1, 0);
        OK(cu.cuMemFree_v2(scratch));
        atomic_store(words, i + 1);
        OK(cu.cuStreamSynchronize(s));
    }
    p = device_alloc(4 << 20);
    launch_wide(s, "await", 8, 128, p, 1, 0);
    // Let it run for a while first.
    launch(stream_open(), "where", device_alloc(4), 3000000, 0);
    OK(cu.cuMemFree_v2(p));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuStreamSynchronize(s));
}

// A text for a newer device is read, so it is too where a fatbin holds it: NVIDIA's layout is in
// lib/ptx/fatbin.c.
static void ptx_for_newer_devices_is_read_from_a_fatbin(void)
{
    static const char text[] = ".version 8.6\n.target sm_100\n.address_size 64\n"
                               ".visible .entry answer(.param .u64 to)\n{ .reg .b64 %p;\n"
                               "ld.param.u64 %p, [to]; st.global.u32 [%p], 42; ret; }\n";
    enum { TEXT = (sizeof(text) + 7) / 8 * 8, ENTRY = 64 };
    struct {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
        uint16_t kind, entry_version;
        uint32_t entry_header_size;
        uint64_t payload;
        uint32_t packed, options, number, arch;
        uint64_t names, flags, reserved, unpacked;
        char text[TEXT];
    } image = {.magic = 0xba55ed50u,
               .version = 1,
               .header_size = 16,
               .size = ENTRY + TEXT,
               .kind = 1,
               .entry_version = 0x101,
               .entry_header_size = ENTRY,
               .payload = TEXT,
               .arch = 100};
    CUfunction answer;
    CUdeviceptr to;
    CUmodule m;
    unsigned got = 0;

    need_software();
    memcpy(image.text, text, sizeof(text));
    OK(cu.cuModuleLoadData(&m, text));
    OK(cu.cuModuleLoadData(&m, &image));
    OK(cu.cuModuleGetFunction(&answer, m, "answer"));
    to = device_alloc(4);
    OK(cu.cuLaunchKernel(answer, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&to}, NULL));
    OK(cu.cuMemcpyDtoH_v2(&got, to, sizeof(got)));
    CHECK(got == 42);
}

static const struct test tests[] = {
    {"settings size the device", settings_size_the_device, true},
    {"several devices are alike, and a process uses one", devices_are_alike_and_a_process_uses_one,
     true},
    {"senseless settings are refused", senseless_settings_are_refused, true},
    {"a kernel past the time limit is ended", stuck_kernel_is_ended, true},
    {"a reset ends an endless kernel", reset_ends_an_endless_kernel, false},
    {"the device is ready within 50 ms", ready_at_once, true},
    {"memory taken from under a kernel is the kernel's fault", unmapping_under_a_kernel, false},
    {"PTX for newer devices is read from a fatbin", ptx_for_newer_devices_is_read_from_a_fatbin,
     false},
    {"memory that could shrink is not imported", truncated_memory_is_not_imported, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
