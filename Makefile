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

COMPILE = $(CC) $(GS_CFLAGS) $(CFLAGS) $(ROOM_CFLAGS) $(CPPFLAGS)
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

# ---- Rooms -----------------------------------------------------------------------------------
# A room is a component: a folder of lib/. All .c files below lib/ROOM become the archive $(BUILD)/room/ROOM.a,
# from which the sections below link libraries and programs.
ROOMS := common client cudart cublas server worker ptx softcuda gsctl
room_objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(shell find lib/$(1) -name '*.c')))

# The interpreter's loops over lanes are written for the vectorizer. A loop that clang cannot vectorize (because
# of a division, say) is no error.
$(BUILD)/obj/lib/softcuda/%.o: ROOM_CFLAGS := -O3 -fno-math-errno -ffp-contract=off -Wno-pass-failed
# Data races between the threads of a guest's kernels are the guest's own: no thread sanitizer in the interpreter,
# whose state belongs to one turn.
ifneq ($(findstring thread,$(SANITIZE)),)
$(BUILD)/obj/lib/softcuda/interp/%.o: ROOM_CFLAGS := -O3 -fno-math-errno -ffp-contract=off -Wno-pass-failed -fno-sanitize=thread
endif

# The prototypes of the public functions of the CUDA runtime and of cuBLAS are in the toolkit; test_abi compares
# them with the definitions here.
$(BUILD)/obj/lib/cudart/api/%.o $(BUILD)/obj/cudart12/cudart/api/%.o: ROOM_CFLAGS := -Wno-missing-prototypes
$(BUILD)/obj/lib/cublas/api/%.o $(BUILD)/obj/cudart12/cublas/api/%.o: ROOM_CFLAGS := -Wno-missing-prototypes
$(BUILD)/obj/%/cudart/api/unsupported.o $(BUILD)/obj/%/cublas/api/unsupported.o: ROOM_CFLAGS := -Wno-missing-prototypes -Wno-strict-prototypes

BINS := $(BUILD)/bin/gshared $(BUILD)/bin/gsctl $(BUILD)/bin/gshare-run
LIBS := $(BUILD)/lib/libgshare.so $(BUILD)/lib/libgshare.a $(BUILD)/lib/libgshare-softcuda.so $(BUILD)/lib/libgshare_cudart.so \
        $(BUILD)/lib/libgshare_cudart12.so $(BUILD)/lib/gshare/libcudart.so.13 $(BUILD)/lib/gshare/libcudart.so.12 \
        $(BUILD)/lib/libgshare_cublas.so $(BUILD)/lib/libgshare_cublas12.so \
        $(BUILD)/lib/gshare/libcublas.so.13 $(BUILD)/lib/gshare/libcublas.so.12 \
        $(BUILD)/lib/gshare/libcublasLt.so.13 $(BUILD)/lib/gshare/libcublasLt.so.12

.PHONY: all examples demo test test-random test-cudart-native test-cublas-native test-slurm test-systemd test-container test-mpi test-foreign chaos kill-steps tests fuzz bench bench-cudart bench-cublas fence-cost fence-assemble ptx install uninstall man deb help format-check clean
.DELETE_ON_ERROR:
all: $(BINS) $(LIBS)
help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

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

define ROOM_RULE
$(BUILD)/room/$(1).a: $(call room_objs,$(1))
	$$(archive)
endef
$(foreach room,$(ROOMS),$(eval $(call ROOM_RULE,$(room))))

# ---- The client library ----------------------------------------------------------------------
$(BUILD)/lib/libgshare.so.$(SOVERSION): $(BUILD)/room/client.a $(BUILD)/room/common.a lib/client/gshare.map
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,libgshare.so.$(SOVERSION) -Wl,--version-script=lib/client/gshare.map \
	    $(NO_UNDEFINED) -o $@ -Wl,--whole-archive $(BUILD)/room/client.a -Wl,--no-whole-archive \
	    $(BUILD)/room/common.a $(LDLIBS_RT)
$(BUILD)/lib/libgshare.so: $(BUILD)/lib/libgshare.so.$(SOVERSION)
	$(Q)ln -sf $(<F) $@
# One relocatable object whose hidden symbols are made local, so that the archive only exports gs_*, too.
$(BUILD)/lib/libgshare.a: $(BUILD)/room/client.a $(BUILD)/room/common.a
	@mkdir -p $(@D) $(BUILD)/obj
	$(Q)$(LD) -r -o $(BUILD)/obj/libgshare.o --whole-archive $(BUILD)/room/client.a --no-whole-archive $(BUILD)/room/common.a
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
$(BUILD)/room/cudart12.a: $(CUDART12_OBJS)
	$(archive)
# CUDART_RULES,version,suffix of the library's and the room's name
define CUDART_RULES
$(BUILD)/obj/lib/cudart/cudart$(1).map: lib/cudart/functions.def
	@mkdir -p $$(@D)
	$(Q)(echo 'libcudart.so.$(1) { global:' && sed -nE 's/^(UN)?SUPPORTED(_$(1))?\((.*)\)$$$$/\3;/p' $$< && echo 'local: *; };' && \
	    echo 'GSHARE_CUDART_1 { global: gs_cuda_*; };') >$$@
