# Tests: see doc/hacking.md. The Makefile includes this file.
#
# test/unit/test_COMPONENT_*.c  cmocka; linked with every component, its own first
# test/e2e/test_*.c, .cpp       linked with libgshare.so and test/harness
# test/conformance/test_*.c     linked with nothing of gshare: they load a driver library
# test/corpus                   the same with kernels and their known results
# test/instructions             the same with kernels of one instruction each
# test/cudart/programs/*.cu     CUDA programs, tenants by libgshare_cudart: test_programs runs them
# test/cublas/programs/*.cu     the same for libgshare_cublas: test_cublas
# test/foreign/*.cu             kernels of the toolkit's headers: make test-foreign
# test/python/test_*.py         Python programs with the package in lib/python
# test/cmake                    a CMake project that finds an installation
# test/fuzz/fuzz_*.c            fuzzers: make fuzz
# The other .c files in these folders are linked into each program of the same folder.

.PHONY: tests test test-random test-foreign fence-assemble test-cudart-native test-cublas-native test-slurm test-systemd \
        test-container test-mpi chaos kill-steps fuzz

test_programs = $(patsubst %.c,$(BUILD)/%,$(wildcard test/$(1)/test_*.c))
test_helpers  = $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out test/$(1)/test_%,$(wildcard test/$(1)/*.c)))
UNIT_TESTS := $(call test_programs,unit)
# This one takes minutes, and has a goal of its own: make kill-steps.
KILL_STEPS := $(BUILD)/test/e2e/test_supervisor_steps
E2E_TESTS  := $(filter-out $(KILL_STEPS),$(call test_programs,e2e))
CXX_TESTS  := $(patsubst %.cpp,$(BUILD)/%,$(wildcard test/e2e/test_*.cpp))
CONFORMANCE_TESTS := $(call test_programs,conformance)
CUDART_TESTS := $(BUILD)/test/cudart/test_abi $(BUILD)/test/cudart/test_names $(BUILD)/test/cudart/test_programs $(BUILD)/test/cudart/test_corpus
CUBLAS_TESTS := $(BUILD)/test/cublas/test_abi $(BUILD)/test/cublas/test_cublas
PYTHON_TESTS := $(patsubst %.py,$(BUILD)/%,$(wildcard test/python/test_*.py))
# Debian's Python comes first, since it has Debian's NumPy. A sanitizer's library cannot be loaded into Python.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) $(shell command -v python3))
NO_PYTHON := $(if $(SANITIZE),a sanitizer cannot be loaded into Python,$(if $(PYTHON),,there is no Python))
CMAKE_TEST := $(BUILD)/test/cmake/test_find_package
CORPUS_TESTS := $(BUILD)/test/corpus/test_corpus $(BUILD)/test/instructions/test_instructions
TESTS := $(if $(filter cmocka,$(HAVE)),$(UNIT_TESTS)) $(CONFORMANCE_TESTS) $(CORPUS_TESTS) $(E2E_TESTS) $(CUDART_TESTS) $(CUBLAS_TESTS) \
         $(if $(filter cxx,$(HAVE)),$(CXX_TESTS)) $(if $(NO_PYTHON),,$(PYTHON_TESTS)) $(if $(SANITIZE),,$(CMAKE_TEST)) \
         $(BENCH_TESTS)
COMPONENT_ARCHIVES := $(patsubst %,$(BUILD)/component/%.a,$(COMPONENTS))

$(BUILD)/obj/test/%.o: GS_CFLAGS += -Itest
$(eval $(call embeds,$(BUILD)/obj/test/harness/kernels.o,PTX_FILE,test/harness/kernels.ptx))
$(BUILD)/obj/test/e2e/test_policy.o: GS_CFLAGS += -DEXAMPLE='"$(CURDIR)/examples/gshare.conf"'
$(BUILD)/obj/test/e2e/test_cooperative.o: GS_CFLAGS += -DCORPUS_PTX='"$(CURDIR)/test/corpus/ptx"'
$(BUILD)/obj/test/e2e/printed.o: GS_CFLAGS += -DPRINTING='"$(CURDIR)/test/e2e/printing"'
$(eval $(call embeds,$(BUILD)/obj/test/e2e/test_heap.o,HEAP_PTX,test/e2e/heap/heap.ptx))
$(eval $(call embeds,$(BUILD)/obj/test/e2e/test_stack.o $(BUILD)/obj/test/conformance/test_stack.o,DEEP_PTX,test/e2e/stack/deep.ptx))
.SECONDARY: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard test/*/*.c)) $(CXX_TESTS:$(BUILD)/%=$(BUILD)/obj/%.o)

