# gshare: many processes, one GPU.
#
#   make            build everything under $(BUILD)
#   make demo       photographs resized by 1, 2 and 4 tenants     DEVICE=auto|cuda|soft  IMAGE=file.jpg
#   make test       the tests, against a software device or a GPU DEVICE=auto|cuda|soft
#   make examples   the programs in examples/
#   make bench      the benchmark tables (an NVIDIA GPU is needed for most of them)
#   make bench-cudart   the CUDA runtime's calls beside NVIDIA's runtime
#   make install    into $(DESTDIR)$(PREFIX); `make uninstall` removes it
#   make deb        Debian packages of all that, in $(BUILD)/deb
#   make test-slurm   examples/slurm under a Slurm of its own, as root
#   make test-systemd   the units and packages under a systemd of its own, as root
#   make test-container   server and tenants in containers' namespaces, as root
#   make test-mpi   examples/mpi-hosts over two hosts, the second made of namespaces, as root
#   make test-foreign   kernels of CUB, Thrust and cuRAND, fenced and not: minutes of nvcc
#   make test-random   random kernels, the host's results against the device's  FROM=1 TO=50
#   make chaos      killed processes and a hostile tenant beside honest ones  ROUNDS=1000 CHAOS_SECONDS=86400 SEEDS="1 2 3"
#   make kill-steps the supervisor killed at each of its system calls  STEPS=all
#   make man        the manual pages of section 3, from include/gshare.h
#   make test-cudart-native   the CUDA programs of test/cudart with NVIDIA's runtime, on a GPU
#   make test-cublas-native   those of test/cublas with NVIDIA's cuBLAS
#   make bench-cublas         products of matrices, cuBLAS and gshare, on a GPU; SIZES="1024 4096"
#   make help       this text
#   make format-check, make fuzz (CC=clang), make ptx (the .ptx files from the .cu beside them)
#
# SANITIZE=address,undefined or SANITIZE=thread builds with that sanitizer; give it a BUILD of its own.
# DEPS=skip goes on without packages that are missing: what needs them is left out, or skipped.

VERSION  := 0.1.0
# Of this version; manual pages bear it.
DATE     := 2026-11-23
SOVERSION := 1

BUILD    ?= build
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
LIBDIR   ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR   ?= $(PREFIX)/share/man
BASHDIR  ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR   ?= $(PREFIX)/share/zsh/site-functions
MPSDIR   ?= $(PREFIX)/share/gshare/mps
DOCDIR   ?= $(PREFIX)/share/doc/gshare
UNITDIR  ?= $(PREFIX)/lib/systemd/system
USERUNITDIR ?= $(PREFIX)/lib/systemd/user
DEVICE   ?= auto
IMAGE    ?=
SANITIZE ?=
WERROR   ?= -Werror
DEPS     ?= install

# ---- What make builds ------------------------------------------------------------------------
# The rules of libraries, programs, examples, manual pages and packages are below, in this order. test/rules.mk has
# those of the tests, bench/rules.mk those of the benchmarks.
BINS := $(BUILD)/bin/gshared $(BUILD)/bin/gsctl $(BUILD)/bin/gshare-run
# Shared libraries; those that take the place of NVIDIA's have its names in lib/gshare.
SHARED_LIBS := libgshare.so libgshare_cudart.so libgshare_cudart12.so libgshare_cublas.so libgshare_cublas12.so
NVIDIA_NAMES := $(foreach version,13 12,$(foreach name,cudart cublas cublasLt,gshare/lib$(name).so.$(version)))
LIBS := $(addprefix $(BUILD)/lib/,$(SHARED_LIBS) libgshare.a libgshare-softcuda.so $(NVIDIA_NAMES))

.PHONY: all help format-check clean
.DELETE_ON_ERROR:
all: $(BINS) $(LIBS)
help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

FORMATTED = $(shell find include lib examples bench test -name '*.[ch]' -o -name '*.[ch]pp')
CLANG_FORMAT ?= clang-format
format-check:
	@echo "  CHECK formatting of $(words $(FORMATTED)) files"
	@$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)

clean:
	rm -rf $(BUILD)

