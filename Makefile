# Postern. `make help` lists the targets.
#
#   make SAN=address|undefined|thread|memory   a build with that sanitizer (or
#                                              two: SAN=address,undefined)
#   make VERIFY=1                              with the checks of base/verify.h
#   make CTIME=1                               for valgrind: see base/ctime.h
#   make COUNT=1                               for callgrind: see bench/compare
#   make COVER=1                               counted by gcov: see make coverage
#   make CC=clang V=1                          another compiler; show commands
#
# Each combination has its own folder in build/, so that they never mix.

CC := gcc
SAN := none
VERIFY := 0
CTIME := 0
COUNT := 0
COVER := 0
V := 0
PREFIX := /usr/local
DESTDIR :=
.DEFAULT_GOAL := all
SHELL := /bin/bash

# --- what there is -----------------------------------------------------------
# Modules by layer (see src/README.md); each lists its sources.

PURE := base bn254 hash groth16 semaphore sphinx http gate
DAEMON := store net tor mix client daemon cmd

# For each: SRC, its sources; UNIT, tests/unit/test_NAME.c; FUZZ,
# tests/fuzz/fuzz_NAME.c with tests/fuzz/corpus/NAME.

SRC_base := cpu ip out slab span status text wipe
UNIT_base := base ip
FUZZ_base :=

SRC_bn254 := constants divsteps fp fp2 fr g1 g1_table g2 ifma_batch \
	ifma_single ifma_sum kernel kernel_adx kernel_c64 kernel_ifma \
	kernel_mpn membership msm msm_adx msm_ifma msm_one ntt ntt_ifma wnaf
UNIT_bn254 := curve field lanes msm ntt pairing quad tower_adx tower_c64 \
	tower_mpn
FUZZ_bn254 :=

SRC_hash := blake512 keccak256 poseidon poseidon_adx poseidon_c64 \
	poseidon_constants poseidon_constants52 poseidon_constants64 \
	poseidon_ifma sha256
UNIT_hash := hash poseidon
FUZZ_hash :=

SRC_groth16 := batch prove verify zkey
UNIT_groth16 := groth16 zkey
FUZZ_groth16 := zkey

SRC_semaphore := artifacts babyjub batch contract fault group identity \
	identity_file keys keys_data members minisign points proof_json \
	prove root_file sealed statement token verify vkey_json witness
UNIT_semaphore := group hostile hostile_points identity proof prove source \
	witness
FUZZ_semaphore := contract identity_file members minisign proof_json \
	root_file token vkey

SRC_sphinx := cipher header message packet replay stream suite surb wide \
	x25519 x25519_ifma1 x25519_ifma8
UNIT_sphinx := sphinx sphinx_hostile sphinx_parts sphinx_vectors x25519
FUZZ_sphinx := envelope sphinx surb

SRC_http := answer authority head lines proxy_line response
UNIT_http := answer head protocol response
FUZZ_http := answer authority head proxy_line response

SRC_gate := address audience bucket circuits epoch gate ledger lru member \
	pending proof_cache quota roots target
UNIT_gate := address epoch ledger quota screen tables target
FUZZ_gate := target

SRC_store := file journal journal_file journal_format journal_writer \
	local_store redis_link secret_file shared_place shared_script \
	shared_store shared_talk
UNIT_store := file journal journal_faults journal_format local_store \
	shared_store
FUZZ_store := journal

SRC_net := chunk conn connecting crowd dialer guests listener loop pipes \
	pool resolver sockaddr stream tls_client tunnel wheel wire
# These have sockets and share tests/unit/net_util.c.
UNIT_net := conn dialer guests listener loop pool resolver tunnel \
	tunnel_orders
FUZZ_net :=

SRC_tor := control onion_clients onion_key reply safecookie
UNIT_tor := control onion_key
FUZZ_tor := control onion_clients

SRC_mix := client counts exchange exit exit_talk inbox inlets inquiry \
	json_line key_file keyring links loops node outbox parcel path \
	random registry seen service tls
UNIT_mix := mix mix_node mix_simulation
FUZZ_mix := exchange registry

SRC_client := client door errand errand_out facts fetch hop peer purse reply \
	roster site socks5 status trouble
UNIT_client := client_parts purse socks5
FUZZ_client := facts socks5

SRC_daemon := admin buffer callers chart checkup checkup_ledger \
	checkup_reach checkup_torrc config config_check ctl ctl_commands \
	document files finding history gateway gateway_ledger gateway_make \
	gateway_reload gateway_state key_maker log membership mix_gate \
	memory metrics onion_file onion_key_file onion_service option \
	option_table policy privilege roll sandbox sandbox_calls \
	sandbox_files session status_page supervisor session_proof \
	session_request session_target tor_link well_known
