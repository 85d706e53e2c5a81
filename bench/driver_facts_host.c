/*
 * Whether a System V segment can lie among a window's addresses, registered so that kernels reach
 * it at the host's address: pieces of a reserved range given up and taken again, coherence with a
 * kernel that runs, what waits for such a kernel, and mapped device memory directly beside it. The
 * question_ function is run in a process of its own.
 */
#include "driver_facts.h"

#include <errno.h>
#include <sys/mman.h>

#define WINDOW  (1 * GIB)
#define PIECE   (64 * MIB)
#define PIECES  (WINDOW / PIECE)
#define GRANULE (2 * MIB)
#define BLOCK   (1 * MIB)
#define NOWHERE ((void *)-1)

/* answer: for d rounds, waits until the word at a is the round's number, then adds one to the word
 * at a + 64 atomically and stores the number at a + 128. copy: *a = *b, 64 bits. */
static const char ptx_host[] =
    PTX_HEAD ".visible .entry answer" PTX_PARAMS "{\n"
             ".reg .u64 %t, %x; .reg .u32 %n, %i, %v; .reg .pred %p;\n"
             "ld.param.u64 %t, [a]; ld.param.u32 %n, [d]; mov.u32 %i, 1;\n"
             "again: ld.volatile.global.u32 %v, [%t]; setp.ne.u32 %p, %v, %i; @%p bra again;\n"
             "membar.sys; atom.sys.global.add.u64 %x, [%t+64], 1;\n"
             "membar.sys; st.volatile.global.u32 [%t+128], %i;\n"
             "add.u32 %i, %i, 1; setp.le.u32 %p, %i, %n; @%p bra again;\n"
             "ret; }\n"
             ".visible .entry copy" PTX_PARAMS "{\n"
             ".reg .u64 %t, %s, %v; ld.param.u64 %t, [a]; ld.param.u64 %s, [b];\n"
             "ld.global.u64 %v, [%s]; st.global.u64 [%t], %v; ret; }\n";

static CUfunction answer, copy;
static CUstream held, other;
static CUdeviceptr base; /* of the window, reserved in pieces */

static const char *name_of(CUresult result)
{
    const char *name = "?";

    cuGetErrorName(result, &name);
    return name;
}

static CUresult facts_open(void)
{
    CUmodule module;
    void *cubin;

    CK(chains_open());
    CK(cubin_new(ptx_host, &cubin));
    CK(cuModuleLoadData(&module, cubin));
    CK(cuModuleGetFunction(&answer, module, "answer"));
    CK(cuModuleGetFunction(&copy, module, "copy"));
    CK(stream_new(&held));
    return stream_new(&other);
}

/* A kernel of 300 ms; the turn is another each time. */
static CUresult kernel_hold(uint64_t turn)
{
    arg.a = 300000000;
    arg.b = words_dev;
    arg.c = words_dev + 8;
    arg.d = (uint32_t)turn;
    CK(kernel_launch(spin, held));
    word_wait(0, turn);
    return CUDA_SUCCESS;
}

/* Ends the kernel, if it has not ended by itself, and says which. */
static CUresult kernel_end(const char *what, double took, uint64_t turn)
{
    const int runs = cuStreamQuery(held) == CUDA_ERROR_NOT_READY;

    atomic_store(&words[1], turn);
    CK(cuStreamSynchronize(held));
    printf("  %-52s took %9.1f us, the kernel %s\n", what, took,
           runs ? "ran on" : "had ENDED: it waited");
    return CUDA_SUCCESS;
}

/* Reserves [at, at + size) exactly there, or says what came instead. */
static CUresult reserve_there(CUdeviceptr at, size_t size, size_t align)
{
    CUdeviceptr got = 0;

    CK(cuMemAddressReserve(&got, size, align, at, 0));
    if (got == at)
        return CUDA_SUCCESS;
    printf("  WANTED 0x%llx, got 0x%llx\n", (unsigned long long)at, (unsigned long long)got);
    CK(cuMemAddressFree(got, size));
    return CUDA_ERROR_NOT_FOUND;
}