# ---- What the machine has ---------------------------------------------------------------------
# gshared, gsctl and libgshare need a C compiler only. ncurses is for gsctl top, microhttpd for gsctl metrics
# --listen, cmocka for unit tests, jpeg for the demo, a C++ compiler (of the same family, because of
# sanitizers) for the test and the example of gshare.hpp. HAVE lists what was found, and NEED_goal what a goal
# needs; what is missing is installed first, unless DEPS=skip.
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),clang++,g++)
endif
# A number sign in a function call is escaped differently by different makes.
HASH := \#
HAVE := $(shell printf '%s\n' cc '$(HASH)if __has_include(<cmocka.h>)' cmocka '$(HASH)endif' \
                '$(HASH)if __has_include(<ncurses.h>)' ncurses '$(HASH)endif' \
                '$(HASH)if __has_include(<microhttpd.h>)' microhttpd '$(HASH)endif' \
                '$(HASH)if __has_include(<jpeglib.h>)' jpeg '$(HASH)endif' | $(CC) -E -P - 2>/dev/null)
HAVE += $(if $(shell command -v $(firstword $(CXX))),cxx)
NEED_test := cc cxx cmocka ncurses microhttpd
NEED_demo := cc jpeg
MISSING := $(filter-out $(HAVE),$(sort $(foreach goal,$(MAKECMDGOALS),$(NEED_$(goal)))))
ifneq ($(MISSING),)
ifneq ($(DEPS),skip)
# make builds the included file, which installs the packages, and then starts again with the right HAVE.
include $(BUILD)/installed-$(subst $() ,-,$(sort $(MISSING))).mk
$(BUILD)/installed-%.mk:
	test/deps $(MISSING)
	@mkdir -p $(@D) && touch $@
endif
endif
NCURSES_LIBS := $(if $(filter ncurses,$(HAVE)),-lncurses)
MICROHTTPD_LIBS := $(if $(filter microhttpd,$(HAVE)),-lmicrohttpd)

CFLAGS   ?= -O2 -g
GS_CFLAGS := -std=gnu11 -fPIC -fvisibility=hidden -pthread -MMD -MP \
             -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
             -Wvla $(WERROR) \
             -D_GNU_SOURCE -DGS_VERSION_STRING='"$(VERSION)"' -Iinclude -Ilib
ifneq ($(SANITIZE),)
GS_CFLAGS  += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
GS_LDFLAGS := -fsanitize=$(SANITIZE)
endif
GS_LDFLAGS += -pthread
# The program provides a sanitizer's symbols, so a library may have undefined ones.
NO_UNDEFINED := $(if $(SANITIZE),,-Wl,-z,defs)
LDLIBS_RT  := -lrt -ldl

# For C++: gshare.hpp is for C++11 and later.
CXXFLAGS ?= $(CFLAGS)
GS_CXXFLAGS = -std=c++11 -pedantic $(filter-out -std=% -Wstrict-prototypes -Wmissing-prototypes,$(GS_CFLAGS))
COMPILE_CXX = $(CXX) $(GS_CXXFLAGS) $(CXXFLAGS) $(CPPFLAGS)

COMPILE = $(CC) $(GS_CFLAGS) $(CFLAGS) $(COMPONENT_CFLAGS) $(CPPFLAGS)
LINK    = $(CC) $(GS_LDFLAGS) $(CFLAGS) $(LDFLAGS)
LINK_CXX = $(CXX) $(GS_LDFLAGS) $(CXXFLAGS) $(LDFLAGS)

# One line per step; V=1 shows the commands. A recipe begins with $(call step,WORD,FILE): it makes the
# target's folder and announces the step.
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2))
define step
@mkdir -p $(@D)
$(call say,$(1),$(2))
endef
# The recipe for an archive of the prerequisites.
define archive
@mkdir -p $(@D)
@rm -f $@
$(Q)$(AR) qcs $@ $^
endef
# $(call embeds,OBJECT,MACRO,FILE): the object's source includes the file, whose path is the string MACRO.
define embeds
$(1): $(3)
$(1): GS_CFLAGS += -D$(2)='"$(CURDIR)/$(3)"'
endef

# ---- Components ------------------------------------------------------------------------------
# A component is a folder of lib/ (doc/design.md). All .c files below it become an archive in $(BUILD)/component, from
# which the sections below link libraries and programs.
COMPONENTS := common client cudart cublas server worker ptx softcuda gsctl
component_objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(shell find lib/$(1) -name '*.c')))