UNIT_daemon := config log membership metrics policy sandbox session \
	status_page
FUZZ_daemon := config session torrc

SRC_cmd := ask artifact_check artifact_fetch artifact_find artifacts check \
	cli client_args client_ask client_child client_main client_state \
	crew ctl ctl_journal ctl_members ctl_show ctl_top daemon_args \
	describe follow_chain follow_list group group_follow https identity \
	identity_load identity_tor_key ledger member_file mint mix mix_fetch \
	mix_keygen mix_layers mix_metrics mix_node mix_peel mix_probe \
	mix_registry mix_send mix_sink passphrase prove run secrets setup \
	setup_ask setup_diff setup_probe setup_start setup_text unix_dial \
	verify
UNIT_cmd := enrol mix_commands verify_cmd
FUZZ_cmd :=

UNIT := $(foreach m,$(PURE) $(DAEMON),$(UNIT_$(m)))
FUZZ_MUTATED := head token
FUZZ := $(foreach m,$(PURE) $(DAEMON),$(FUZZ_$(m)))
# Unit tests in which several threads meet.
THREADED := journal journal_faults local_store pool prove zkey
# bench/bench_NAME.c
BENCH := gate group prove semaphore sphinx

# Debian packages: to build, to package; to demonstrate and to test besides.
DEPS_BUILD := gcc make pkg-config libevent-dev libhiredis-dev libsodium-dev \
	libgmp-dev libssl-dev libjansson-dev libinih-dev libc-ares-dev \
	libcurl4-openssl-dev libseccomp-dev
DEPS_DEB := debhelper dpkg-dev fakeroot
DEPS_DEB_TEST := $(DEPS_DEB) $(DEPS_DEMO) debootstrap lintian \
	systemd-container
DEPS_BALANCE := onionbalance
DEPS_AARCH64 := binutils debian-archive-keyring gcc-aarch64-linux-gnu \
	libc6-dev-arm64-cross qemu-user
DEPS_DEMO := python3 tor curl openssl
DEPS_TEST := $(DEPS_DEMO) bsdextrautils chromium clang clang-tidy cppcheck \
	fish git mandoc libclang-rt-14-dev libfaketime minisign nodejs npm \
	prometheus redis-server shellcheck valgrind zsh

# --- flags -------------------------------------------------------------------

LIBS := libcares libevent hiredis libsodium gmp libcrypto libssl jansson inih libseccomp
# Recursive, so that pkg-config runs only once the packages are there.
LIB_CFLAGS = $(shell pkg-config --cflags $(LIBS))
LIB_LIBS = $(shell pkg-config --libs $(LIBS)) -lm -lpthread

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wundef -Wvla \
	-Wpointer-arith -Wwrite-strings -Wcast-qual -Wcast-align -Wformat=2 \
	-Wnull-dereference -Wswitch-enum -Wconversion -Werror
HARDEN := -fstack-protector-strong -fstack-clash-protection \
	-D_FORTIFY_SOURCE=2 -fPIE
HARDEN_LD := -pie -Wl,-z,relro,-z,now,-z,noexecstack
OPT := -O2 -g
ARCH := $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1)
ifneq ($(ARCH),x86_64)
# Of kernels that other processors do not have.
UNIT := $(filter-out lanes quad tower_adx,$(UNIT))
endif
ifeq ($(ARCH),x86_64)
HARDEN += -fcf-protection=full
else ifeq ($(ARCH),aarch64)
HARDEN += -mbranch-protection=standard
endif
CLANG := $(findstring clang,$(CC))
ifeq ($(CLANG),)
WARN += -Wlogical-op -Wduplicated-cond -Wduplicated-branches \
	-Wstack-usage=16384
endif

comma := ,
empty :=
space := $(empty) $(empty)
SANS := $(filter-out none,$(subst $(comma), ,$(SAN)))
ifneq ($(filter-out address undefined thread memory,$(SANS)),)
$(error SAN=$(SAN) is not made of none, address, undefined, thread, memory)
endif
SANFLAGS := $(if $(SANS),-fsanitize=$(SAN) -fno-sanitize-recover=all \
	-fno-omit-frame-pointer)