/* Whether a reservation is granted exactly there; it is given up again. */
static int can_reserve(CUdeviceptr at, size_t size, size_t align)
{
    CUdeviceptr got = 0;

    if (cuMemAddressReserve(&got, size, align, at, 0))
        return 0;
    cuMemAddressFree(got, size);
    return got == at;
}

/* In a piece that has been given up: at which of its granules a reservation of each size begins. */
static void granules_print(CUdeviceptr piece, const char *what)
{
    static const size_t sizes[] = {2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        printf("  %s, reservations of %2llu MiB: ", what, (unsigned long long)(sizes[i] / MIB));
        for (CUdeviceptr at = piece; at + sizes[i] <= piece + PIECE; at += GRANULE)
            putchar(can_reserve(at, sizes[i], GRANULE) ? '+' : '.');
        putchar('\n');
    }
}

/* Attaches a segment at the address; NOWHERE with errno: it is not free. */
static void *attach_there(CUdeviceptr at, size_t size, int flags)
{
    int id = shmget(IPC_PRIVATE, size, 0600 | IPC_CREAT);
    void *memory = id < 0 ? NOWHERE : shmat(id, (void *)(uintptr_t)at, flags);
    int error = errno;

    if (id >= 0)
        shmctl(id, IPC_RMID, NULL);
    errno = error;
    return memory;
}

static int address_is_mapped(CUdeviceptr at)
{
    unsigned char resident;

    return mincore((void *)(uintptr_t)at, 4096, &resident) == 0;
}

/* Registers and says whether the device's address is the host's. */
static CUresult register_there(void *memory, size_t size, unsigned flags)
{
    CUresult result = cuMemHostRegister(memory, size, flags);
    CUdeviceptr device_address = 0;

    if (result) {
        printf("  cuMemHostRegister with flags %u: %s\n", flags, name_of(result));
        return result;
    }
    result = cuMemHostGetDevicePointer(&device_address, memory, 0);
    printf("  registered with flags %u: the device's address is %s (%s)\n", flags,
           device_address == (CUdeviceptr)(uintptr_t)memory ? "the SAME" : "ANOTHER",
           name_of(result));
    return CUDA_SUCCESS;
}

/* b: a window reserved whole, given up, and taken again piece by piece at exact addresses. */
static CUresult pieces_reserve(void)
{
    double t0, whole, freed, pieces;

    t0 = now_us();
    CK(cuMemAddressReserve(&base, WINDOW, WINDOW, 0, 0));
    whole = now_us();
    printf("  the window is at 0x%llx, %s among the host's mappings\n", (unsigned long long)base,
           address_is_mapped(base) ? "IS" : "is NOT");
    CK(cuMemAddressFree(base, WINDOW));
    freed = now_us();
    for (unsigned i = 0; i < PIECES; i++)
        CK(reserve_there(base + i * PIECE, PIECE, 0));
    pieces = now_us();
    printf("  1 GiB reserved whole %.1f us, freed %.1f, 16 pieces at exact addresses %.1f\n",
           whole - t0, freed - whole, pieces - freed);
    return CUDA_SUCCESS;
}

/* b: what of it waits for a kernel; also a piece that is reserved whole, but given up in part. */
static CUresult pieces_beside(void)
{
    const CUdeviceptr piece = base + 3 * PIECE;
    CUresult result;
    double t0;

    CK(kernel_hold(1));
    t0 = now_us();
    CK(cuMemAddressFree(piece, PIECE));
    CK(kernel_end("cuMemAddressFree of a piece", now_us() - t0, 1));
    CK(kernel_hold(2));
    t0 = now_us();
    CK(reserve_there(piece, PIECE, 0));
    CK(kernel_end("cuMemAddressReserve of a piece", now_us() - t0, 2));
    result = cuMemAddressFree(piece + GRANULE, GRANULE);
    printf("  cuMemAddressFree of a part of what was reserved as one: %s\n", name_of(result));
    if (!result)
        CK(reserve_there(piece + GRANULE, GRANULE, 0));
    result = cuMemAddressFree(piece, 2 * PIECE);
    printf("  cuMemAddressFree of two pieces at once: %s\n", name_of(result));
    for (unsigned i = 0; i < 2 && !result; i++)
        CK(reserve_there(piece + i * PIECE, PIECE, 0));
    return CUDA_SUCCESS;
}