# The interpreter's loops over lanes are written for the vectorizer. A loop that clang cannot vectorize (because
# of a division, say) is no error.
$(BUILD)/obj/lib/softcuda/%.o: COMPONENT_CFLAGS := -O3 -fno-math-errno -ffp-contract=off -Wno-pass-failed
# Data races between the threads of a guest's kernels are the guest's own: no thread sanitizer in the interpreter,
# whose state belongs to one turn.
ifneq ($(findstring thread,$(SANITIZE)),)
$(BUILD)/obj/lib/softcuda/interp/%.o: COMPONENT_CFLAGS := -O3 -fno-math-errno -ffp-contract=off -Wno-pass-failed -fno-sanitize=thread
endif

# The prototypes of the public functions of the CUDA runtime and of cuBLAS are in the toolkit; test_abi compares
# them with the definitions here.
$(BUILD)/obj/lib/cudart/api/%.o $(BUILD)/obj/cudart12/cudart/api/%.o: COMPONENT_CFLAGS := -Wno-missing-prototypes
$(BUILD)/obj/lib/cublas/api/%.o $(BUILD)/obj/cudart12/cublas/api/%.o: COMPONENT_CFLAGS := -Wno-missing-prototypes
$(BUILD)/obj/%/cudart/api/unsupported.o $(BUILD)/obj/%/cublas/api/unsupported.o: COMPONENT_CFLAGS := -Wno-missing-prototypes -Wno-strict-prototypes

# Objects depend on $(BUILD)/flags, so a change of compiler, flags or headers found rebuilds everything.
FLAGS := $(strip $(CC) $(CXX) $(GS_CFLAGS) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(HAVE))
ifneq ($(FLAGS),$(file <$(BUILD)/flags))
ifneq ($(MAKECMDGOALS),clean)
$(shell mkdir -p $(BUILD))
$(file >$(BUILD)/flags,$(FLAGS))
endif
endif

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call step,CC,$<)
	$(Q)$(COMPILE) -c -o $@ $<

$(BUILD)/obj/%.o: %.cpp $(BUILD)/flags
	$(call step,CXX,$<)
	$(Q)$(COMPILE_CXX) -c -o $@ $<

# PTX inside the library: the functions that replace vprintf and malloc in kernels' modules.
$(eval $(call embeds,$(BUILD)/obj/lib/ptx/rewrite/printf_pass.o,PTX_FILE,lib/ptx/rewrite/print_device.ptx))
$(eval $(call embeds,$(BUILD)/obj/lib/ptx/rewrite/heap_pass.o,PTX_FILE,lib/ptx/rewrite/heap_device.ptx))

ifneq ($(NCURSES_LIBS),)
$(BUILD)/obj/lib/gsctl/top/top.o: GS_CFLAGS += -DGS_NCURSES
endif
ifneq ($(MICROHTTPD_LIBS),)
$(BUILD)/obj/lib/gsctl/metrics/metrics_http.o: GS_CFLAGS += -DGS_MICROHTTPD
endif

define COMPONENT_RULE
$(BUILD)/component/$(1).a: $(call component_objs,$(1))
	$$(archive)
endef
$(foreach component,$(COMPONENTS),$(eval $(call COMPONENT_RULE,$(component))))

# ---- The client library ----------------------------------------------------------------------
$(BUILD)/lib/libgshare.so.$(SOVERSION): $(BUILD)/component/client.a $(BUILD)/component/common.a lib/client/gshare.map
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,libgshare.so.$(SOVERSION) -Wl,--version-script=lib/client/gshare.map \
	    $(NO_UNDEFINED) -o $@ -Wl,--whole-archive $(BUILD)/component/client.a -Wl,--no-whole-archive \
	    $(BUILD)/component/common.a $(LDLIBS_RT)
$(BUILD)/lib/libgshare.so: $(BUILD)/lib/libgshare.so.$(SOVERSION)
	$(Q)ln -sf $(<F) $@