$(BUILD)/lib/libgshare_cudart$(2).so.$(SOVERSION): $(BUILD)/room/cudart$(2).a $(BUILD)/obj/lib/cudart/cudart$(1).map $(BUILD)/lib/libgshare.so
	$$(call step,LINK,$$@)
	$(Q)$$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,$$(@F) -Wl,--version-script=$(BUILD)/obj/lib/cudart/cudart$(1).map \
	    $(NO_UNDEFINED) -o $$@ -Wl,--whole-archive $(BUILD)/room/cudart$(2).a -Wl,--no-whole-archive \
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
$(BUILD)/room/cublas12.a: $(CUBLAS12_OBJS)
	$(archive)
# One library has the symbols of both cuBLAS and cuBLASLt, with the versions that they have in NVIDIA's libraries.
CUBLAS_NAMES = sed -nE 's/^(UN)?SUPPORTED(_$(1))?\((.*)\)$$/\3;/p' $(2)
# CUBLAS_RULES,version,suffix of the library's and the room's name
define CUBLAS_RULES
$(BUILD)/obj/lib/cublas/cublas$(1).map: lib/cublas/functions.def lib/cublas/functions_lt.def
	@mkdir -p $$(@D)
	$(Q)(echo 'libcublas.so.$(1) { global:' && $$(call CUBLAS_NAMES,$(1),lib/cublas/functions.def) && echo '};' && \
	    echo 'libcublasLt.so.$(1) { global:' && $$(call CUBLAS_NAMES,$(1),lib/cublas/functions_lt.def) && echo 'local: *; };') >$$@
$(BUILD)/lib/libgshare_cublas$(2).so.$(SOVERSION): $(BUILD)/room/cublas$(2).a $(BUILD)/obj/lib/cublas/cublas$(1).map $(BUILD)/lib/libgshare_cudart$(2).so
	$$(call step,LINK,$$@)
	$(Q)$$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,$$(@F) -Wl,--version-script=$(BUILD)/obj/lib/cublas/cublas$(1).map \
	    $(NO_UNDEFINED) -o $$@ -Wl,--whole-archive $(BUILD)/room/cublas$(2).a -Wl,--no-whole-archive \
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
$(BUILD)/lib/libgshare-softcuda.so: $(BUILD)/room/softcuda.a $(BUILD)/room/ptx.a $(BUILD)/room/common.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -Wl,-soname,libgshare-softcuda.so $(NO_UNDEFINED) -o $@ \
	    -Wl,--whole-archive $(BUILD)/room/softcuda.a -Wl,--no-whole-archive \
	    $(BUILD)/room/ptx.a $(BUILD)/room/common.a -lm $(LDLIBS_RT)

# ---- Programs --------------------------------------------------------------------------------
$(BUILD)/bin/gshared: $(BUILD)/obj/lib/gshared/main.o $(BUILD)/room/server.a $(BUILD)/room/worker.a $(BUILD)/room/ptx.a $(BUILD)/room/common.a
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ -Wl,--start-group $^ -Wl,--end-group $(LDLIBS_RT)
$(BUILD)/bin/gsctl: $(BUILD)/room/gsctl.a $(BUILD)/room/common.a
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

# ---- Tests -----------------------------------------------------------------------------------
# test/unit/test_ROOM_*.c     cmocka; linked with every room, its own first
# test/e2e/test_*.c, .cpp     linked with libgshare.so and test/harness
# test/conformance/test_*.c   a driver library and nothing else, as in
# test/cudart/programs/*.cu   CUDA programs, tenants by libgshare_cudart: test_programs runs them
# test/cublas/programs/*.cu   the same for libgshare_cublas: test_cublas
# test/python/test_*.py       Python programs with the package in lib/python
# test/cmake                  a CMake project that finds an installation
# test/corpus, test/instructions: kernels, one instruction each, against what is known to be right
# The other .c files in these folders are linked into each program of the same folder.
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
BENCH_TESTS := $(patsubst %.c,$(BUILD)/bench/%,$(notdir $(wildcard bench/test/test_*.c)))
CORPUS_TESTS := $(BUILD)/test/corpus/test_corpus $(BUILD)/test/instructions/test_instructions
TESTS := $(if $(filter cmocka,$(HAVE)),$(UNIT_TESTS)) $(CONFORMANCE_TESTS) $(CORPUS_TESTS) $(E2E_TESTS) $(CUDART_TESTS) $(CUBLAS_TESTS) \
         $(if $(filter cxx,$(HAVE)),$(CXX_TESTS)) $(if $(NO_PYTHON),,$(PYTHON_TESTS)) $(if $(SANITIZE),,$(CMAKE_TEST)) \
         $(BENCH_TESTS)
ROOM_ARCHIVES := $(patsubst %,$(BUILD)/room/%.a,$(ROOMS))