$(BUILD)/test/unit/test_%: $(BUILD)/obj/test/unit/test_%.o $(call test_helpers,unit) $(COMPONENT_ARCHIVES)
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) $(filter %/$(firstword $(subst _, ,$*)).a,$^) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka -lm $(LDLIBS_RT)

# These programs use kernels from other folders.
FORMS_OF_INSTRUCTIONS := $(patsubst %,$(BUILD)/obj/test/instructions/%.o,addressing kernel operands objects)
$(BUILD)/test/unit/test_ptx_fence_forms: $(FORMS_OF_INSTRUCTIONS)
$(BUILD)/test/unit/test_ptx_fence_random: $(BUILD)/obj/test/fuzz/write_program.o
$(addprefix $(BUILD)/obj/test/,unit/test_ptx_fence_forms.o e2e/chaos/hostile.o): GS_CFLAGS += -DINSTRUCTIONS='"$(CURDIR)/test/instructions"'

HARNESS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard test/harness/*.c))
$(BUILD)/test/e2e/test_%: $(BUILD)/obj/test/e2e/test_%.o $(call test_helpers,e2e) $(HARNESS) \
                          $(BUILD)/component/common.a $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(E2E_LIBS) $(call USE_LIBGSHARE,../../lib) -lm $(LDLIBS_RT)

$(BUILD)/test/e2e/test_chaos: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard test/e2e/chaos/*.c)) $(FORMS_OF_INSTRUCTIONS)

# This program writes into a session's journal, as a worker does that is lost half way.
$(BUILD)/test/e2e/test_takeover: $(BUILD)/component/worker.a

$(CXX_TESTS): private LINK = $(LINK_CXX)

$(BUILD)/test/python/test_%: test/python/test_%.py test/rules.mk | $(BUILD)/lib/libgshare.so
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexport CC="%s" LD_LIBRARY_PATH=%s PYTHONPATH=%s PYTHONDONTWRITEBYTECODE=1\nexec %s %s "$$@"\n' \
	    '$(CC)' $(abspath $(BUILD)/lib) $(CURDIR)/lib/python $(PYTHON) $(abspath $<) >$@ && chmod 755 $@

# ---- CUDA programs ---------------------------------------------------------------------------
# Each is compiled to one object, which is linked with gshare's libraries and, for `make test-cudart-native` and
# `make test-cublas-native` on a GPU, with NVIDIA's. test_programs and test_cublas run each as a test of its name.
CUDART_PROGRAMS := $(basename $(notdir $(wildcard test/cudart/programs/*.cu)))
CUBLAS_PROGRAMS := $(basename $(notdir $(wildcard test/cublas/programs/*.cu)))
# The toolkits' headers: those of nvcc's, and of version 12.9.
CUDART_TOOLKIT := $(firstword $(wildcard $(if $(NVCC),$(abspath $(dir $(NVCC))/../include/cuda_runtime_api.h)) /usr/local/cuda/include/cuda_runtime_api.h))
CUDART_TOOLKIT12 ?= $(firstword $(wildcard /usr/local/cuda-12.9/include/cuda_runtime_api.h))
CUBLAS_TOOLKIT := $(wildcard $(dir $(CUDART_TOOLKIT))cublas_api.h)
CUBLAS_TOOLKIT12 := $(if $(CUDART_TOOLKIT12),$(wildcard $(dir $(CUDART_TOOLKIT12))cublas_api.h))
comma := ,
# Builds with other compilers or sanitizers can share these objects: CUDA_OBJ names their folder.
CUDA_OBJ ?= $(BUILD)/obj
NVCC_TEST = $(NVCC) -std=c++17 -O1 -Iinclude -MMD -MP -gencode arch=$(TEST_ARCH),code=$(TEST_ARCH) -Xcompiler -fPIC
NVCC_LINK = $(NVCC) $(foreach s,$(subst $(comma), ,$(SANITIZE)),-ccbin $(CXX) -Xcompiler -fsanitize=$(s))
TEST_ARCH = compute_80
$(foreach name,bulk dependent cluster own_cluster tensor,$(CUDA_OBJ)/test/cudart/programs/$(name)_%.o): TEST_ARCH = compute_90
$(CUDA_OBJ)/test/cudart/programs/wgmma_%.o: TEST_ARCH = compute_90a
$(CUDA_OBJ)/test/cudart/programs/tensor_tiles_are_copied_to_several_blocks.o: TEST_ARCH = compute_90a
$(CUDA_OBJ)/test/cudart/programs/ptds_%.o: NVCC_TEST += --default-stream per-thread
$(CUDA_OBJ)/test/cudart/programs/debug_%.o: NVCC_TEST += -G
$(CUDA_OBJ)/test/cublas/programs/%.o: NVCC_TEST += -Itest
# Programs separate_* consist of two files, which are compiled separately and joined by a device link.
SEPARATE := $(filter separate_%,$(CUDART_PROGRAMS))
NVCC_ARCHES := -gencode arch=compute_80,code=[compute_80,sm_80] -gencode arch=compute_90,code=sm_90
$(CUDA_OBJ)/test/cudart/programs/separate_%.o $(CUDA_OBJ)/test/cudart/separate/%.o: \
    NVCC_TEST = $(NVCC) -std=c++17 -O1 -Iinclude -MMD -MP $(NVCC_ARCHES) -rdc=true -Xcompiler -fPIC

# CUDA_OBJECTS,folder
define CUDA_OBJECTS
$(CUDA_OBJ)/test/$(1)/%.o: test/$(1)/%.cu
	$$(call step,NVCC,$$<)
	$(Q)$$(NVCC_TEST) -c -o $$@ $$<
endef
# CUDA_PROGRAMS,folder,library,all libraries,their folder from that of the programs
define CUDA_PROGRAMS
$(BUILD)/test/$(1)/%: $(CUDA_OBJ)/test/$(1)/%.o $(BUILD)/lib/libgshare_$(2).so
	@mkdir -p $$(@D)
	$(Q)$$(NVCC_LINK) -cudart none -o $$@ $$(filter %.o,$$^) -L$(BUILD)/lib $(3) -Xlinker -rpath='$$$$ORIGIN/$(4)'
endef
# NATIVE_PROGRAMS,folder,programs,NVIDIA's libraries beside the runtime
define NATIVE_PROGRAMS
$(BUILD)/test/$(1)/native/%: $(CUDA_OBJ)/test/$(1)/programs/%.o
	@mkdir -p $$(@D)
	$(Q)$$(NVCC) -cudart shared -o $$@ $$< $(3)
test-$(1)-native: $(addprefix $(BUILD)/test/$(1)/native/,$(filter-out own_%,$(2)))
	@test/cudart/native $(BUILD)/test/$(1)/native test/$(1)/programs
.SECONDARY: $(patsubst %,$(CUDA_OBJ)/test/$(1)/programs/%.o,$(2))
endef
$(foreach folder,cudart/programs cudart/separate cublas/programs,$(eval $(call CUDA_OBJECTS,$(folder))))
$(eval $(call CUDA_PROGRAMS,cudart/programs,cudart,-lgshare_cudart -lgshare,../../../lib))
$(eval $(call CUDA_PROGRAMS,cublas/programs,cublas,-lgshare_cublas -lgshare_cudart -lgshare,../../../lib))
$(eval $(call NATIVE_PROGRAMS,cudart,$(CUDART_PROGRAMS),))
$(eval $(call NATIVE_PROGRAMS,cublas,$(CUBLAS_PROGRAMS),-lcublas -lcublasLt))

$(CUDA_OBJ)/test/cudart/separate/%.link.o: $(CUDA_OBJ)/test/cudart/programs/%.o $(CUDA_OBJ)/test/cudart/separate/%.o
	$(Q)$(NVCC) $(NVCC_ARCHES) -Xcompiler -fPIC -dlink -o $@ $^ -lcudadevrt
$(SEPARATE:%=$(BUILD)/test/cudart/programs/%): $(BUILD)/test/cudart/programs/%: $(CUDA_OBJ)/test/cudart/separate/%.o \
        $(CUDA_OBJ)/test/cudart/separate/%.link.o
$(SEPARATE:%=$(BUILD)/test/cudart/native/%): $(BUILD)/test/cudart/native/%: $(CUDA_OBJ)/test/cudart/programs/%.o \
        $(CUDA_OBJ)/test/cudart/separate/%.o $(CUDA_OBJ)/test/cudart/separate/%.link.o
	@mkdir -p $(@D)
	$(Q)$(NVCC) -cudart shared -nodlink -o $@ $^
.SECONDARY: $(foreach s,$(SEPARATE),$(CUDA_OBJ)/test/cudart/separate/$(s).o $(CUDA_OBJ)/test/cudart/separate/$(s).link.o)

# The corpus through the runtime: each case is a library, made of its device half and its host half. The case that
# is left out has to be refused.
CUDART_CORPUS := $(filter-out dynamic_parallelism,$(basename $(notdir $(wildcard test/corpus/*.cu))))
$(CUDA_OBJ)/test/cudart/corpus/%.o: test/corpus/%.cu test/corpus/corpus.h
	$(call step,NVCC,$<)
	$(Q)$(NVCC) -arch=compute_$(or $(shell sed -n 's|.*arch: *\([0-9]*\).*|\1|p' $<),80) -Xcompiler -fPIC -c -o $@ $<
$(CUDART_CORPUS:%=$(BUILD)/test/cudart/corpus/%.so): $(BUILD)/test/cudart/corpus/%.so: $(CUDA_OBJ)/test/cudart/corpus/%.o $(BUILD)/obj/test/corpus/%.o
	@mkdir -p $(@D)
	$(Q)$(LINK_CXX) -shared -o $@ $^ -lm
$(BUILD)/obj/test/cudart/corpus/run_case.o: GS_CFLAGS += $(if $(CUDART_TOOLKIT),-isystem $(dir $(CUDART_TOOLKIT)))
$(BUILD)/test/cudart/corpus/run_case: $(BUILD)/obj/test/cudart/corpus/run_case.o $(BUILD)/obj/test/corpus/expect.o $(BUILD)/lib/libgshare_cudart.so
	@mkdir -p $(@D)
	$(Q)$(LINK) -rdynamic -o $@ $(filter %.o,$^) -L$(BUILD)/lib -lgshare_cudart -Wl,-rpath,'$$ORIGIN/../../../lib' -Wl,-rpath-link,$(BUILD)/lib -lm -ldl
.SECONDARY: $(CUDART_CORPUS:%=$(CUDA_OBJ)/test/cudart/corpus/%.o)

# The tests that run these. PROGRAM_LIST,test,list that it includes,macro,folder of the .cu files,names
define PROGRAM_LIST
$(BUILD)/obj/test/$(2).inc: $(wildcard $(4)/*.cu) $(4)
	@mkdir -p $$(@D)
	$(Q)printf '$(3)(%s)\n' $(sort $(5)) >$$@
$(BUILD)/obj/test/$(1).o: $(BUILD)/obj/test/$(2).inc
$(BUILD)/obj/test/$(1).o: GS_CFLAGS += -I$(patsubst %/,%,$(dir $(BUILD)/obj/test/$(2)))
endef
$(eval $(call PROGRAM_LIST,cudart/test_programs,cudart/programs,PROGRAM,test/cudart/programs,$(CUDART_PROGRAMS)))
$(eval $(call PROGRAM_LIST,cudart/test_corpus,cudart/corpus,CASE,test/corpus,$(CUDART_CORPUS)))
$(eval $(call PROGRAM_LIST,cublas/test_cublas,cublas/programs,PROGRAM,test/cublas/programs,$(CUBLAS_PROGRAMS)))
$(addprefix $(BUILD)/test/,cudart/test_programs cudart/test_corpus cublas/test_cublas): $(BUILD)/%: $(BUILD)/obj/%.o \
        $(HARNESS) $(BUILD)/component/common.a $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(call USE_LIBGSHARE,../../lib) -lm $(LDLIBS_RT)
$(BUILD)/test/cudart/test_programs: \
        $(if $(NVCC),$(CUDART_PROGRAMS:%=$(BUILD)/test/cudart/programs/%) $(if $(SANITIZE),,$(BUILD)/test/cudart/native/symbols_are_copied)) \
        $(if $(SANITIZE),,$(BUILD)/test/cudart/runtime12 $(BUILD)/test/cudart/rpath/program)
$(BUILD)/test/cudart/test_corpus: $(if $(NVCC),$(BUILD)/test/cudart/corpus/run_case $(CUDART_CORPUS:%=$(BUILD)/test/cudart/corpus/%.so))
$(BUILD)/test/cublas/test_cublas: $(if $(CUBLAS_TOOLKIT),$(CUBLAS_PROGRAMS:%=$(BUILD)/test/cublas/programs/%)) \
        $(if $(SANITIZE),,$(BUILD)/test/cublas/blas12 $(if $(wildcard $(dir $(CUBLAS_TOOLKIT))../lib64/libcublas.so),$(BUILD)/test/cublas/native/gemm_of_all_transposes))

# Programs that load the libraries. test_names compares their symbols with those of NVIDIA's own, if these are beside
# the headers.
CUDART_LIBRARY := $(if $(CUDART_TOOLKIT),$(firstword $(wildcard $(dir $(CUDART_TOOLKIT))../lib*/libcudart.so.13)))
CUDART_LIBRARY12 := $(if $(CUDART_TOOLKIT12),$(firstword $(wildcard $(dir $(CUDART_TOOLKIT12))../lib*/libcudart.so.12)))
$(BUILD)/obj/test/cudart/test_names.o: GS_CFLAGS += -DNVIDIA_13='"$(CUDART_LIBRARY)"' -DNVIDIA_12='"$(CUDART_LIBRARY12)"'
$(BUILD)/test/cudart/test_names: $(BUILD)/lib/libgshare_cudart.so $(BUILD)/lib/libgshare_cudart12.so
$(addprefix $(BUILD)/test/,cudart/runtime12 cudart/test_names cublas/blas12): $(BUILD)/%: $(BUILD)/obj/%.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $< -ldl
# The same program with an RPATH that leads to another runtime, an empty one.
$(BUILD)/test/cudart/rpath/program: $(BUILD)/obj/test/cudart/runtime12.o
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,libcudart.so.13 -o $(@D)/libcudart.so.13 -x c /dev/null
	$(Q)$(LINK) -o $@ $< -ldl -Wl,--no-as-needed,--disable-new-dtags,-rpath='$$ORIGIN' $(@D)/libcudart.so.13