ifneq ($(filter memory,$(SANS)),)
SANFLAGS += -fsanitize-memory-track-origins
# Assembly is what that sanitizer does not see.
UNIT := $(filter-out tower_adx,$(UNIT))
endif
ifneq ($(SAN),none)
# Sanitizers bring their own checks; fortify hides reads from them, and their
# instrumentation makes gcc warn of values and frames that are not ours.
HARDEN := -fPIE
# The lines are what their reports name.
OPT := -O1 -g1
WARN := $(filter-out -Wnull-dereference -Wstack-usage=%,$(WARN))
ifeq ($(CLANG),)
WARN += -Wno-maybe-uninitialized
else ifneq ($(filter address,$(SANS)),)
# What clang can show to stay in its object is not checked (the default of later
# ones): with the checks of undefined, the lanes' files would take minutes.
OPT += -mllvm -asan-use-stack-safety=1
endif
endif

ifeq ($(COVER),1)
# Fortify and a higher -O move lines about.
HARDEN := -fPIE
# Counts of several threads may get lost, but none that is the first.
OPT := -O1 -g -fno-inline --coverage -fprofile-update=single
HARDEN_LD += --coverage
WARN := $(filter-out -Wnull-dereference -Wstack-usage=%,$(WARN)) \
	-Wno-maybe-uninitialized
endif

CONFIG := $(if $(CLANG),clang,gcc)$(subst $(space),,$(SANS:%=-%))$(if \
	$(filter 1,$(VERIFY)),-verify)$(if $(filter 1,$(CTIME)),-ctime)$(if $(filter 1,$(COUNT)),-count)$(if $(filter 1,$(COVER)),-cover)$(if \
	$(filter-out x86_64,$(ARCH)),-$(ARCH))
B := build/$(CONFIG)
CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) \
	-Isrc -Iinclude -DVERIFY_BUILD=$(VERIFY) -MMD -MP $(LIB_CFLAGS) \
	-DSANDBOX_BUILD=$(if $(SANS),0,1) \
	$(if $(filter 1,$(COVER)),-DCOVER_FOLDER='"$(CURDIR)/$(B)"') \
	$(if $(filter 1,$(CTIME)),-DCTIME_BUILD) \
	$(if $(filter 1,$(COUNT)),-DCOUNT_BUILD)
LDFLAGS := $(HARDEN_LD) $(SANFLAGS)
# A builder who names a time wants the same bytes from any folder.
ifneq ($(SOURCE_DATE_EPOCH),)
CFLAGS += -ffile-prefix-map=$(CURDIR)=.
endif

ifeq ($(V),0)
Q := @
say = @printf '  %-6s %s\n' $(1) $(2);
else
say =
endif

# --- the program and the library ---------------------------------------------

objects = $(foreach m,$(1),$(SRC_$(m):%=$(B)/src/$(m)/%.o))
PURE_OBJ := $(call objects,$(PURE))
DAEMON_OBJ := $(call objects,$(DAEMON))

# By a rename, as the old one may be running.
publish = cmp -s $(1) $(2) || { cp $(1) $(2).new && mv $(2).new $(2); }

all: $(B)/postern $(B)/libpostern.a ## the binary and the library (default)
	@mkdir -p build
	@$(call publish,$(B)/postern,build/postern)
	@$(call publish,$(B)/libpostern.a,build/libpostern.a)

$(B)/postern: $(B)/src/main.o $(B)/libdaemon.a $(B)/libpostern.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

$(B)/libpostern.a: $(PURE_OBJ)
$(B)/libdaemon.a: $(DAEMON_OBJ)
$(B)/lib%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcsD $@ $^

$(B)/src/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

$(B)/src/%.o: src/%.S
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

# --- tests -------------------------------------------------------------------

TEST_CFLAGS = $(CFLAGS) -Itests/unit -DTESTS_DIR='"$(CURDIR)/tests"' \
	-DPOSTERN_BIN='"$(CURDIR)/$(B)/postern"'
UNIT_BIN := $(UNIT:%=$(B)/tests/test_%)
REPLAY_BIN := $(FUZZ:%=$(B)/tests/replay_%)

$(B)/tests/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(TEST_CFLAGS) -c -o $@ $<

$(B)/tests/%.o: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(TEST_CFLAGS) -c -o $@ $<

$(UNIT_BIN): $(B)/tests/test_%: $(B)/tests/test_%.o $(B)/tests/harness.o \
		$(B)/libdaemon.a $(B)/libpostern.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIB_LIBS)