$(BUILD)/obj/test/%.o: GS_CFLAGS += -Itest
$(eval $(call embeds,$(BUILD)/obj/test/harness/kernels.o,PTX_FILE,test/harness/kernels.ptx))
$(BUILD)/obj/test/e2e/test_policy.o: GS_CFLAGS += -DEXAMPLE='"$(CURDIR)/examples/gshare.conf"'
$(BUILD)/obj/test/e2e/test_cooperative.o: GS_CFLAGS += -DCORPUS_PTX='"$(CURDIR)/test/corpus/ptx"'
$(BUILD)/obj/test/e2e/printed.o: GS_CFLAGS += -DPRINTING='"$(CURDIR)/test/e2e/printing"'
$(eval $(call embeds,$(BUILD)/obj/test/e2e/test_heap.o,HEAP_PTX,test/e2e/heap/heap.ptx))
$(eval $(call embeds,$(BUILD)/obj/test/e2e/test_stack.o $(BUILD)/obj/test/conformance/test_stack.o,DEEP_PTX,test/e2e/stack/deep.ptx))
.SECONDARY: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard test/*/*.c)) $(CXX_TESTS:$(BUILD)/%=$(BUILD)/obj/%.o)

$(BUILD)/test/unit/test_%: $(BUILD)/obj/test/unit/test_%.o $(call test_helpers,unit) $(ROOM_ARCHIVES)
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
                          $(BUILD)/room/common.a $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    $(E2E_LIBS) $(call USE_LIBGSHARE,../../lib) -lm $(LDLIBS_RT)

$(BUILD)/test/e2e/test_chaos: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard test/e2e/chaos/*.c)) $(FORMS_OF_INSTRUCTIONS)

# This program writes into a session's journal, as a worker does that is lost half way.
$(BUILD)/test/e2e/test_takeover: $(BUILD)/room/worker.a

$(CXX_TESTS): private LINK = $(LINK_CXX)

$(BUILD)/test/python/test_%: test/python/test_%.py Makefile | $(BUILD)/lib/libgshare.so
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexport CC="%s" LD_LIBRARY_PATH=%s PYTHONPATH=%s PYTHONDONTWRITEBYTECODE=1\nexec %s %s "$$@"\n' \
	    '$(CC)' $(abspath $(BUILD)/lib) $(CURDIR)/lib/python $(PYTHON) $(abspath $<) >$@ && chmod 755 $@

# CUDA programs that run on libgshare_cudart. Each is compiled to one object, which is linked with that library
# and, for `make test-cudart-native` on a GPU, with NVIDIA's. test_programs runs each as a test of its name.
CUDART_PROGRAMS := $(basename $(notdir $(wildcard test/cudart/programs/*.cu)))
CUDART_NATIVE := $(addprefix $(BUILD)/test/cudart/native/,$(filter-out own_%,$(CUDART_PROGRAMS)))
CUDART_TOOLKIT := $(firstword $(wildcard $(if $(NVCC),$(abspath $(dir $(NVCC))/../include/cuda_runtime_api.h)) /usr/local/cuda/include/cuda_runtime_api.h))
comma := ,
# Builds with other compilers or sanitizers can share these objects: CUDA_OBJ names their folder.
CUDA_OBJ ?= $(BUILD)/obj
NVCC_TEST = $(NVCC) -std=c++17 -O1 -Iinclude -MMD -MP -gencode arch=$(TEST_ARCH),code=$(TEST_ARCH) -Xcompiler -fPIC
TEST_ARCH = compute_80
$(CUDA_OBJ)/test/cudart/programs/bulk_%.o $(CUDA_OBJ)/test/cudart/programs/dependent_%.o: TEST_ARCH = compute_90
$(CUDA_OBJ)/test/cudart/programs/cluster_%.o $(CUDA_OBJ)/test/cudart/programs/own_cluster_%.o: TEST_ARCH = compute_90
$(CUDA_OBJ)/test/cudart/programs/tensor_%.o: TEST_ARCH = compute_90
$(CUDA_OBJ)/test/cudart/programs/wgmma_%.o: TEST_ARCH = compute_90a
$(CUDA_OBJ)/test/cudart/programs/tensor_tiles_are_copied_to_several_blocks.o: TEST_ARCH = compute_90a
NVCC_LINK = $(NVCC) $(foreach s,$(subst $(comma), ,$(SANITIZE)),-ccbin $(CXX) -Xcompiler -fsanitize=$(s))
$(CUDA_OBJ)/test/cudart/programs/ptds_%.o: NVCC_TEST += --default-stream per-thread
$(CUDA_OBJ)/test/cudart/programs/debug_%.o: NVCC_TEST += -G
$(CUDA_OBJ)/test/cudart/programs/%.o: test/cudart/programs/%.cu
	$(call step,NVCC,$<)
	$(Q)$(NVCC_TEST) -c -o $@ $<
$(BUILD)/test/cudart/programs/%: $(CUDA_OBJ)/test/cudart/programs/%.o $(BUILD)/lib/libgshare_cudart.so
	@mkdir -p $(@D)
	$(Q)$(NVCC_LINK) -cudart none -o $@ $< -L$(BUILD)/lib -lgshare_cudart -lgshare -Xlinker -rpath='$$ORIGIN/../../../lib'
$(BUILD)/test/cudart/native/%: $(CUDA_OBJ)/test/cudart/programs/%.o
	@mkdir -p $(@D)
	$(Q)$(NVCC) -cudart shared -o $@ $<
# Programs separate_* consist of two files, which are compiled separately and joined by a device link.
SEPARATE := $(filter separate_%,$(CUDART_PROGRAMS))
NVCC_ARCHES := -gencode arch=compute_80,code=[compute_80,sm_80] -gencode arch=compute_90,code=sm_90
NVCC_SEPARATE = $(NVCC) -std=c++17 -O1 -Iinclude -MMD -MP $(NVCC_ARCHES) -rdc=true -Xcompiler -fPIC
$(CUDA_OBJ)/test/cudart/programs/separate_%.o: test/cudart/programs/separate_%.cu
	$(call step,NVCC,$<)
	$(Q)$(NVCC_SEPARATE) -c -o $@ $<
$(CUDA_OBJ)/test/cudart/separate/%.o: test/cudart/separate/%.cu
	$(call step,NVCC,$<)
	$(Q)$(NVCC_SEPARATE) -c -o $@ $<
$(CUDA_OBJ)/test/cudart/separate/%.link.o: $(CUDA_OBJ)/test/cudart/programs/%.o $(CUDA_OBJ)/test/cudart/separate/%.o
	$(Q)$(NVCC) $(NVCC_ARCHES) -Xcompiler -fPIC -dlink -o $@ $^ -lcudadevrt
$(SEPARATE:%=$(BUILD)/test/cudart/programs/%): $(BUILD)/test/cudart/programs/%: $(CUDA_OBJ)/test/cudart/programs/%.o \
        $(CUDA_OBJ)/test/cudart/separate/%.o $(CUDA_OBJ)/test/cudart/separate/%.link.o $(BUILD)/lib/libgshare_cudart.so
	@mkdir -p $(@D)
	$(Q)$(NVCC_LINK) -cudart none -o $@ $(filter %.o,$^) -L$(BUILD)/lib -lgshare_cudart -lgshare -Xlinker -rpath='$$ORIGIN/../../../lib'
$(SEPARATE:%=$(BUILD)/test/cudart/native/%): $(BUILD)/test/cudart/native/%: $(CUDA_OBJ)/test/cudart/programs/%.o \
        $(CUDA_OBJ)/test/cudart/separate/%.o $(CUDA_OBJ)/test/cudart/separate/%.link.o
	@mkdir -p $(@D)
	$(Q)$(NVCC) -cudart shared -nodlink -o $@ $^
.SECONDARY: $(CUDART_PROGRAMS:%=$(CUDA_OBJ)/test/cudart/programs/%.o) $(foreach s,$(SEPARATE),$(CUDA_OBJ)/test/cudart/separate/$(s).o $(CUDA_OBJ)/test/cudart/separate/$(s).link.o)
$(BUILD)/obj/test/cudart/programs.inc: $(wildcard test/cudart/programs/*.cu) test/cudart/programs
	@mkdir -p $(@D)
	$(Q)printf 'PROGRAM(%s)\n' $(sort $(CUDART_PROGRAMS)) >$@
$(BUILD)/obj/test/cudart/test_programs.o: $(BUILD)/obj/test/cudart/programs.inc
$(BUILD)/obj/test/cudart/test_programs.o: GS_CFLAGS += -I$(BUILD)/obj/test/cudart
$(BUILD)/test/cudart/test_programs: $(BUILD)/obj/test/cudart/test_programs.o $(HARNESS) $(BUILD)/room/common.a $(BUILD)/lib/libgshare.so \
        $(if $(NVCC),$(CUDART_PROGRAMS:%=$(BUILD)/test/cudart/programs/%) $(if $(SANITIZE),,$(BUILD)/test/cudart/native/symbols_are_copied)) \
        $(if $(SANITIZE),,$(BUILD)/test/cudart/runtime12 $(BUILD)/test/cudart/rpath/program)
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(call USE_LIBGSHARE,../../lib) -lm $(LDLIBS_RT)
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
$(BUILD)/obj/test/cudart/corpus.inc: $(wildcard test/corpus/*.cu) test/corpus
	@mkdir -p $(@D)
	$(Q)printf 'CASE(%s)\n' $(sort $(CUDART_CORPUS)) >$@
$(BUILD)/obj/test/cudart/test_corpus.o: $(BUILD)/obj/test/cudart/corpus.inc
$(BUILD)/obj/test/cudart/test_corpus.o: GS_CFLAGS += -I$(BUILD)/obj/test/cudart
$(BUILD)/test/cudart/test_corpus: $(BUILD)/obj/test/cudart/test_corpus.o $(HARNESS) $(BUILD)/room/common.a $(BUILD)/lib/libgshare.so \
        $(if $(NVCC),$(BUILD)/test/cudart/corpus/run_case $(CUDART_CORPUS:%=$(BUILD)/test/cudart/corpus/%.so))
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(call USE_LIBGSHARE,../../lib) -lm $(LDLIBS_RT)
$(BUILD)/test/cudart/runtime12: $(BUILD)/obj/test/cudart/runtime12.o
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< -ldl
# The same program with an RPATH that leads to another runtime, an empty one.
$(BUILD)/test/cudart/rpath/program: $(BUILD)/obj/test/cudart/runtime12.o
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,libcudart.so.13 -o $(@D)/libcudart.so.13 -x c /dev/null
	$(Q)$(LINK) -o $@ $< -ldl -Wl,--no-as-needed,--disable-new-dtags,-rpath='$$ORIGIN' $(@D)/libcudart.so.13
# The library compiled against the toolkits' prototypes, as a check: its objects are not linked. CUDART_TOOLKIT12
# is the cuda_runtime_api.h of version 12.9.
CUDART_TOOLKIT12 ?= $(firstword $(wildcard /usr/local/cuda-12.9/include/cuda_runtime_api.h))
CUDART_CHECKED := $(filter-out %/unsupported.c,$(wildcard lib/cudart/*/*.c)) test/cudart/abi_facts.c
CUDART_TOOLKIT_OBJS := $(if $(CUDART_TOOLKIT),$(CUDART_CHECKED:%.c=$(BUILD)/obj/toolkit/%.o)) \
    $(if $(CUDART_TOOLKIT12),$(CUDART_CHECKED:%.c=$(BUILD)/obj/toolkit12/%.o))