# The libraries compiled against the toolkits' prototypes, as a check: these objects are not linked.
COMPILE_TOOLKIT = $(COMPILE) -Wno-missing-prototypes -Wno-strict-prototypes -Wno-deprecated-declarations -DGS_CUDART_TOOLKIT
$(BUILD)/obj/toolkit/test/%.o $(BUILD)/obj/toolkit12/test/%.o: GS_CFLAGS += -Itest
$(BUILD)/obj/toolkit/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE_TOOLKIT) -isystem $(dir $(CUDART_TOOLKIT)) -c -o $@ $<
$(BUILD)/obj/toolkit12/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE_TOOLKIT) -DGS_CUDART_12 -isystem $(dir $(CUDART_TOOLKIT12)) -c -o $@ $<
$(BUILD)/obj/own12/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itest -DGS_CUDART_12 -c -o $@ $<
# One source for both libraries.
$(BUILD)/obj/test/cublas/test_abi.o: test/cudart/test_abi.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<
abi_checked = $(filter-out %/unsupported.c %/kernels.c,$(wildcard lib/$(1)/*/*.c)) test/$(1)/abi_facts.c
abi_facts = $(foreach side,test $(if $(2),toolkit/test) $(if $(3),own12/test toolkit12/test),$(BUILD)/obj/$(side)/$(1)/abi_facts.o)
# ABI_TEST,library,the toolkit's header if it is there,that of version 12
define ABI_TEST
$(BUILD)/obj/test/$(1)/test_abi.o: GS_CFLAGS += $(if $(2),-DHAVE_TOOLKIT) $(if $(3),-DHAVE_TOOLKIT12)
$(BUILD)/test/$(1)/test_abi: $(BUILD)/obj/test/$(1)/test_abi.o $(abi_facts) \
        $(foreach side,$(if $(2),toolkit) $(if $(3),toolkit12),$(patsubst %.c,$(BUILD)/obj/$(side)/%.o,$(abi_checked)))
	$$(call step,LINK,$$@)
	$(Q)$$(LINK) -o $$@ $$< $(abi_facts)
endef
$(eval $(call ABI_TEST,cudart,$(CUDART_TOOLKIT),$(CUDART_TOOLKIT12)))
$(eval $(call ABI_TEST,cublas,$(CUBLAS_TOOLKIT),$(CUBLAS_TOOLKIT12)))

# ---- Other programs, and what they need ------------------------------------------------------
# An installation for the test, which moves it. This make installs it, with the variables of the build.
$(BUILD)/test/cmake/test_find_package: test/cmake/test_find_package $(BINS) $(LIBS) $(wildcard include/* pkgconfig/*.in pkgconfig/cmake/*)
	@mkdir -p $(@D)
	$(Q)$(MAKE) --no-print-directory install DESTDIR= PREFIX=$(abspath $(@D))/prefix >$(@D)/install.log
	$(Q)cp $< $@

# A substitute for the toolkit's assembler, without a sanitizer, which would handle its signals.
$(BUILD)/test/e2e/ptxas: test/shim/ptxas.c $(BUILD)/flags
	$(call step,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -o $@ $<
$(BUILD)/test/e2e/test_assembler: $(BUILD)/test/e2e/ptxas

# A library that makes calls of the C library fail. It is linked before the C library, so its symbols are used.
$(BUILD)/test/e2e/libgshare-fail.so: $(BUILD)/obj/test/shim/fail.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) $(NO_UNDEFINED) -o $@ $^ -ldl -lrt
$(BUILD)/test/e2e/test_failures: $(BUILD)/test/e2e/libgshare-fail.so
$(BUILD)/test/e2e/test_failures: E2E_LIBS = -L$(@D) -lgshare-fail -Wl,-rpath,'$$ORIGIN'
# The same for calls of the driver: it is linked before the software device.
$(BUILD)/test/e2e/libgshare-fail-driver.so: $(BUILD)/obj/test/shim/driver.o $(BUILD)/lib/libgshare-softcuda.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) $(NO_UNDEFINED) -o $@ $< -L$(BUILD)/lib -Wl,--no-as-needed -lgshare-softcuda \
	    -Wl,-rpath,'$$ORIGIN/../../lib' -ldl
$(addprefix $(BUILD)/test/e2e/test_,host_join hostile_driver hostile_module preload stuck takeover_late texture_fence trap vault): $(BUILD)/test/e2e/libgshare-fail-driver.so

# A substitute for cuBLASLt on the software device.
$(BUILD)/obj/test/shim/cublaslt.o: $(patsubst %,lib/cublas/kernels/%.ptx,gemm_f16 gemm_f32 gemm_f64 gemm_s8 level3)
$(BUILD)/obj/test/shim/cublaslt.o: GS_CFLAGS += -DKERNELS_DIR='"$(CURDIR)/lib/cublas/kernels"' -Wno-missing-prototypes
$(BUILD)/test/e2e/libgshare-cublaslt.so: $(BUILD)/obj/test/shim/cublaslt.o $(BUILD)/lib/libgshare-softcuda.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared -o $@ $< -L$(BUILD)/lib -lgshare-softcuda -Wl,-rpath,'$$ORIGIN/../../lib'
$(BUILD)/obj/toolkit/test/shim/cublaslt_abi.o: test/shim/cublaslt_abi.c lib/worker/blas/cublaslt.h
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -isystem $(dir $(CUDART_TOOLKIT)) -c -o $@ $<
$(BUILD)/test/e2e/test_gemm $(BUILD)/test/e2e/test_hostile $(BUILD)/test/cublas/test_cublas: $(BUILD)/test/e2e/libgshare-cublaslt.so
$(BUILD)/test/e2e/test_gemm: $(if $(wildcard $(dir $(CUDART_TOOLKIT))cublasLt.h),$(BUILD)/obj/toolkit/test/shim/cublaslt_abi.o)

# A program that loads libgshare by dlopen, libraries that use up static TLS, and a plugin with the archive.
$(BUILD)/test/e2e/dlopen: $(BUILD)/obj/test/e2e/dlopen/program.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -ldl
$(BUILD)/test/e2e/libgshare-surplus-%.so: test/e2e/dlopen/surplus.c $(BUILD)/flags
	$(call step,LINK,$@)
	$(Q)$(COMPILE) -DSURPLUS=$* -shared -MF $@.d -o $@ $<
$(BUILD)/test/e2e/libgshare-plugin.so: $(BUILD)/lib/libgshare.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared $(NO_UNDEFINED) -o $@ -Wl,--whole-archive $^ -Wl,--no-whole-archive $(LDLIBS_RT)
$(BUILD)/test/e2e/test_dlopen: $(addprefix $(BUILD)/test/e2e/,dlopen libgshare-surplus-64.so libgshare-surplus-1.so libgshare-plugin.so)

# Programs of a driver library, which they load.
$(CONFORMANCE_TESTS) $(CORPUS_TESTS): $(BUILD)/%: $(BUILD)/obj/%.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -ldl -lm
$(CONFORMANCE_TESTS): $(call test_helpers,conformance)

# These programs test what a pass adds to kernels.
$(BUILD)/test/conformance/test_completion $(BUILD)/test/conformance/test_dependents: $(BUILD)/component/ptx.a $(BUILD)/component/common.a

# A case of the corpus is one .cu file, whose host half the C compiler compiles.
CORPUS_CASES := $(patsubst %.cu,$(BUILD)/obj/%.o,$(wildcard test/corpus/*.cu))
$(CORPUS_CASES): $(BUILD)/obj/%.o: %.cu
	$(call step,CC,$<)
	$(Q)$(COMPILE) -ffp-contract=off -x c -c -o $@ $<
$(BUILD)/obj/test/corpus/test_corpus.o: GS_CFLAGS += -DCORPUS_PTX='"$(CURDIR)/test/corpus/ptx"'
$(BUILD)/obj/test/instructions/test_instructions.o: GS_CFLAGS += -DINSTRUCTIONS='"$(CURDIR)/test/instructions"'
$(BUILD)/test/corpus/test_corpus: $(CORPUS_CASES) $(BUILD)/obj/test/corpus/expect.o $(BUILD)/obj/test/corpus/completing.o $(BUILD)/obj/test/corpus/fencing.o $(BUILD)/component/ptx.a $(BUILD)/component/common.a
$(BUILD)/test/instructions/test_instructions: $(call test_helpers,instructions) $(BUILD)/obj/test/corpus/fencing.o $(BUILD)/component/ptx.a $(BUILD)/component/common.a

FROM ?= 1
TO   ?= 50
test-random: all $(BUILD)/test/corpus/test_corpus
	@DEVICE=$(DEVICE) CC="$(CC)" SANITIZE=$(SANITIZE) test/corpus/try_random $(BUILD) $(FROM) $(TO)

# Kernels that were not written for gshare: minutes of nvcc.
FOREIGN := $(basename $(notdir $(wildcard test/foreign/*.cu)))
$(CUDA_OBJ)/test/foreign/%.o: NVCC_TEST += -keep -keep-dir $(@D)
$(eval $(call CUDA_OBJECTS,foreign))
$(eval $(call CUDA_PROGRAMS,foreign,cudart,-lgshare_cudart -lgshare,../../lib))
.SECONDARY: $(FOREIGN:%=$(CUDA_OBJ)/test/foreign/%.o)
test-foreign: all $(BUILD)/test/ptx/fence $(if $(NVCC),$(FOREIGN:%=$(BUILD)/test/foreign/%))
	@test/foreign/run $(BUILD) || [ $$? = 77 ]

# Checks that ptxas accepts the fenced text of every module in the tree.
$(BUILD)/test/ptx/fence: $(BUILD)/obj/test/ptx/fence.o $(BUILD)/component/ptx.a $(BUILD)/component/common.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -lm
fence-assemble: $(BUILD)/test/ptx/fence $(BUILD)/test/instructions/test_instructions
	BUILD=$(BUILD) test/ptx/assemble

tests: $(TESTS)
# These have one thread (PTX is read and rewritten, sessions are played, SMs are placed): the thread sanitizer has
# nothing to find there, and takes minutes.
ONE_THREAD := $(if $(findstring thread,$(SANITIZE)),$(filter $(addprefix $(BUILD)/test/unit/,test_ptx_% \
                  test_worker_shares test_worker_charges test_server_placer%),$(TESTS)))
test: all tests $(EXAMPLES)
	@BUILD=$(BUILD) DEVICE=$(DEVICE) TIME_SCALE=$(if $(SANITIZE),5,1) test/run \
	    $(if $(filter cmocka,$(HAVE)),,$(patsubst %,--skip "%: cmocka is not installed",$(UNIT_TESTS))) \
	    $(if $(filter cxx,$(HAVE)),,$(patsubst %,--skip "%: there is no C++ compiler",$(CXX_TESTS))) \
	    $(if $(NO_PYTHON),$(patsubst %,--skip "%: $(NO_PYTHON)",$(PYTHON_TESTS))) \
	    $(if $(SANITIZE),--skip "$(CMAKE_TEST): a program would need the sanitizer's flags") \
	    $(patsubst %,--skip "%: it has one thread",$(ONE_THREAD)) $(filter-out $(ONE_THREAD),$(TESTS))

# As root, each with namespaces or a daemon of its own.
test-slurm test-mpi: all examples
test-systemd: deb
test-container: all
test-slurm test-systemd test-container test-mpi: test-%:
	@test/$* $(BUILD)

# Killed processes and a hostile tenant beside honest ones: test/e2e/test_chaos.c, once for each of SEEDS, CHAOS_JOBS at a
# time; test/chaos sums the tables up. A run ends after CHAOS_SECONDS, even before its ROUNDS are done.
ROUNDS ?= 1000
CHAOS_SECONDS ?= 86400
CHAOS_JOBS ?= 1
SEEDS ?= $(shell date +%s)
chaos: all $(BUILD)/test/e2e/test_chaos
	@BUILD=$(BUILD) DEVICE=$(DEVICE) GS_CHAOS_ROUNDS=$(ROUNDS) GS_CHAOS_SECONDS=$(CHAOS_SECONDS) \
	    test/chaos --jobs $(CHAOS_JOBS) --output $(BUILD)/chaos $(SEEDS)

# The supervisor killed at each of its system calls: test/e2e/test_supervisor_steps.c
STEPS ?= all
kill-steps: all $(KILL_STEPS)
	@BUILD=$(BUILD) DEVICE=soft V=1 TEST_SECONDS=36000 GS_KILL_STEPS=$(STEPS) test/run $(KILL_STEPS)

# Fuzz targets, with libFuzzer: make fuzz CC=clang BUILD=build/fuzz SANITIZE=fuzzer-no-link,address,undefined
FUZZ_TARGETS := $(patsubst %.c,$(BUILD)/%,$(wildcard test/fuzz/fuzz_*.c))
FUZZ_HELPERS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out test/fuzz/fuzz_%,$(wildcard test/fuzz/*.c)))
$(BUILD)/test/fuzz/fuzz_%: $(BUILD)/obj/test/fuzz/fuzz_%.o $(FUZZ_HELPERS) $(COMPONENT_ARCHIVES)
	$(call step,LINK,$@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lm $(LDLIBS_RT)
fuzz: $(FUZZ_TARGETS)