# One relocatable object whose hidden symbols are made local, so that the archive only exports gs_*, too.
$(BUILD)/lib/libgshare.a: $(BUILD)/component/client.a $(BUILD)/component/common.a
	@mkdir -p $(@D) $(BUILD)/obj
	$(Q)$(LD) -r -o $(BUILD)/obj/libgshare.o --whole-archive $(BUILD)/component/client.a --no-whole-archive $(BUILD)/component/common.a
	$(Q)objcopy --localize-hidden $(BUILD)/obj/libgshare.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(BUILD)/obj/libgshare.o

# ---- The CUDA runtime over libgshare: see doc/cuda-runtime.md ----------------------------------
# The symbols have the versions that NVIDIA's library gives them, so that a program linked with that library
# accepts this one, which it finds as gshare/libcudart.so.13 or .12. Version 12 is the same source, compiled with
# GS_CUDART_12. $ORIGIN of a library in gshare/ is gshare/ itself, since symbolic links are not resolved for it.
CUDART12_OBJS := $(patsubst lib/%.c,$(BUILD)/obj/cudart12/%.o,$(sort $(shell find lib/cudart -name '*.c')))
$(BUILD)/obj/cudart12/%.o: lib/%.c $(BUILD)/flags
	$(call step,CC,$@)
	$(Q)$(COMPILE) -DGS_CUDART_12 -c -o $@ $<
$(BUILD)/component/cudart12.a: $(CUDART12_OBJS)
	$(archive)
# CUDART_RULES,version,suffix of the library's and the component's name
define CUDART_RULES
$(BUILD)/obj/lib/cudart/cudart$(1).map: lib/cudart/functions.def
	@mkdir -p $$(@D)
	$(Q)(echo 'libcudart.so.$(1) { global:' && sed -nE 's/^(UN)?SUPPORTED(_$(1))?\((.*)\)$$$$/\3;/p' $$< && echo 'local: *; };' && \
	    echo 'GSHARE_CUDART_1 { global: gs_cuda_*; };') >$$@
$(BUILD)/lib/libgshare_cudart$(2).so.$(SOVERSION): $(BUILD)/component/cudart$(2).a $(BUILD)/obj/lib/cudart/cudart$(1).map $(BUILD)/lib/libgshare.so
	$$(call step,LINK,$$@)
	$(Q)$$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,$$(@F) -Wl,--version-script=$(BUILD)/obj/lib/cudart/cudart$(1).map \
	    $(NO_UNDEFINED) -o $$@ -Wl,--whole-archive $(BUILD)/component/cudart$(2).a -Wl,--no-whole-archive \
	    -L$(BUILD)/lib -lgshare -Wl,-rpath,'$$$$ORIGIN:$$$$ORIGIN/..'
$(BUILD)/lib/libgshare_cudart$(2).so: $(BUILD)/lib/libgshare_cudart$(2).so.$(SOVERSION)
	$(Q)ln -sf $$(<F) $$@
$(BUILD)/lib/gshare/libcudart.so.$(1): $(BUILD)/lib/libgshare_cudart$(2).so.$(SOVERSION)
	@mkdir -p $$(@D)
	$(Q)ln -sf ../$$(<F) $$@
endef
$(eval $(call CUDART_RULES,13,))
$(eval $(call CUDART_RULES,12,12))