COMPILE_TOOLKIT = $(COMPILE) -Wno-missing-prototypes -Wno-strict-prototypes -Wno-deprecated-declarations -DGS_CUDART_TOOLKIT
$(BUILD)/obj/toolkit/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE_TOOLKIT) -isystem $(dir $(CUDART_TOOLKIT)) -c -o $@ $<
$(BUILD)/obj/toolkit12/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE_TOOLKIT) -DGS_CUDART_12 -isystem $(dir $(CUDART_TOOLKIT12)) -c -o $@ $<
$(BUILD)/obj/own12/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itest -DGS_CUDART_12 -c -o $@ $<
$(BUILD)/obj/test/cudart/test_abi.o: GS_CFLAGS += $(if $(CUDART_TOOLKIT),-DHAVE_TOOLKIT) $(if $(CUDART_TOOLKIT12),-DHAVE_TOOLKIT12)
CUDART_FACTS := $(BUILD)/obj/test/cudart/abi_facts.o $(if $(CUDART_TOOLKIT),$(BUILD)/obj/toolkit/test/cudart/abi_facts.o) \
    $(if $(CUDART_TOOLKIT12),$(BUILD)/obj/own12/test/cudart/abi_facts.o $(BUILD)/obj/toolkit12/test/cudart/abi_facts.o)