$(patsubst %,$(B)/tests/test_%,$(UNIT_net) $(UNIT_tor)): $(B)/tests/net_util.o
$(B)/tests/test_resolver $(B)/tests/test_session: $(B)/tests/dns_server.o
# A whole gateway.
$(B)/tests/test_session: $(B)/tests/net_util.o $(B)/tests/world_util.o
$(B)/tests/test_tunnel $(B)/tests/test_tunnel_orders: $(B)/tests/tunnel_util.o
# A whole gate.
$(patsubst %,$(B)/tests/test_%,local_store screen shared_store): \
		$(B)/tests/gate_util.o
# A server to count in.
$(B)/tests/test_shared_store: $(B)/tests/redis_util.o $(B)/tests/net_util.o
# A disk that fails.
$(B)/tests/test_journal $(B)/tests/test_journal_faults $(B)/tests/test_local_store: $(B)/tests/disk.o
$(B)/tests/test_journal $(B)/tests/test_journal_faults: $(B)/tests/journal_util.o
# Packets of a path, and contexts of each kernel.
$(patsubst %,$(B)/tests/test_%,sphinx sphinx_hostile sphinx_vectors): \
		$(B)/tests/sphinx_util.o

$(REPLAY_BIN): $(B)/tests/replay_%: $(B)/tests/fuzz_%.o $(B)/tests/replay.o \
		$(B)/libdaemon.a $(B)/libpostern.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIB_LIBS)

# Whole sessions, with the world that the unit tests have.
FUZZ_WORLD := tests/dns_server.o tests/net_util.o tests/world_util.o
$(B)/tests/replay_session: $(FUZZ_WORLD:%=$(B)/%)

# What the memory sanitizer does not see, see tests/msan/border.c.
ifneq ($(filter memory,$(SANS)),)
BORDER := $(shell sed -n 's/^WRAP.[^,]*, \([A-Za-z0-9_]*\).*/-Wl,--wrap=\1/p' \
	tests/msan/border.c)
$(UNIT_BIN) $(REPLAY_BIN): $(B)/tests/border.o
$(UNIT_BIN) $(REPLAY_BIN): LDFLAGS += $(BORDER)
$(B)/tests/%.o: tests/msan/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(TEST_CFLAGS) -Wno-reserved-identifier -c -o $@ $<
endif

unit: $(B)/postern $(UNIT_BIN) ## unit tests of this configuration
	@tests/run $(UNIT_BIN)

fuzz-replay: $(REPLAY_BIN) ## run the committed corpus through each harness
	@tests/run $(REPLAY_BIN)

# What tests/all runs of one configuration.
programs: $(B)/postern $(UNIT_BIN) $(REPLAY_BIN)
# ... and of the pure layers alone.
PURE_BIN := $(foreach m,$(PURE),$(UNIT_$(m):%=$(B)/tests/test_%) \
	$(FUZZ_$(m):%=$(B)/tests/replay_%))
pure: $(filter $(UNIT_BIN) $(REPLAY_BIN),$(PURE_BIN))
list-pure:
	@printf '%s\n' $(filter $(UNIT_BIN) $(REPLAY_BIN),$(PURE_BIN))
threaded: $(THREADED:%=$(B)/tests/test_%)
list-programs:
	@printf '%s\n' $(UNIT_BIN) $(REPLAY_BIN)
list-threaded:
	@printf '%s\n' $(THREADED:%=$(B)/tests/test_%)

check: all $(UNIT_BIN) $(REPLAY_BIN) ## the quick tests: unit, corpus, layers, symbols
	@tests/run $(UNIT_BIN) $(REPLAY_BIN) tests/lint/layers tests/lint/symbols

test: deps-test ## install what is missing and run every test
	@tests/all

check-all: deps-test deps-deb-test deps-aarch64 ## ... in every build, and the long ones
	@tests/all --everything

# tests/ctime/ctime_NAME.c, each run under valgrind by tests/ctime/test_ctime.
CTIME_TESTS := identity prove sphinx
CTIME_BIN := $(CTIME_TESTS:%=$(B)/tests/ctime_%)

$(B)/tests/%.o: tests/ctime/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(TEST_CFLAGS) -c -o $@ $<

$(CTIME_BIN): $(B)/tests/ctime_%: $(B)/tests/ctime_%.o $(B)/tests/harness.o \
		$(B)/libpostern.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

ctime-programs: $(CTIME_BIN)
list-ctime:
	@printf '%s\n' $(CTIME_BIN)

check-ctime: ## no branch and no address depends on a secret (valgrind)
	@tests/run tests/ctime/test_ctime

check-verify: ## the quick suites with the checks of base/verify.h
	@$(MAKE) --no-print-directory unit fuzz-replay VERIFY=1