/* b: without a block, which parts of a piece that was given up can be taken again; also two parts
 * at once, directly beside each other. */
static CUresult granules_ask(CUdeviceptr piece)
{
    CK(cuMemAddressFree(piece, PIECE));
    granules_print(piece, "in an empty piece");
    printf("  the last 62 MiB, aligned to 0: %s, to 2 MiB: %s\n",
           can_reserve(piece + GRANULE, PIECE - GRANULE, 0) ? "granted" : "refused",
           can_reserve(piece + GRANULE, PIECE - GRANULE, GRANULE) ? "granted" : "refused");
    return reserve_there(piece, PIECE, 0);
}

/* a: a segment over a reserved piece, without giving the piece up. */
static CUresult attach_over(void)
{
    void *memory = attach_there(base + 5 * PIECE, BLOCK, 0);

    printf("  attached in a reserved piece: %s\n", memory == NOWHERE ? strerror(errno) : "granted");
    if (memory == NOWHERE)
        return CUDA_SUCCESS;
    if (register_there(memory, BLOCK, CU_MEMHOSTREGISTER_DEVICEMAP) == CUDA_SUCCESS)
        CK(cuMemHostUnregister(memory));
    shmdt(memory);
    return CUDA_SUCCESS;
}

/* a: the piece is given up and a segment attached at its beginning. d: beside a kernel. */
static CUresult block_make(CUdeviceptr at, void **block)
{
    CUdeviceptr address = 0;
    double t0, freed, attached, registered;

    CK(kernel_hold(3));
    t0 = now_us();
    CK(cuMemAddressFree(at, PIECE));
    freed = now_us();
    *block = attach_there(at, BLOCK, 0);
    attached = now_us();
    if (*block == NOWHERE) {
        printf("  attached at a piece that was given up: %s\n", strerror(errno));
        return CUDA_ERROR_NOT_FOUND;
    }
    memset(*block, 0, BLOCK);
    CK(cuMemHostRegister(*block, BLOCK, CU_MEMHOSTREGISTER_DEVICEMAP));
    registered = now_us();
    printf("  piece given up %.1f us, segment attached %.1f, written and registered %.1f\n",
           freed - t0, attached - freed, registered - attached);
    CK(kernel_end("all of it beside a kernel", registered - t0, 3));
    CK(cuMemHostGetDevicePointer(&address, *block, 0));
    printf("  the device's address is %s\n", address == at ? "the SAME" : "ANOTHER");
    granules_print(at, "beside the block of 1 MiB");
    return CUDA_SUCCESS;
}

/* c: the host writes a word, a kernel that runs sees it, and answers. */
static CUresult coherent(unsigned char *block)
{
    enum { ROUNDS = 1000 };
    static double samples[ROUNDS];
    _Atomic uint32_t *ask = (_Atomic uint32_t *)block;
    _Atomic uint64_t *sum = (_Atomic uint64_t *)(block + 64);
    _Atomic uint32_t *told = (_Atomic uint32_t *)(block + 128);

    arg.a = (uint64_t)(uintptr_t)block;
    arg.d = ROUNDS;
    CK(kernel_launch(answer, held));
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        const double t0 = now_us();

        atomic_store(ask, i);
        while (atomic_load(told) != i && now_us() - t0 < 1e6)
            ;
        samples[i - 1] = now_us() - t0;
        if (atomic_load(told) != i || atomic_load(sum) < i) {
            printf("  the kernel did NOT answer round %u\n", i);
            return CUDA_ERROR_NOT_READY;
        }
    }
    CK(cuStreamSynchronize(held));
    print_times("a word to a kernel that runs, and its answer", samples, ROUNDS);
    return CUDA_SUCCESS;
}

