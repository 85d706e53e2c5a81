# gshare: many processes, one GPU.
#
#   make            build everything under $(BUILD)
#   make demo       photographs resized by 1, 2 and 4 tenants     DEVICE=auto|cuda|soft  IMAGE=file.jpg
#   make test       the tests, against a software device or a GPU DEVICE=auto|cuda|soft
#   make bench      the benchmark tables (an NVIDIA GPU is needed for most of them)
#   make install    into $(DESTDIR)$(PREFIX)
#
# SANITIZE=address,undefined or SANITIZE=thread builds with that sanitizer; give it a BUILD of its own.

VERSION  := 0.1.0
SOVERSION := 1

BUILD    ?= build
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
LIBDIR   ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DEVICE   ?= auto
IMAGE    ?=
SANITIZE ?=
WERROR   ?= -Werror

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
LDLIBS_RT  := -lrt -ldl

COMPILE = $(CC) $(GS_CFLAGS) $(CFLAGS) $(CPPFLAGS)
LINK    = $(CC) $(GS_LDFLAGS) $(CFLAGS) $(LDFLAGS)

# ---- Rooms: every lib/ROOM/*.c becomes $(BUILD)/room/ROOM.a ----------------------------------
ROOMS := common client server worker ptx softcuda gsctl
room_objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard lib/$(1)/*.c))

# The interpreter's lane loops are written for the vectorizer.
$(BUILD)/obj/lib/softcuda/%.o: GS_CFLAGS += -O3 -fno-math-errno -ffp-contract=off

BINS := $(BUILD)/bin/gshared $(BUILD)/bin/gsctl
LIBS := $(BUILD)/lib/libgshare.so $(BUILD)/lib/libgshare.a $(BUILD)/lib/libgshare-softcuda.so

.PHONY: all libs bins clean
.DELETE_ON_ERROR:
all: $(BINS) $(LIBS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

define ROOM_RULE
$(BUILD)/room/$(1).a: $(call room_objs,$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	$(AR) rcs $$@ $$^
endef
$(foreach room,$(ROOMS),$(eval $(call ROOM_RULE,$(room))))

# ---- The client library ----------------------------------------------------------------------
$(BUILD)/lib/libgshare.so.$(SOVERSION): $(BUILD)/room/client.a $(BUILD)/room/common.a lib/client/gshare.map
	@mkdir -p $(@D)
	$(LINK) -shared -Wl,-soname,libgshare.so.$(SOVERSION) -Wl,--version-script=lib/client/gshare.map \
	    -Wl,-z,defs -o $@ -Wl,--whole-archive $(BUILD)/room/client.a -Wl,--no-whole-archive \
	    $(BUILD)/room/common.a $(LDLIBS_RT)
$(BUILD)/lib/libgshare.so: $(BUILD)/lib/libgshare.so.$(SOVERSION)
	ln -sf $(<F) $@
# One relocatable object whose hidden symbols are made local, so that the archive too exports gs_* only.
$(BUILD)/lib/libgshare.a: $(BUILD)/room/client.a $(BUILD)/room/common.a
	@mkdir -p $(@D) $(BUILD)/obj
	$(LD) -r -o $(BUILD)/obj/libgshare.o --whole-archive $(BUILD)/room/client.a --no-whole-archive $(BUILD)/room/common.a
	objcopy --localize-hidden $(BUILD)/obj/libgshare.o
	@rm -f $@
	$(AR) rcs $@ $(BUILD)/obj/libgshare.o

# ---- The software CUDA device: a driver library ----------------------------------------------
$(BUILD)/lib/libgshare-softcuda.so: $(BUILD)/room/softcuda.a $(BUILD)/room/ptx.a $(BUILD)/room/common.a
	@mkdir -p $(@D)
	$(LINK) -shared -Wl,-soname,libgshare-softcuda.so -Wl,-z,defs -o $@ \
	    -Wl,--whole-archive $(BUILD)/room/softcuda.a -Wl,--no-whole-archive \
	    $(BUILD)/room/ptx.a $(BUILD)/room/common.a -llz4 -lzstd -lm $(LDLIBS_RT)

# ---- Programs --------------------------------------------------------------------------------
$(BUILD)/bin/gshared: $(BUILD)/room/server.a $(BUILD)/room/worker.a $(BUILD)/room/common.a
	@mkdir -p $(@D)
	$(LINK) -o $@ -Wl,--start-group $^ -Wl,--end-group $(LDLIBS_RT)
$(BUILD)/bin/gsctl: $(BUILD)/room/gsctl.a $(BUILD)/room/common.a
	@mkdir -p $(@D)
	$(LINK) -o $@ $^ $(LDLIBS_RT)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