check-asan: ## ... with the address sanitizer
	@$(MAKE) --no-print-directory unit fuzz-replay SAN=address
check-ubsan: ## ... with the undefined-behaviour sanitizer
	@$(MAKE) --no-print-directory unit fuzz-replay SAN=undefined
check-tsan: ## ... with the thread sanitizer
	@$(MAKE) --no-print-directory unit fuzz-replay SAN=thread

check-balance: all ## two gateways behind one address by Onionbalance (minutes)
	@tests/lint/need $(DEPS_TEST) $(DEPS_BALANCE)
	@tests/js/install
	@tests/e2e/balance.py

# Not those of the walls, which valgrind's own calls do not pass, nor those that
# compute for minutes there.
VALGRIND_SKIP := msm prove sandbox tower_adx mix_simulation
VALGRIND_BIN := $(patsubst %,$(B)/tests/test_%,$(filter-out $(VALGRIND_SKIP),$(UNIT)))
check-valgrind: $(B)/postern $(VALGRIND_BIN) ## the unit tests under valgrind (long)
	@WITH='valgrind -q --error-exitcode=99 --leak-check=no' \
		tests/run $(VALGRIND_BIN)

check-msan: ## the pure layers' suites with the memory sanitizer
	@$(MAKE) --no-print-directory -s pure CC=clang SAN=memory
	@tests/run $$($(MAKE) --no-print-directory -s list-pure CC=clang SAN=memory)

check-aarch64: deps-aarch64 all ## cross-compiled for aarch64, the pure layers' tests under qemu
	@tests/run tests/aarch64/test_aarch64

check-deb: deps-deb-test ## the Debian package: built, installed, set up, used, upgraded, purged
	@tests/run tests/deb/test_deb tests/deb/test_machine.py

e2e: all ## the tests that cross processes, and tor
	@tests/run tests/e2e/test_*.py

deb: deps-deb ## the Debian package, in build/deb
	@conf/debian/build

# Calls that fail (tests/fault/fault.h): for programs of every build, and so
# without a sanitizer and in a place of its own.
build/tests/fault.so: tests/fault/fault.c tests/fault/fault.h
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)gcc -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -fPIC -shared \
		-o $@.$$$$ $< && mv $@.$$$$ $@

fault: build/tests/fault.so
check-faults: all ## each call that can fail fails in turn: FAULTS=N, so many of a kind (hours)
	@FAULTS=$${FAULTS:-all} tests/run tests/e2e/test_faults.py \
		tests/e2e/test_command_faults.py

dist: ## a source archive of the last commit, the same bytes each time
	@mkdir -p build
	@git archive --format=tar --prefix=postern/ HEAD | gzip -n \
		>build/postern.tar.gz

# What the whole suite reaches: units, corpus, and what crosses processes, each
# of which writes its counts as it ends. make coverage-missed FILE=net/loop
# lists the lines and branches of one file that were not reached.
coverage: deps-test ## lines and branches that the suite reaches, by file and in all
	@$(MAKE) --no-print-directory -s programs COVER=1
	@tests/js/install
	@find build/gcc-cover -name '*.gcda' -delete
	@export POSTERN_BIN=$(CURDIR)/build/gcc-cover/postern; \
	export OFFICIAL_KEYS=$(CURDIR)/build/npm/node_modules/@zk-kit/semaphore-artifacts; \
	tests/run tests/e2e/test_*.py tests/js/test_* \
		$$($(MAKE) --no-print-directory -s list-programs COVER=1) \
		tests/lint/completion tests/lint/manual && \
	tests/lint/coverage build/gcc-cover
coverage-missed:
	@tests/lint/coverage build/gcc-cover --missed $(FILE)

# What each corpus alone reaches of the readers: lines and branches by gcov.
fuzz-coverage: ## lines and branches of each reader that its corpus reaches
	@$(MAKE) --no-print-directory -s fuzz-coverage-programs COVER=1
	@tests/fuzz/coverage build/gcc-cover $(FUZZ)
fuzz-coverage-programs: $(REPLAY_BIN)

fuzz-all: $(FUZZ:%=build/fuzz/%) ## each harness for FUZZ_SECONDS, and what they executed
	@tests/fuzz/marathon $(FUZZ_SECONDS) $(FUZZ)

# One target per fuzz harness: make fuzz-NAME FUZZ_SECONDS=600. What it finds
# goes to build/fuzz/found/; make fuzz-keep-NAME adds to the committed corpus
# what reaches code that no file there reaches yet.
FUZZ_SECONDS := 60
FUZZ_CFLAGS = -std=c11 -D_GNU_SOURCE -O1 -g -fsanitize=address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer -Isrc -Iinclude \
	-Itests/unit -DVERIFY_BUILD=1 -DSANDBOX_BUILD=0 -DTESTS_DIR='"$(CURDIR)/tests"' -MMD -MP \
	$(LIB_CFLAGS)