/* e: device memory mapped beside the block's piece; one kernel reaches both, each way. */
static CUresult beside_memory(unsigned char *block, CUdeviceptr memory)
{
    const CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemGenericAllocationHandle handle;
    uint64_t *words_there = (uint64_t *)block, back = 0;

    CK(cuMemCreate(&handle, GRANULE, &p, 0));
    CK(cuMemMap(memory, GRANULE, 0, handle, 0));
    CK(cuMemSetAccess(memory, GRANULE, &access, 1));
    words_there[512] = 0x1234567890abcdef;
    arg.a = memory;
    arg.b = (uint64_t)(uintptr_t)&words_there[512];
    CK(kernel_launch(copy, other));
    arg.a = (uint64_t)(uintptr_t)&words_there[513];
    arg.b = memory;
    CK(kernel_launch(copy, other));
    CK(cuStreamSynchronize(other));
    CK(cuMemcpyDtoH(&back, memory, sizeof(back)));
    printf("  device memory %lld KiB from the block: %s\n",
           (long long)((memory - (uint64_t)(uintptr_t)block) / KIB),
           back == words_there[512] && words_there[513] == back ? "both reached" : "WRONG");
    CK(cuMemcpyDtoD(memory, (CUdeviceptr)(uintptr_t)&words_there[512], 8));
    printf("  a copy that names the block by a device address: granted\n");
    CK(cuMemUnmap(memory, GRANULE));
    return cuMemRelease(handle);
}

/* The piece is taken back: unregistered, detached, its place reserved and mapped again. */
static CUresult block_free(void *block, CUdeviceptr at)
{
    double t0;

    CK(kernel_hold(4));
    t0 = now_us();
    CK(cuMemHostUnregister(block));
    CK(kernel_end("cuMemHostUnregister", now_us() - t0, 4));
    if (shmdt(block))
        printf("  shmdt: %s\n", strerror(errno));
    CK(reserve_there(at, PIECE, 0));
    printf("  the block's piece is reserved again\n");
    return CUDA_SUCCESS;
}

/* A place of less than a granule: blocks of 4 KiB side by side, in one granule that is given up. */
static CUresult small_blocks(CUdeviceptr at)
{
    void *block[4];

    CK(cuMemAddressFree(at, PIECE));
    for (unsigned i = 0; i < 4; i++) {
        block[i] = attach_there(at + i * 64 * KIB, 4 * KIB, 0);
        if (block[i] == NOWHERE) {
            printf("  a segment at +%u KiB: %s\n", 64 * i, strerror(errno));
            return CUDA_ERROR_NOT_FOUND;
        }
        CK(register_there(block[i], 4 * KIB, CU_MEMHOSTREGISTER_DEVICEMAP));
    }
    for (unsigned i = 0; i < 4; i++) {
        CK(cuMemHostUnregister(block[i]));
        shmdt(block[i]);
    }
    return reserve_there(at, PIECE, 0);
}

/* Blocks that fill their piece, or two pieces, with mapped memory directly behind them; the time of
 * making them and of a reservation of 2 MiB pieces for one of 64. */
static CUresult whole_pieces(CUdeviceptr at, unsigned pieces)
{
    const size_t size = pieces * PIECE;
    void *block;
    double t0;

    for (unsigned i = 0; i < pieces; i++)
        CK(cuMemAddressFree(at + i * PIECE, PIECE));
    block = attach_there(at, size, 0);
    if (block == NOWHERE) {
        printf("  a segment of %u pieces: %s\n", pieces, strerror(errno));
        return CUDA_ERROR_NOT_FOUND;
    }
    t0 = now_us();
    CK(register_there(block, size, CU_MEMHOSTREGISTER_DEVICEMAP));
    printf("  a block of %u pieces: registered in %.1f us\n", pieces, now_us() - t0);
    CK(beside_memory((unsigned char *)block + size - 64 * KIB, at + size));
    CK(beside_memory(block, at - GRANULE));
    CK(cuMemHostUnregister(block));
    shmdt(block);
    for (unsigned i = 0; i < pieces; i++)
        CK(reserve_there(at + i * PIECE, PIECE, 0));
    return CUDA_SUCCESS;
}

