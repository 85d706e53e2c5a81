# Benchmarks: see bench/README.md. The Makefile includes this file.
#
# bench/rows          the measurements, which bench/measure makes and bench/run arranges in tables
# bench/fence         what the address fence costs
# bench/cudart        calls of the CUDA runtime, NVIDIA's and gshare's
# bench/cublas        products of matrices, NVIDIA's and gshare's
# bench/test          tests of bench/lib, which `make test` runs
.PHONY: bench bench-cudart bench-cublas fence-cost
BENCH_TESTS := $(patsubst %.c,$(BUILD)/bench/%,$(notdir $(wildcard bench/test/test_*.c)))

bench_objs := $(patsubst %.c,$(BUILD)/obj/%.o,bench/bench.c $(wildcard bench/lib/*.c bench/rows/*.c))
$(BUILD)/obj/bench/%.o: GS_CFLAGS += -Ibench
$(BUILD)/obj/bench/rows/soft.o: bench/rows/soft.ptx
$(BUILD)/obj/bench/rows/soft.o $(BUILD)/obj/bench/rows/fenceload.o: bench/rows/ordinary.ptx
$(BUILD)/obj/bench/rows/soft.o $(BUILD)/obj/bench/rows/fenceload.o: GS_CFLAGS += -DPTX_FOLDER='"$(CURDIR)/bench/rows"'
$(BUILD)/bench/measure: $(bench_objs) $(BUILD)/component/common.a $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(call USE_LIBGSHARE,../lib) -lm $(LDLIBS_RT)
bench: all $(BUILD)/bench/measure
	bench/run --build $(BUILD) --device $(DEVICE)

$(BENCH_TESTS): $(BUILD)/bench/test_%: $(BUILD)/obj/bench/test/test_%.o $(BUILD)/obj/bench/lib/%.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -lm

# The cost of the fence, measured with the driver itself: see bench/README.md.
$(BUILD)/obj/bench/fence/measure.o: GS_CFLAGS += -Itest -DKERNELS='"$(CURDIR)/bench/fence/kernels.ptx"' \
    -DHOPPER='"$(CURDIR)/bench/fence/hopper.ptx"'
$(BUILD)/bench/fence/measure: $(BUILD)/obj/bench/fence/measure.o $(BUILD)/obj/test/corpus/fencing.o $(BUILD)/component/ptx.a $(BUILD)/component/common.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -ldl -lm
fence-cost: $(BUILD)/bench/fence/measure
	$<

# Products of matrices, with NVIDIA's cuBLAS and with gshare's: see bench/cublas/run.
$(BUILD)/bench/cublas/gemm: $(BUILD)/obj/bench/cublas/gemm.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $< -ldl -lm
bench-cublas: all $(BUILD)/bench/cublas/gemm
	bench/cublas/run --build $(BUILD) --device $(DEVICE) $(SIZES)

# The CUDA runtime's calls: the same objects linked with NVIDIA's runtime and with this one.
CUDART_BENCH_OBJS := $(patsubst %,$(BUILD)/obj/bench/cudart/%.o,measure calls libraries)
CUDART_BENCH := $(foreach side,native gshare,$(BUILD)/bench/cudart/$(side)/measure $(BUILD)/bench/cudart/$(side)/start)
# Machine code and PTX of one architecture, so that CUB and Thrust choose the same kernels from both.
$(BUILD)/obj/bench/cudart/%.o: bench/cudart/%.cu bench/cudart/measure.h
	$(call step,NVCC,$<)
	$(Q)$(NVCC) -std=c++17 -O2 -gencode arch=compute_90,code=[compute_90,sm_90] -c -o $@ $<
$(BUILD)/bench/cudart/%/measure: $(CUDART_BENCH_OBJS) $(BUILD)/lib/libgshare_cudart.so
	@mkdir -p $(@D)
	$(Q)$(NVCC) -o $@ $(CUDART_BENCH_OBJS) $(CUDART_BENCH_LINK_$*)
$(BUILD)/bench/cudart/%/start: $(BUILD)/obj/bench/cudart/start.o $(BUILD)/lib/libgshare_cudart.so
	@mkdir -p $(@D)
	$(Q)$(NVCC) -o $@ $< $(CUDART_BENCH_LINK_$*)
.SECONDARY: $(CUDART_BENCH_OBJS) $(BUILD)/obj/bench/cudart/start.o
CUDART_BENCH_LINK_native := -cudart static
CUDART_BENCH_LINK_gshare := -cudart none -L$(BUILD)/lib -lgshare_cudart -Xlinker -rpath='$$ORIGIN/../../../lib'
bench-cudart: all $(if $(NVCC),$(CUDART_BENCH))
	@$(if $(NVCC),:,echo "make bench-cudart: there is no nvcc"; exit 1)
	bench/cudart/run --build $(BUILD) --device $(DEVICE)