$(BUILD)/test/cudart/test_abi: $(BUILD)/obj/test/cudart/test_abi.o $(CUDART_FACTS) $(CUDART_TOOLKIT_OBJS)
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(CUDART_FACTS)
# NVIDIA's own libraries, if they are beside those headers: test_names compares their symbols.
CUDART_LIBRARY := $(if $(CUDART_TOOLKIT),$(firstword $(wildcard $(dir $(CUDART_TOOLKIT))../lib*/libcudart.so.13)))
CUDART_LIBRARY12 := $(if $(CUDART_TOOLKIT12),$(firstword $(wildcard $(dir $(CUDART_TOOLKIT12))../lib*/libcudart.so.12)))
$(BUILD)/obj/test/cudart/test_names.o: GS_CFLAGS += -DNVIDIA_13='"$(CUDART_LIBRARY)"' -DNVIDIA_12='"$(CUDART_LIBRARY12)"'
$(BUILD)/test/cudart/test_names: $(BUILD)/obj/test/cudart/test_names.o $(BUILD)/lib/libgshare_cudart.so $(BUILD)/lib/libgshare_cudart12.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $< -ldl
test-cudart-native: $(CUDART_NATIVE)
	@test/cudart/native $(BUILD)/test/cudart/native

# The same for cuBLAS: programs, native programs, prototypes.
CUBLAS_PROGRAMS := $(basename $(notdir $(wildcard test/cublas/programs/*.cu)))
CUBLAS_NATIVE := $(addprefix $(BUILD)/test/cublas/native/,$(filter-out own_%,$(CUBLAS_PROGRAMS)))
CUBLAS_TOOLKIT := $(wildcard $(dir $(CUDART_TOOLKIT))cublas_api.h)
CUBLAS_TOOLKIT12 := $(if $(CUDART_TOOLKIT12),$(wildcard $(dir $(CUDART_TOOLKIT12))cublas_api.h))
$(CUDA_OBJ)/test/cublas/programs/%.o: test/cublas/programs/%.cu
	$(call step,NVCC,$<)
	$(Q)$(NVCC_TEST) -Itest -c -o $@ $<
$(BUILD)/test/cublas/programs/%: $(CUDA_OBJ)/test/cublas/programs/%.o $(BUILD)/lib/libgshare_cublas.so
	@mkdir -p $(@D)
	$(Q)$(NVCC_LINK) -cudart none -o $@ $< -L$(BUILD)/lib -lgshare_cublas -lgshare_cudart -lgshare -Xlinker -rpath='$$ORIGIN/../../../lib'
$(BUILD)/test/cublas/native/%: $(CUDA_OBJ)/test/cublas/programs/%.o
	@mkdir -p $(@D)
	$(Q)$(NVCC) -cudart shared -o $@ $< -lcublas -lcublasLt
.SECONDARY: $(CUBLAS_PROGRAMS:%=$(CUDA_OBJ)/test/cublas/programs/%.o)
$(BUILD)/obj/test/cublas/programs.inc: $(wildcard test/cublas/programs/*.cu) test/cublas/programs
	@mkdir -p $(@D)
	$(Q)printf 'PROGRAM(%s)\n' $(sort $(CUBLAS_PROGRAMS)) >$@
$(BUILD)/obj/test/cublas/test_cublas.o: $(BUILD)/obj/test/cublas/programs.inc
$(BUILD)/obj/test/cublas/test_cublas.o: GS_CFLAGS += -I$(BUILD)/obj/test/cublas
$(BUILD)/test/cublas/test_cublas: $(BUILD)/obj/test/cublas/test_cublas.o $(HARNESS) $(BUILD)/room/common.a $(BUILD)/lib/libgshare.so \
        $(if $(CUBLAS_TOOLKIT),$(CUBLAS_PROGRAMS:%=$(BUILD)/test/cublas/programs/%)) \
        $(if $(SANITIZE),,$(BUILD)/test/cublas/blas12 $(if $(wildcard $(dir $(CUBLAS_TOOLKIT))../lib64/libcublas.so),$(BUILD)/test/cublas/native/gemm_of_all_transposes))
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(call USE_LIBGSHARE,../../lib) -lm $(LDLIBS_RT)
$(BUILD)/test/cublas/blas12: $(BUILD)/obj/test/cublas/blas12.o
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< -ldl
CUBLAS_CHECKED := $(filter-out %/unsupported.c %/kernels.c,$(wildcard lib/cublas/*/*.c)) test/cublas/abi_facts.c
CUBLAS_TOOLKIT_OBJS := $(if $(CUBLAS_TOOLKIT),$(CUBLAS_CHECKED:%.c=$(BUILD)/obj/toolkit/%.o)) \
    $(if $(CUBLAS_TOOLKIT12),$(CUBLAS_CHECKED:%.c=$(BUILD)/obj/toolkit12/%.o))
$(BUILD)/obj/toolkit/test/%.o $(BUILD)/obj/toolkit12/test/%.o: GS_CFLAGS += -Itest
$(BUILD)/obj/test/cublas/test_abi.o: test/cudart/test_abi.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<
$(BUILD)/obj/test/cublas/test_abi.o: GS_CFLAGS += $(if $(CUBLAS_TOOLKIT),-DHAVE_TOOLKIT) $(if $(CUBLAS_TOOLKIT12),-DHAVE_TOOLKIT12)
CUBLAS_FACTS := $(BUILD)/obj/test/cublas/abi_facts.o $(if $(CUBLAS_TOOLKIT),$(BUILD)/obj/toolkit/test/cublas/abi_facts.o) \
    $(if $(CUBLAS_TOOLKIT12),$(BUILD)/obj/own12/test/cublas/abi_facts.o $(BUILD)/obj/toolkit12/test/cublas/abi_facts.o)
$(BUILD)/test/cublas/test_abi: $(BUILD)/obj/test/cublas/test_abi.o $(CUBLAS_FACTS) $(CUBLAS_TOOLKIT_OBJS)
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $< $(CUBLAS_FACTS)
test-cublas-native: $(CUBLAS_NATIVE)
	@test/cudart/native $(BUILD)/test/cublas/native test/cublas/programs

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

$(BUILD)/test/conformance/test_%: $(BUILD)/obj/test/conformance/test_%.o $(call test_helpers,conformance)
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -ldl -lm

# These programs test what a pass adds to kernels.
$(BUILD)/test/conformance/test_completion $(BUILD)/test/conformance/test_dependents: $(BUILD)/room/ptx.a $(BUILD)/room/common.a

# A case of the corpus is one .cu file, whose host half the C compiler compiles.
CORPUS_CASES := $(patsubst %.cu,$(BUILD)/obj/%.o,$(wildcard test/corpus/*.cu))
$(CORPUS_CASES): $(BUILD)/obj/%.o: %.cu
	$(call step,CC,$<)
	$(Q)$(COMPILE) -ffp-contract=off -x c -c -o $@ $<
$(BUILD)/obj/test/corpus/test_corpus.o: GS_CFLAGS += -DCORPUS_PTX='"$(CURDIR)/test/corpus/ptx"'
$(BUILD)/obj/test/instructions/test_instructions.o: GS_CFLAGS += -DINSTRUCTIONS='"$(CURDIR)/test/instructions"'
$(CORPUS_TESTS): $(BUILD)/%: $(BUILD)/obj/%.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -ldl -lm
$(BUILD)/test/corpus/test_corpus: $(CORPUS_CASES) $(BUILD)/obj/test/corpus/expect.o $(BUILD)/obj/test/corpus/completing.o $(BUILD)/obj/test/corpus/fencing.o $(BUILD)/room/ptx.a $(BUILD)/room/common.a
$(BUILD)/test/instructions/test_instructions: $(call test_helpers,instructions) $(BUILD)/obj/test/corpus/fencing.o $(BUILD)/room/ptx.a $(BUILD)/room/common.a

FROM ?= 1
TO   ?= 50
test-random: all $(BUILD)/test/corpus/test_corpus
	@DEVICE=$(DEVICE) CC="$(CC)" SANITIZE=$(SANITIZE) test/corpus/try_random $(BUILD) $(FROM) $(TO)

# Kernels that were not written for gshare: minutes of nvcc.
FOREIGN := $(basename $(notdir $(wildcard test/foreign/*.cu)))
$(CUDA_OBJ)/test/foreign/%.o: test/foreign/%.cu
	$(call step,NVCC,$<)
	$(Q)$(NVCC_TEST) -keep -keep-dir $(@D) -c -o $@ $<
$(BUILD)/test/foreign/%: $(CUDA_OBJ)/test/foreign/%.o $(BUILD)/lib/libgshare_cudart.so
	@mkdir -p $(@D)
	$(Q)$(NVCC_LINK) -cudart none -o $@ $< -L$(BUILD)/lib -lgshare_cudart -lgshare -Xlinker -rpath='$$ORIGIN/../../lib'
.SECONDARY: $(FOREIGN:%=$(CUDA_OBJ)/test/foreign/%.o)
test-foreign: all $(BUILD)/test/ptx/fence $(if $(NVCC),$(FOREIGN:%=$(BUILD)/test/foreign/%))
	@test/foreign/run $(BUILD) || [ $$? = 77 ]

# Checks that ptxas accepts the fenced text of every module in the tree.
$(BUILD)/test/ptx/fence: $(BUILD)/obj/test/ptx/fence.o $(BUILD)/room/ptx.a $(BUILD)/room/common.a
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

test-slurm: all examples
	@test/slurm $(BUILD)
test-systemd: deb
	@test/systemd $(BUILD)
test-container: all
	@test/container $(BUILD)
test-mpi: all examples
	@test/mpi $(BUILD)

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
$(BUILD)/test/fuzz/fuzz_%: $(BUILD)/obj/test/fuzz/fuzz_%.o $(FUZZ_HELPERS) $(ROOM_ARCHIVES)
	$(call step,LINK,$@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lm $(LDLIBS_RT)
fuzz: $(FUZZ_TARGETS)

# ---- Benchmark: bench/rows are the measurements ----------------------------------------------------
bench_objs := $(patsubst %.c,$(BUILD)/obj/%.o,bench/bench.c $(wildcard bench/lib/*.c bench/rows/*.c))
$(BUILD)/obj/bench/%.o: GS_CFLAGS += -Ibench
$(BUILD)/obj/bench/rows/soft.o: bench/rows/soft.ptx
$(BUILD)/obj/bench/rows/soft.o $(BUILD)/obj/bench/rows/fenceload.o: bench/rows/ordinary.ptx
$(BUILD)/obj/bench/rows/soft.o $(BUILD)/obj/bench/rows/fenceload.o: GS_CFLAGS += -DPTX_FOLDER='"$(CURDIR)/bench/rows"'
$(BUILD)/bench/measure: $(bench_objs) $(BUILD)/room/common.a $(BUILD)/lib/libgshare.so
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(call USE_LIBGSHARE,../lib) -lm $(LDLIBS_RT)
$(BENCH_TESTS): $(BUILD)/bench/test_%: $(BUILD)/obj/bench/test/test_%.o $(BUILD)/obj/bench/lib/%.o
	$(call step,LINK,$@)
	$(Q)$(LINK) -o $@ $^ -lm
# The cost of the fence, measured with the driver itself: see bench/README.md.
$(BUILD)/obj/bench/fence/measure.o: GS_CFLAGS += -Itest -DKERNELS='"$(CURDIR)/bench/fence/kernels.ptx"' \
    -DHOPPER='"$(CURDIR)/bench/fence/hopper.ptx"'
$(BUILD)/bench/fence/measure: $(BUILD)/obj/bench/fence/measure.o $(BUILD)/obj/test/corpus/fencing.o $(BUILD)/room/ptx.a $(BUILD)/room/common.a
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
bench: all $(BUILD)/bench/measure
	bench/run --build $(BUILD) --device $(DEVICE)
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

# ---- Kernels kept as PTX, made from the .cu beside them by clang, which needs no toolkit for it ------
ptx:
	$(foreach name,test/harness/kernels examples/demo/resize examples/square bench/rows/soft bench/rows/ordinary lib/ptx/rewrite/print_device lib/ptx/rewrite/heap_device test/e2e/heap/heap,$(CLANG_PTX) -o $(name).ptx $(name).cu &&) :
	$(foreach name,$(basename $(wildcard lib/cublas/kernels/*.cu)),$(CLANG_PTX_80) -o $(name).ptx $(name).cu &&) :

# ---- Install ---------------------------------------------------------------------------------
# Section 3 is made from the comments of gshare.h.
MAN_PAGES := $(wildcard doc/*.[1-8])
MAN_SECTIONS := $(sort $(patsubst .%,%,$(suffix $(MAN_PAGES))))
man: $(BUILD)/man3/gshare.3
$(BUILD)/man3/gshare.3: include/gshare.h doc/man3 Makefile
	$(call say,MAN,$(@D))
	$(Q)doc/man3 $(VERSION) $(DATE) include/gshare.h $(@D)
UNITS := $(patsubst pkgconfig/systemd/%.in,%,$(wildcard pkgconfig/systemd/*.in))
USER_UNITS := $(patsubst pkgconfig/systemd/user/%.in,%,$(wildcard pkgconfig/systemd/user/*.in))
# gshared looks for the software device in ../lib from its own folder, wherever LIBDIR is.
SOFTDIR := $(patsubst %/,%,$(dir $(BINDIR)))/lib
HEADERS := include/gshare.h include/gshare.hpp include/gshare_cuda.h
# The pages for users and operators; the others are for those who change gshare.
USER_PAGES := $(addprefix doc/,$(addsuffix .md,cublas cuda-runtime isolation json kubernetes limits metrics mps slurm softcuda trace troubleshooting))
install: all man
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(SOFTDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)
	install -m 755 $(BINS) $(DESTDIR)$(BINDIR)
	$(call RUN_SCRIPT,$(LIBDIR)/gshare) >$(DESTDIR)$(BINDIR)/gshare-run
	install -m 755 $(BUILD)/lib/libgshare.so.$(SOVERSION) $(BUILD)/lib/libgshare_cudart.so.$(SOVERSION) \
	    $(BUILD)/lib/libgshare_cudart12.so.$(SOVERSION) $(BUILD)/lib/libgshare_cublas.so.$(SOVERSION) \
	    $(BUILD)/lib/libgshare_cublas12.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)
	ln -sf libgshare_cudart.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libgshare_cudart.so
	ln -sf libgshare_cudart12.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libgshare_cudart12.so
	ln -sf libgshare_cublas.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libgshare_cublas.so
	ln -sf libgshare_cublas12.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libgshare_cublas12.so
	install -d $(DESTDIR)$(LIBDIR)/gshare
	ln -sf ../libgshare_cudart.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/gshare/libcudart.so.13
	ln -sf ../libgshare_cudart12.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/gshare/libcudart.so.12
	ln -sf ../libgshare_cublas.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/gshare/libcublas.so.13
	ln -sf ../libgshare_cublas.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/gshare/libcublasLt.so.13
	ln -sf ../libgshare_cublas12.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/gshare/libcublas.so.12
	ln -sf ../libgshare_cublas12.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/gshare/libcublasLt.so.12
	install -m 755 $(BUILD)/lib/libgshare-softcuda.so $(DESTDIR)$(SOFTDIR)
	ln -sf libgshare.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libgshare.so
	install -m 644 $(BUILD)/lib/libgshare.a $(DESTDIR)$(LIBDIR)
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)
	for name in gshare gshare-cudart gshare-cublas; do \
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
	    $(patsubst %,$(DESTDIR)$(LIBDIR)/%,libgshare.so libgshare.so.$(SOVERSION) libgshare.a pkgconfig/gshare.pc \
	        libgshare_cudart.so libgshare_cudart.so.$(SOVERSION) gshare/libcudart.so.13 pkgconfig/gshare-cudart.pc \
	        libgshare_cudart12.so libgshare_cudart12.so.$(SOVERSION) gshare/libcudart.so.12 \
	        libgshare_cublas.so libgshare_cublas.so.$(SOVERSION) gshare/libcublas.so.13 pkgconfig/gshare-cublas.pc \
	        libgshare_cublas12.so libgshare_cublas12.so.$(SOVERSION) gshare/libcublas.so.12 \
	        gshare/libcublasLt.so.13 gshare/libcublasLt.so.12 \
	        cmake/gshare/gshare-config.cmake cmake/gshare/gshare-config-version.cmake) \
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

FORMATTED = $(shell find include lib examples bench test -name '*.[ch]' -o -name '*.[ch]pp')
CLANG_FORMAT ?= clang-format
format-check:
	@echo "  CHECK formatting of $(words $(FORMATTED)) files"
	@$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)

clean:
	rm -rf $(BUILD)

-include $(shell find $(sort $(BUILD) $(CUDA_OBJ)) -type f -name '*.d' 2>/dev/null)