/* Pieces of 2 MiB: all of 64 MiB reserved so, one in the middle given up for a segment, and taken
 * again afterwards. */
static CUresult granule_pieces(CUdeviceptr at)
{
    const CUdeviceptr hole = at + 5 * GRANULE;
    void *block;
    double t0;

    CK(cuMemAddressFree(at, PIECE));
    t0 = now_us();
    for (CUdeviceptr p = at; p < at + PIECE; p += GRANULE)
        CK(reserve_there(p, GRANULE, 0));
    printf("  64 MiB reserved in pieces of 2 MiB: %.1f us\n", now_us() - t0);
    CK(cuMemAddressFree(hole, GRANULE));
    block = attach_there(hole, GRANULE, 0);
    if (block == NOWHERE) {
        printf("  a segment in one of 2 MiB: %s\n", strerror(errno));
        return CUDA_SUCCESS;
    }
    CK(register_there(block, GRANULE, CU_MEMHOSTREGISTER_DEVICEMAP));
    CK(beside_memory(block, hole + GRANULE));
    CK(beside_memory(block, hole - GRANULE));
    CK(cuMemHostUnregister(block));
    shmdt(block);
    CK(reserve_there(hole, GRANULE, 0));
    printf("  a block of 2 MiB between pieces of 2 MiB: made, and its place taken again\n");
    for (CUdeviceptr p = at; p < at + PIECE; p += GRANULE)
        CK(cuMemAddressFree(p, GRANULE));
    return reserve_there(at, PIECE, 0);
}

/* Whether a registration without DEVICEMAP has a device address too; and the time that a window of
 * 4 GiB takes in pieces of 64 MiB. */
static CUresult rest(void)
{
    void *memory = segment_new(BLOCK, 1);
    CUdeviceptr many = 0;
    double t0;

    if (memory && register_there(memory, BLOCK, 0) == CUDA_SUCCESS)
        CK(cuMemHostUnregister(memory));
    CK(cuMemAddressReserve(&many, 4 * GIB, 4 * GIB, 0, 0));
    CK(cuMemAddressFree(many, 4 * GIB));
    t0 = now_us();
    for (unsigned i = 0; i < 64; i++)
        CK(reserve_there(many + i * PIECE, PIECE, 0));
    printf("  4 GiB in 64 pieces: reserved %.1f us", now_us() - t0);
    t0 = now_us();
    for (unsigned i = 0; i < 64; i++)
        CK(cuMemAddressFree(many + i * PIECE, PIECE));
    printf(", freed %.1f us\n", now_us() - t0);
    return CUDA_SUCCESS;
}

/* Attaches a segment over a part of a reservation that is kept. NOWHERE with errno: refused. */
static unsigned char *attach_inside(CUdeviceptr at, size_t size)
{
    return attach_there(at, size, SHM_REMAP);
}