# ---- cuBLAS over the CUDA runtime: see doc/cublas.md -------------------------------------------
CUBLAS12_OBJS := $(patsubst lib/%.c,$(BUILD)/obj/cudart12/%.o,$(sort $(shell find lib/cublas -name '*.c')))
CUBLAS_PTX := $(wildcard lib/cublas/kernels/*.ptx)
$(BUILD)/obj/lib/cublas/base/kernels.o $(BUILD)/obj/cudart12/cublas/base/kernels.o: $(CUBLAS_PTX)
$(BUILD)/obj/%/cublas/base/kernels.o: GS_CFLAGS += -DKERNELS_DIR='"$(CURDIR)/lib/cublas/kernels"'
$(BUILD)/component/cublas12.a: $(CUBLAS12_OBJS)
	$(archive)
# One library has the symbols of both cuBLAS and cuBLASLt, with the versions that they have in NVIDIA's libraries.
CUBLAS_NAMES = sed -nE 's/^(UN)?SUPPORTED(_$(1))?\((.*)\)$$/\3;/p' $(2)
# CUBLAS_RULES,version,suffix of the library's and the component's name
define CUBLAS_RULES
$(BUILD)/obj/lib/cublas/cublas$(1).map: lib/cublas/functions.def lib/cublas/functions_lt.def
	@mkdir -p $$(@D)
	$(Q)(echo 'libcublas.so.$(1) { global:' && $$(call CUBLAS_NAMES,$(1),lib/cublas/functions.def) && echo '};' && \
	    echo 'libcublasLt.so.$(1) { global:' && $$(call CUBLAS_NAMES,$(1),lib/cublas/functions_lt.def) && echo 'local: *; };') >$$@
$(BUILD)/lib/libgshare_cublas$(2).so.$(SOVERSION): $(BUILD)/component/cublas$(2).a $(BUILD)/obj/lib/cublas/cublas$(1).map $(BUILD)/lib/libgshare_cudart$(2).so
	$$(call step,LINK,$$@)
	$(Q)$$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,$$(@F) -Wl,--version-script=$(BUILD)/obj/lib/cublas/cublas$(1).map \
	    $(NO_UNDEFINED) -o $$@ -Wl,--whole-archive $(BUILD)/component/cublas$(2).a -Wl,--no-whole-archive \
	    -L$(BUILD)/lib -lgshare_cudart$(2) -lm -Wl,-rpath,'$$$$ORIGIN:$$$$ORIGIN/..' -Wl,-rpath-link,$(BUILD)/lib
$(BUILD)/lib/libgshare_cublas$(2).so: $(BUILD)/lib/libgshare_cublas$(2).so.$(SOVERSION)
	$(Q)ln -sf $$(<F) $$@
$(BUILD)/lib/gshare/libcublas.so.$(1) $(BUILD)/lib/gshare/libcublasLt.so.$(1): $(BUILD)/lib/libgshare_cublas$(2).so.$(SOVERSION)
	@mkdir -p $$(@D)
	$(Q)ln -sf ../$$(<F) $$@
endef
$(eval $(call CUBLAS_RULES,13,))
$(eval $(call CUBLAS_RULES,12,12))
RUN_SCRIPT = sed -e 's|@CUDARTDIR@|$(1)|' -e 's|@VERSION@|$(VERSION)|' lib/cudart/gshare-run.in
$(BUILD)/bin/gshare-run: lib/cudart/gshare-run.in
	@mkdir -p $(@D)
	$(Q)$(call RUN_SCRIPT,$(abspath $(BUILD))/lib/gshare) >$@ && chmod 755 $@

# ---- The software CUDA device: a driver library ----------------------------------------------
$(BUILD)/lib/libgshare-softcuda.so: $(BUILD)/component/softcuda.a $(BUILD)/component/ptx.a $(BUILD)/component/common.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,libgshare-softcuda.so $(NO_UNDEFINED) -o $@ \
	    -Wl,--whole-archive $(BUILD)/component/softcuda.a -Wl,--no-whole-archive \
	    $(BUILD)/component/ptx.a $(BUILD)/component/common.a -lm $(LDLIBS_RT)

# ---- Programs --------------------------------------------------------------------------------
$(BUILD)/bin/gshared: $(BUILD)/obj/lib/gshared/main.o $(BUILD)/component/server.a $(BUILD)/component/worker.a $(BUILD)/component/ptx.a $(BUILD)/component/common.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ -Wl,--start-group $^ -Wl,--end-group $(LDLIBS_RT)
$(BUILD)/bin/gsctl: $(BUILD)/component/gsctl.a $(BUILD)/component/common.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(NCURSES_LIBS) $(MICROHTTPD_LIBS) $(LDLIBS_RT)

# ---- Examples --------------------------------------------------------------------------------
# They link as a user's program would: with the shared library, found beside them in the build tree.
USE_LIBGSHARE = -L$(BUILD)/lib -lgshare -Wl,-rpath,'$$ORIGIN/$(1)'
EXAMPLES := $(BUILD)/examples/hello
ifneq ($(filter jpeg,$(HAVE)),)
EXAMPLES += $(BUILD)/examples/demo
endif
NVCC  ?= $(firstword $(shell command -v nvcc /usr/local/cuda/bin/nvcc 2>/dev/null))
CLANG ?= $(shell command -v clang 2>/dev/null)
ifneq ($(NVCC)$(CLANG),)
EXAMPLES += $(BUILD)/examples/vector
endif
ifneq ($(filter cxx,$(HAVE)),)
EXAMPLES += $(BUILD)/examples/vector-cpp
endif
ifneq ($(if $(SANITIZE),,$(NVCC)),)
EXAMPLES += $(BUILD)/examples/saxpy
endif
# Debian's openmpi-bin has mpicc without mpi.h, so a file is preprocessed; for standard input Open MPI's mpicc
# does not pass the folder of its headers.
MPICC ?= $(shell mpicc -E -Iinclude examples/mpi.c >/dev/null 2>&1 && command -v mpicc)
ifneq ($(if $(SANITIZE),,$(MPICC)),)
EXAMPLES += $(BUILD)/examples/mpi
endif

.PHONY: examples demo
examples: all $(EXAMPLES)
	@$(if $(NVCC)$(CLANG),:,echo "examples/vector left out: no nvcc, no clang")
	@$(if $(MPICC),:,echo "examples/mpi left out: no mpicc")
	@$(if $(filter cxx,$(HAVE)),:,echo "examples/vector-cpp left out: no C++ compiler")

$(BUILD)/examples/hello: $(BUILD)/obj/examples/hello.o $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(call USE_LIBGSHARE,../lib)

$(BUILD)/examples/vector-cpp: $(BUILD)/obj/examples/vector.o $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK_CXX) -o $@ $< $(call USE_LIBGSHARE,../lib)

$(BUILD)/examples/saxpy: examples/saxpy.cu $(BUILD)/lib/libgshare_cudart.so
	$(call step,NVCC,$@)
	$(Q)$(NVCC) -O2 -arch=compute_75 -cudart none -o $@ $< -L$(BUILD)/lib -lgshare_cudart -Xlinker -rpath='$$ORIGIN/../lib'

# mpicc uses its own compiler and flags, so this is not built with a sanitizer.
$(BUILD)/examples/mpi: examples/mpi.c include/gshare.h $(BUILD)/lib/libgshare.so
	$(call step,MPI,$@)
	$(Q)$(MPICC) -O2 -g -Wall -Wextra -Iinclude -o $@ $< $(call USE_LIBGSHARE,../lib)

demo_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard examples/demo/*.c))
$(eval $(call embeds,$(BUILD)/obj/examples/demo/device.o,PTX_FILE,examples/demo/resize.ptx))
$(BUILD)/examples/demo: $(demo_objs) $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(demo_objs) $(call USE_LIBGSHARE,../lib) -ljpeg -lm -lrt

# A .cu application: nvcc compiles it, or clang where there is no nvcc (it needs no toolkit). Its
# kernel<<<...>>> calls reach libgshare through cuda_launch.c, which replaces libcudart.
CLANG_CUDA = $(CLANG) -x cuda -nocudainc -nocudalib --cuda-path=/nonexistent -Xclang -target-sdk-version=10.2 \
             --cuda-gpu-arch=sm_70 -O2 -Wall -Wextra -Iinclude
CLANG_PTX  = $(CLANG_CUDA) -Ilib --cuda-device-only -Xclang -target-feature -Xclang +ptx64 -S
# For sm_80. A loop with assembly that is not unrolled is no error.
CLANG_PTX_80 = $(subst sm_70,sm_80,$(subst version=10.2,version=11.0,$(subst +ptx64,+ptx70,$(CLANG_PTX)))) -Wno-pass-failed
$(BUILD)/examples/vector: $(BUILD)/examples/vector.o $(BUILD)/obj/examples/cuda_launch.o | $(BUILD)/lib/libgshare.so
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(call USE_LIBGSHARE,../lib) $(if $(NVCC),-lstdc++)
ifneq ($(NVCC),)
$(BUILD)/examples/vector.o: examples/vector.cu examples/cuda_words.h examples/cuda_launch.h include/gshare.h
	$(call step,NVCC,$<)
	$(Q)$(NVCC) -O2 -Iinclude -arch=compute_75 -cudart none -Xcompiler -fPIC -c -o $@ $<
else
$(BUILD)/examples/vector.ptx: examples/vector.cu examples/cuda_words.h examples/cuda_launch.h include/gshare.h
	$(call step,CUDA,$<)
	$(Q)$(CLANG_PTX) -o $@.s $<
	@(cat $@.s && printf '\000') >$@ && rm $@.s
$(BUILD)/examples/vector.o: $(BUILD)/examples/vector.ptx
	$(call say,CUDA,examples/vector.cu)
	$(Q)$(CLANG_CUDA) --cuda-host-only -fPIC -Xclang -fcuda-include-gpubinary -Xclang $< -c -o $@ examples/vector.cu
endif

# ---- Demo ------------------------------------------------------------------------------------
demo: all $(BUILD)/examples/demo $(if $(IMAGE),,$(BUILD)/demo/photo.jpg)
	@$(BUILD)/examples/demo --device $(DEVICE) --output $(BUILD)/demo $(or $(IMAGE),$(BUILD)/demo/photo.jpg)
$(BUILD)/demo/photo.jpg: | $(BUILD)/examples/demo
	$(call say,GET,$@)
	@examples/demo/photo $@ $(BUILD)/examples/demo

# ---- Kernels kept as PTX, made from the .cu beside them by clang, which needs no toolkit for it ------
.PHONY: ptx
ptx:
	$(foreach name,test/harness/kernels examples/demo/resize examples/square bench/rows/soft bench/rows/ordinary lib/ptx/rewrite/print_device lib/ptx/rewrite/heap_device test/e2e/heap/heap,$(CLANG_PTX) -o $(name).ptx $(name).cu &&) :
	$(foreach name,$(basename $(wildcard lib/cublas/kernels/*.cu)),$(CLANG_PTX_80) -o $(name).ptx $(name).cu &&) :

# ---- Install ---------------------------------------------------------------------------------
# Section 3 is made from the comments of gshare.h.
MAN_PAGES := $(wildcard doc/*.[1-8])
MAN_SECTIONS := $(sort $(patsubst .%,%,$(suffix $(MAN_PAGES))))
.PHONY: man install uninstall deb
man: $(BUILD)/man3/gshare.3
$(BUILD)/man3/gshare.3: include/gshare.h doc/man3 Makefile
	$(call say,MAN,$(@D))
	$(Q)doc/man3 $(VERSION) $(DATE) include/gshare.h $(@D)
UNITS := $(patsubst pkgconfig/systemd/%.in,%,$(wildcard pkgconfig/systemd/*.in))
USER_UNITS := $(patsubst pkgconfig/systemd/user/%.in,%,$(wildcard pkgconfig/systemd/user/*.in))
# gshared looks for the software device in ../lib from its own folder, wherever LIBDIR is.
SOFTDIR := $(patsubst %/,%,$(dir $(BINDIR)))/lib
PC_NAMES := gshare gshare-cudart gshare-cublas
HEADERS := include/gshare.h include/gshare.hpp include/gshare_cuda.h
# The pages for users and operators; the others are for those who change gshare.
USER_PAGES := $(addprefix doc/,$(addsuffix .md,cublas cuda-runtime isolation json kubernetes limits metrics mps slurm softcuda trace troubleshooting))
install: all man
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(SOFTDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	install -m 755 $(BINS) $(DESTDIR)$(BINDIR)
	$(call RUN_SCRIPT,$(LIBDIR)/gshare) >$(DESTDIR)$(BINDIR)/gshare-run
	install -m 755 $(SHARED_LIBS:%=$(BUILD)/lib/%.$(SOVERSION)) $(DESTDIR)$(LIBDIR)
	cp -P $(SHARED_LIBS:%=$(BUILD)/lib/%) $(DESTDIR)$(LIBDIR)
	install -d $(DESTDIR)$(LIBDIR)/gshare
	cp -P $(NVIDIA_NAMES:%=$(BUILD)/lib/%) $(DESTDIR)$(LIBDIR)/gshare
	install -m 755 $(BUILD)/lib/libgshare-softcuda.so $(DESTDIR)$(SOFTDIR)
	install -m 644 $(BUILD)/lib/libgshare.a $(DESTDIR)$(LIBDIR)
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)
	for name in $(PC_NAMES); do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	        pkgconfig/$$name.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/$$name.pc; done
	install -d $(DESTDIR)$(LIBDIR)/cmake/gshare
	for name in gshare-config gshare-config-version; do \
	    sed -e 's|@INCLUDE@|$(shell realpath -m --relative-to=$(LIBDIR)/cmake/gshare $(INCLUDEDIR))|' -e 's|@VERSION@|$(VERSION)|' \
	        -e 's|@SOVERSION@|$(SOVERSION)|' pkgconfig/cmake/$$name.cmake.in >$(DESTDIR)$(LIBDIR)/cmake/gshare/$$name.cmake; done
	$(foreach n,$(MAN_SECTIONS),install -D -m 644 -t $(DESTDIR)$(MANDIR)/man$(n) $(filter %.$(n),$(MAN_PAGES)) &&) :
	install -d $(DESTDIR)$(MANDIR)/man3 && cp -P $(BUILD)/man3/*.3 $(DESTDIR)$(MANDIR)/man3
	install -d $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR)
	$(BUILD)/bin/gsctl completion bash >$(DESTDIR)$(BASHDIR)/gsctl
	$(BUILD)/bin/gsctl completion zsh >$(DESTDIR)$(ZSHDIR)/_gsctl
	install -D -m 755 -t $(DESTDIR)$(MPSDIR) examples/nvidia-cuda-mps-control
	install -D -m 644 -t $(DESTDIR)$(DOCDIR) $(USER_PAGES)
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(USERUNITDIR)
	$(foreach u,$(UNITS),sed 's|@BINDIR@|$(BINDIR)|' pkgconfig/systemd/$(u).in >$(DESTDIR)$(UNITDIR)/$(u) &&) :
	$(foreach u,$(USER_UNITS),sed 's|@BINDIR@|$(BINDIR)|' pkgconfig/systemd/user/$(u).in >$(DESTDIR)$(USERUNITDIR)/$(u) &&) :
uninstall: man
	rm -f $(patsubst %,$(DESTDIR)$(BINDIR)/%,$(notdir $(BINS))) $(patsubst include/%,$(DESTDIR)$(INCLUDEDIR)/%,$(HEADERS)) \
	    $(DESTDIR)$(SOFTDIR)/libgshare-softcuda.so \
	    $(patsubst %,$(DESTDIR)$(LIBDIR)/%,$(SHARED_LIBS) $(SHARED_LIBS:%=%.$(SOVERSION)) libgshare.a $(NVIDIA_NAMES) \
	        $(PC_NAMES:%=pkgconfig/%.pc) cmake/gshare/gshare-config.cmake cmake/gshare/gshare-config-version.cmake) \
	    $(foreach n,$(MAN_SECTIONS),$(patsubst %,$(DESTDIR)$(MANDIR)/man$(n)/%,$(notdir $(filter %.$(n),$(MAN_PAGES))))) \
	    $(DESTDIR)$(BASHDIR)/gsctl $(DESTDIR)$(ZSHDIR)/_gsctl $(DESTDIR)$(MPSDIR)/nvidia-cuda-mps-control \
	    $(patsubst doc/%,$(DESTDIR)$(DOCDIR)/%,$(USER_PAGES)) \
	    $(patsubst %,$(DESTDIR)$(UNITDIR)/%,$(UNITS)) $(patsubst %,$(DESTDIR)$(USERUNITDIR)/%,$(USER_UNITS))
	cd $(BUILD)/man3 && for page in *.3; do rm -f "$(DESTDIR)$(MANDIR)/man3/$$page"; done

# Packages, from a tree that is installed for them: see pkgconfig/README.md.
deb: all man
	rm -rf $(BUILD)/deb-tree
	$(MAKE) --no-print-directory install DESTDIR=$(abspath $(BUILD))/deb-tree PREFIX=/usr \
	    LIBDIR=/usr/lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) UNITDIR=/lib/systemd/system \
	    ZSHDIR=/usr/share/zsh/vendor-completions >$(BUILD)/deb-tree.log
	pkgconfig/deb/build $(VERSION) $(DATE) $(BUILD)/deb-tree $(BUILD)/deb

# ---- Tests and benchmarks --------------------------------------------------------------------
include bench/rules.mk test/rules.mk

-include $(shell find $(sort $(BUILD) $(CUDA_OBJ)) -type f -name '*.d' 2>/dev/null)