FUZZ_LIB := build/fuzz/libdaemon.a build/fuzz/libpostern.a
build/fuzz/libpostern.a: $(PURE_OBJ:$(B)/%=build/fuzz/%)
build/fuzz/libdaemon.a: $(DAEMON_OBJ:$(B)/%=build/fuzz/%)
build/fuzz/lib%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcsD $@ $^
$(FUZZ:%=fuzz-%): fuzz-%: build/fuzz/%
	@mkdir -p build/fuzz/found/$* tests/fuzz/corpus/$*
	build/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
		-artifact_prefix=build/fuzz/found/$*- \
		build/fuzz/found/$* tests/fuzz/corpus/$*
$(FUZZ:%=fuzz-keep-%): fuzz-keep-%: build/fuzz/%
	build/fuzz/$* -merge=1 -use_counters=0 tests/fuzz/corpus/$* build/fuzz/found/$*
$(FUZZ:%=build/fuzz/%): build/fuzz/%: build/fuzz/tests/fuzz_%.o $(FUZZ_LIB)
	$(call say,FUZZ,$@)
	$(Q)clang $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) \
		$(filter %.a,$^) $(LIB_LIBS)
build/fuzz/session: $(FUZZ_WORLD:%=build/fuzz/%)
# Those with a mutator of their own (tests/fuzz/mutate.h).
$(FUZZ_MUTATED:%=build/fuzz/%): build/fuzz/%: build/fuzz/tests/mutate_%.o
build/fuzz/tests/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)clang $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<
build/fuzz/tests/%.o: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)clang $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<
build/fuzz/src/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)clang $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<
build/fuzz/src/%.o: src/%.S
	@mkdir -p $(@D)
	$(call say,AS,$@)
	$(Q)clang $(FUZZ_CFLAGS) -c -o $@ $<

# --- benchmarks --------------------------------------------------------------

BENCH_BIN := $(BENCH:%=$(B)/bench/bench_%)

$(B)/bench/%.o: bench/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(TEST_CFLAGS) -Ibench -c -o $@ $<

$(BENCH_BIN): $(B)/bench/bench_%: $(B)/bench/bench_%.o $(B)/bench/bench.o \
		$(B)/libdaemon.a $(B)/libpostern.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# mcl, if it is there: make bench MCL=FOLDER, see bench/peer_mcl.c.
ifneq ($(MCL),)
BENCH_PEERS := $(B)/bench/peer_mcl
$(B)/bench/peer_mcl.o: TEST_CFLAGS += -isystem $(MCL)/include
$(B)/bench/peer_mcl: $(B)/bench/peer_mcl.o $(B)/bench/bench.o \
		$(B)/libpostern.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(MCL)/lib/libmcl.a $(LIB_LIBS) -lstdc++
endif

$(B)/bench/traffic: $(B)/bench/traffic.o $(B)/bench/bench.o \
		$(B)/libpostern.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

bench-path: all $(B)/bench/traffic ## the gateway over loopback, beside other proxies
	@bench/path $(B)/bench/traffic

bench-programs: all $(BENCH_BIN) $(BENCH_PEERS) $(B)/bench/traffic

bench: bench-programs ## measure; tables as text, JSON and SVG in build/bench
	@bench/run $(BENCH_BIN) $(BENCH_PEERS)
	@bench/path --short $(B)/bench/traffic

bench-compare: ## count instructions beside bench/counts.json (valgrind)
	@$(MAKE) --no-print-directory -s bench-programs COUNT=1
	@bench/compare build/gcc-count/bench

bench-record: ## ... and keep them there
	@$(MAKE) --no-print-directory -s bench-programs COUNT=1
	@bench/compare build/gcc-count/bench --record

# --- load and abuse ----------------------------------------------------------
# One command each; what they measured: tests/load/README.md.

LOAD := garbage idle kill loris quota readers reload shared
$(LOAD:%=load-%): load-%: all
	@tests/load/scenarios.py $*

$(B)/tests/load_ledger: tests/load/load_ledger.c $(B)/bench/bench.o \
		$(B)/libpostern.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -Ibench $(LDFLAGS) -o $@ $(filter-out %.h,$^) \
		$(LIB_LIBS)
load-ledger: $(B)/tests/load_ledger ## 24 million members over 24 epochs
	@$<