/* Takes the block away again, and lets nothing of the process lie where it was. */
static CUresult detach_inside(void *block, size_t size)
{
    double t0 = now_us(), unregistered;

    CK(cuMemHostUnregister(block));
    unregistered = now_us();
    if (mmap(block, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        printf("  mmap over the block: %s\n", strerror(errno));
    printf("  unregistered in %.1f us, mapped over in %.1f\n", unregistered - t0,
           now_us() - unregistered);
    return CUDA_SUCCESS;
}

/* A block in one granule of a reservation, with device memory in those beside it; then device
 * memory where the block was; and the block once more. */
static CUresult block_inside(CUdeviceptr at)
{
    struct hostmem elsewhere;

    CK(hostmem_new(&elsewhere, BLOCK));
    for (unsigned turn = 0; turn < 3; turn++) {
        const double t0 = now_us();
        unsigned char *block = attach_inside(at + GRANULE, GRANULE);

        if (block == NOWHERE) {
            printf("  attached over a reservation: %s\n", strerror(errno));
            return CUDA_ERROR_NOT_FOUND;
        }
        printf("  attached over a reservation in %.1f us\n", now_us() - t0);
        CK(register_there(block, GRANULE, CU_MEMHOSTREGISTER_DEVICEMAP));
        printf("  and registered after %.1f us\n", now_us() - t0);
        if (!turn)
            CK(coherent(block));
        CK(beside_memory(block, at));
        CK(beside_memory(block, at + 2 * GRANULE));
        CK(detach_inside(block, GRANULE));
        CK(beside_memory(elsewhere.host, at + GRANULE));
    }
    return CUDA_SUCCESS;
}

/* A segment of less than a granule, attached over and over until the granule is full, registered
 * as one range. */
static CUresult block_repeated(CUdeviceptr at, size_t size)
{
    int id = shmget(IPC_PRIVATE, size, 0600 | IPC_CREAT);
    unsigned char *block = (unsigned char *)(uintptr_t)at;
    double t0 = now_us();

    for (CUdeviceptr p = at; id >= 0 && p < at + GRANULE; p += size) {
        if (shmat(id, (void *)(uintptr_t)p, SHM_REMAP) == NOWHERE)
            printf("  attached again: %s\n", strerror(errno));
    }
    shmctl(id, IPC_RMID, NULL);
    printf("  %llu KiB attached %llu times in %.1f us\n", (unsigned long long)(size / KIB),
           (unsigned long long)(GRANULE / size), now_us() - t0);
    t0 = now_us();
    CK(register_there(block, GRANULE, CU_MEMHOSTREGISTER_DEVICEMAP));
    printf("  registered as one in %.1f us\n", now_us() - t0);
    ((uint64_t *)block)[7] = 77;
    arg.a = at + GRANULE - size + 64;
    arg.b = at + 56;
    CK(kernel_launch(copy, other));
    CK(cuStreamSynchronize(other));
    printf("  the kernel's store through the last is%s seen in the first\n",
           ((uint64_t *)block)[8] == 77 ? "" : " NOT");
    return detach_inside(block, GRANULE);
}

/* Whether a segment can lie in a reservation that is not given up: the host's addresses of it are
 * replaced, which leaves no moment at which anything else could come there. */
CUresult question_host_inside(void)
{
    CUdeviceptr window = 0;

    CK(facts_open());
    CK(cuMemAddressReserve(&window, WINDOW, WINDOW, 0, 0));
    printf("  the window is at 0x%llx\n", (unsigned long long)window);
    block_inside(window + 2 * PIECE);
    block_repeated(window + 3 * PIECE, 256 * KIB);
    block_repeated(window + 4 * PIECE, 4 * KIB);
    CK(cuMemAddressFree(window, WINDOW));
    return CUDA_SUCCESS;
}

CUresult question_host(void)
{
    void *block = NULL;

    CK(facts_open());
    CK(pieces_reserve());
    CK(pieces_beside());
    CK(granules_ask(base + 4 * PIECE));
    CK(attach_over());
    CK(block_make(base + 7 * PIECE, &block));
    CK(coherent(block));
    CK(beside_memory(block, base + 7 * PIECE - GRANULE));
    CK(beside_memory(block, base + 8 * PIECE));
    CK(block_free(block, base + 7 * PIECE));
    /* Each on pieces of its own: one that fails leaves the others. */
    small_blocks(base + 9 * PIECE);
    granule_pieces(base + 10 * PIECE);
    whole_pieces(base + 12 * PIECE, 1);
    whole_pieces(base + 13 * PIECE, 2);
    return rest();
}