# --- rules of the house ------------------------------------------------------

layers: ## each folder includes only what its .may_include allows
	@tests/lint/layers

symbols: $(B)/libpostern.a ## the pure layers call only what they may
	@tests/lint/symbols $(B)/libpostern.a

lint: deps-test ## cppcheck and shellcheck
	@tests/lint/static

analyze: deps-test ## clang-tidy and gcc's -fanalyzer (minutes)
	@tests/lint/analyzers

sizes: ## longest functions and files
	@tests/lint/sizes

format: ## check the layout of the source (clang-format)
	@clang-format --dry-run --Werror $(shell git ls-files '*.c' '*.h')

# --- see it work -------------------------------------------------------------

# A make of its own for the build: this one may have begun without a compiler.
demo: deps-demo ## the main job on this machine alone: private tor, gate, member, curl
	@$(MAKE) --no-print-directory all
	@tests/e2e/demo

mix-demo: deps-demo ## the mixnet on this machine alone: three nodes, an echo, a loop
	@$(MAKE) --no-print-directory all
	@tests/e2e/mix-demo

run: deps-demo ## the gateway behind this machine's own tor
	@$(MAKE) --no-print-directory all
	@conf/run-here

# --- dependencies, install ---------------------------------------------------

deps: ## install the Debian packages that the build needs
	@tests/lint/need $(DEPS_BUILD)

deps-demo:
	@tests/lint/need $(DEPS_BUILD) $(DEPS_DEMO)

deps-deb:
	@tests/lint/need $(DEPS_BUILD) $(DEPS_DEB)

deps-aarch64:
	@tests/lint/need $(DEPS_BUILD) $(DEPS_AARCH64)
# The packages that the program is compiled with, for another architecture.
list-deps-dev:
	@echo libc6-dev $(filter %-dev,$(DEPS_BUILD))

deps-deb-test:
	@tests/lint/need $(DEPS_DEB_TEST) $(DEPS_BALANCE)

deps-test: ## ... and those of the tests
	@tests/lint/need $(DEPS_BUILD) $(DEPS_TEST)

# The manual and the completion have their tables from the program.
PAGES := $(patsubst conf/man/%,build/man/%,$(wildcard conf/man/*.[1-8]))
PROGRAM_PAGES := $(filter-out %.3,$(PAGES))
COMPLETION := $(addprefix build/completion/,bash zsh fish)
$(PAGES): build/man/%: conf/man/% conf/man/fill $(B)/postern
	@mkdir -p $(@D)
	$(Q)conf/man/fill $(B)/postern $< >$@.new && mv $@.new $@
$(COMPLETION): build/completion/%: conf/completion/make $(B)/postern
	@mkdir -p $(@D)
	$(Q)conf/completion/make $(B)/postern $* >$@.new && mv $@.new $@
pages: $(PAGES) $(COMPLETION) ## the manual and the shells' completion

BIN_DIR = $(PREFIX)/bin
LIB_DIR = $(PREFIX)/lib
INCLUDE_DIR = $(PREFIX)/include
MAN_DIR = $(PREFIX)/share/man
DOC_DIR = $(PREFIX)/share/doc/postern
UNIT_DIR = $(PREFIX)/lib/systemd/system
SYSUSERS_DIR = $(PREFIX)/lib/sysusers.d
BASH_DIR = $(PREFIX)/share/bash-completion/completions
ZSH_DIR = $(PREFIX)/share/zsh/site-functions
FISH_DIR = $(PREFIX)/share/fish/vendor_completions.d
UNITS := postern.service postern.socket postern-follow@.service
EXAMPLES := conf/postern.conf conf/onionbalance.yaml conf/torrc.snippet conf/alerts.yml conf/grafana.json

# install_file MODE FROM TO: with the folder, below DESTDIR.
install_file = install -D -m $(1) $(2) $(DESTDIR)$(3)

install: all pages ## the program, its manual, units and completion to DESTDIR/PREFIX
	$(call install_file,755,build/postern,$(BIN_DIR)/postern)
	for page in $(PROGRAM_PAGES); do \
		$(call install_file,644,$$page,$(MAN_DIR)/man$${page##*.}/$${page##*/}) || exit; \
	done
	$(call install_file,644,build/completion/bash,$(BASH_DIR)/postern)
	$(call install_file,644,build/completion/zsh,$(ZSH_DIR)/_postern)
	$(call install_file,644,build/completion/fish,$(FISH_DIR)/postern.fish)
	for unit in $(UNITS); do \
		$(call install_file,644,conf/$$unit,$(UNIT_DIR)/$$unit) && \
		sed -i 's,/usr/local/bin,$(BIN_DIR),g' $(DESTDIR)$(UNIT_DIR)/$$unit || exit; \
	done
	$(call install_file,644,conf/postern.sysusers,$(SYSUSERS_DIR)/postern.conf)
	for file in $(EXAMPLES); do \
		$(call install_file,644,$$file,$(DOC_DIR)/$${file##*/}) || exit; \
	done

uninstall: ## take out what install and install-lib put there
	for page in $(PAGES); do \
		rm -f $(DESTDIR)$(MAN_DIR)/man$${page##*.}/$${page##*/}; \
	done
	rm -f $(addprefix $(DESTDIR),$(BIN_DIR)/postern $(BASH_DIR)/postern \
		$(ZSH_DIR)/_postern $(FISH_DIR)/postern.fish \
		$(UNITS:%=$(UNIT_DIR)/%) $(SYSUSERS_DIR)/postern.conf \
		$(LIB_FILES:%=$(LIB_DIR)/%) $(LIB_DIR)/pkgconfig/libpostern.pc)
	rm -rf $(DESTDIR)$(DOC_DIR) $(DESTDIR)$(INCLUDE_DIR)/postern

# The shared library: the same sources, compiled to stand anywhere, with no
# symbol to be seen but those of include/postern (conf/libpostern.map).
SONAME := libpostern.so.0
VERSION = $(shell sed -n 's/.*POSTERN_VERSION "\(.*\)".*/\1/p' src/base/version.h)
LIB_FILES := libpostern.a $(SONAME) libpostern.so
# What the pure layers themselves need.
PURE_LIBS := libsodium gmp libcrypto jansson
PIC_OBJ := $(PURE_OBJ:$(B)/src/%=$(B)/pic/%)
$(PIC_OBJ): HARDEN := $(HARDEN:-fPIE=-fPIC)
$(B)/pic/%.o: src/%.c
	@mkdir -p $(@D)
	$(call say,PIC,$<)
	$(Q)$(CC) $(CFLAGS) -fvisibility=default -c -o $@ $<
$(B)/$(SONAME): $(PIC_OBJ) conf/libpostern.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs,-z,relro,-z,now \
		-Wl,--version-script=conf/libpostern.map $(SANFLAGS) -o $@ \
		$(PIC_OBJ) $(shell pkg-config --libs $(PURE_LIBS)) -lm
shared: $(B)/$(SONAME) $(B)/libpostern.a
	@mkdir -p build
	@$(call publish,$(B)/$(SONAME),build/$(SONAME))

install-lib: all shared build/man/libpostern.3 ## the library: headers, static, shared, pkg-config
	for header in include/postern/*.h; do \
		$(call install_file,644,$$header,$(INCLUDE_DIR)/postern/$${header##*/}) || exit; \
	done
	$(call install_file,644,build/libpostern.a,$(LIB_DIR)/libpostern.a)
	$(call install_file,644,build/$(SONAME),$(LIB_DIR)/$(SONAME))
	ln -sf $(SONAME) $(DESTDIR)$(LIB_DIR)/libpostern.so
	install -d $(DESTDIR)$(LIB_DIR)/pkgconfig
	sed 's,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(LIB_DIR),; s,@VERSION@,$(VERSION),; s,@REQUIRES@,$(PURE_LIBS),' \
		conf/libpostern.pc >$(DESTDIR)$(LIB_DIR)/pkgconfig/libpostern.pc
	$(call install_file,644,build/man/libpostern.3,$(MAN_DIR)/man3/libpostern.3)

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | \
		column -t -s '|'

.PHONY: all analyze bench bench-compare bench-path bench-programs bench-record check \
	check-aarch64 check-all check-asan check-balance check-deb check-faults check-msan check-tsan \
	check-ubsan check-valgrind check-verify clean coverage coverage-missed deb demo deps deps-aarch64 list-deps-dev deps-deb deps-deb-test deps-demo deps-test \
	dist e2e fault format fuzz-all fuzz-coverage fuzz-coverage-programs fuzz-replay help \
	install install-lib layers lint list-programs list-pure list-threaded load-ledger \
	mix-demo pages programs pure run shared sizes symbols test threaded uninstall \
	unit $(FUZZ:%=fuzz-%) $(FUZZ:%=fuzz-keep-%) $(LOAD:%=load-%)
.SECONDARY:

-include $(shell find $(B) build/fuzz -name '*.d' 2>/dev/null)
