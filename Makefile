# latency-bench: `make run` builds and runs it, `make test` tests it.
#
# Everything that is built, downloaded or unpacked goes to target/.

CARGO ?= cargo
# make ARCH=aarch64 builds for another instruction set (x86_64, aarch64), into a folder of its name.
ARCH :=
BINARY := target/$(ARCH:%=%/)latency-bench

# rustup installs here and leaves it to the login shell to find it.
export PATH := $(PATH):$(HOME)/.cargo/bin
export CARGO_TARGET_DIR := $(CURDIR)/target

# Either would replace the link arguments in .cargo/config.toml.
unexport RUSTFLAGS
unexport CARGO_ENCODED_RUSTFLAGS

# What .cargo/config.toml says for the musl target. Said here for the gnu target, whose
# other programs (build scripts, tests) are ordinary ones.
STATIC := -Crelocation-model=static -Clink-arg=-nostartfiles -Clink-arg=-nostdlib \
	-Clink-arg=-static -Clink-arg=-no-pie -Clink-arg=-Wl,--discard-all

.PHONY: all all-aarch64 run install uninstall test test-all test-aarch64 built examples golden calibration fuzz size plugin guest lab boots hostile signals campaign bench mutants kernel-mutants check dist clean

# The commit that `--version` prints, and `-dirty` after it if a file differs; nothing without git.
all: export LATENCY_BENCH_COMMIT ?= $(if $(wildcard .git),$(shell git describe --always --exclude='*' --abbrev=8 --dirty 2>/dev/null))

# Panics name their file. Those of other crates are where cargo keeps its downloads, and those of the standard library where
# rustup keeps its component rust-src, if it is installed: different places for everybody, which would make other bytes.
all:
	@triple=$$(tests/setup triple $(ARCH)) || exit 1; \
	case $$triple in *-gnu) flags='-- $(STATIC)';; *) flags=;; esac; \
	cargo="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo"; \
	commit=$$(rustc -vV | sed -n 's/^commit-hash: //p'); \
	library="--remap-path-prefix=$$(rustc --print sysroot)/lib/rustlib/src/rust=/rustc/$$commit"; \
	$(CARGO) rustc --locked --release -p latency-bench --bin latency-bench \
		--config "target.$$triple.rustflags=[\"$$cargo\", \"$$library\"]" \
		--target "$$triple" $$flags && \
	install -D -m 755 "target/$$triple/release/latency-bench" $(BINARY)

# Arguments: make run ARGS='curve --max-size=1G'
run: all
	@$(BINARY) $(ARGS)

# The files of a release but for those that `dist` makes: make install PREFIX=/usr DESTDIR=/tmp/root. Nothing is built if the
# executable exists, so that `make && sudo make install` needs no Rust for root. Each is FILE:PLACE; scripts stay executable.
PREFIX ?= /usr/local
OWN := share/doc/latency-bench share/latency-bench
INSTALLED := $(BINARY):bin/latency-bench tests/packaged/latency-bench.1:share/man/man1/latency-bench.1 \
	tests/packaged/latency-bench.bash:share/bash-completion/completions/latency-bench \
	tests/packaged/_latency-bench:share/zsh/site-functions/_latency-bench \
	tests/packaged/latency-bench.fish:share/fish/vendor_completions.d/latency-bench.fish \
	$(foreach file,README.md bin/CHANGELOG.md LICENSE-MIT LICENSE-APACHE,$(file):share/doc/latency-bench/$(notdir $(file))) \
	tests/schema/latency-bench.schema.json:share/latency-bench/latency-bench.schema.json \
	$(foreach file,$(shell find tests/recipes -type f),$(file):$(file:tests/%=share/latency-bench/%))

install:
	@[ -x $(BINARY) ] || $(MAKE) --no-print-directory all
	@set -e; for pair in $(INSTALLED); do \
		from=$${pair%%:*} to="$(DESTDIR)$(PREFIX)/$${pair#*:}" mode=644; \
		[ ! -x "$$from" ] || mode=755; \
		install -D -m $$mode "$$from" "$$to"; \
		echo "$$to"; \
	done

uninstall:
	@for pair in $(INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$${pair#*:}"; done
	@for own in $(OWN); do find "$(DESTDIR)$(PREFIX)/$$own" -depth -type d -empty -delete 2>/dev/null; done; true

# Tests unwind, whatever the profile says. So do then, too, the programs that are built beside them: else all that both
# have in common would be compiled twice.
test test-all test-aarch64 built: export CARGO_PROFILE_DEV_PANIC := unwind

# What protects a commit, in ten minutes; ONLY='cli::output' chooses by a part of the path. `make test-all` is everything,
# in forty: tests/src/lanes/moved.rs has what moved there.
test: built
	@$(LANES) target/tests.json $(ONLY)

test-all: export LATENCY_BENCH_TESTS := all
test-all: examples test test-aarch64

# The executable for aarch64 and process 1 of its guests, where they can be built.
all-aarch64:
	@if tests/setup aarch64; then $(MAKE) --no-print-directory ARCH=aarch64 all guest; fi

# The kernels of aarch64 and what uses them, on this machine by user emulation: with the atomic instructions of LSE, and
# on a processor without them. The tests are programs with a standard library, linked without a cross compiler.
AARCH64 := aarch64-unknown-linux-musl
AARCH64_FLAGS := -Clinker=rust-lld -Clink-self-contained=yes
AARCH64_TESTS := $(CARGO) test --locked --quiet --target $(AARCH64) -p latency-core

test-aarch64:
	@tests/setup packages
	@tests/setup aarch64 || exit 0; \
	export RUSTFLAGS='$(AARCH64_FLAGS)'; \
	for processor in max cortex-a72; do \
		export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER="qemu-aarch64 -cpu $$processor"; \
		$(AARCH64_TESTS) --lib -- arch:: buffer:: chain:: cores:: span:: traffic::field:: traffic::tests:: && \
		$(AARCH64_TESTS) --test kernels --test lanes || exit 1; \
	done

# The examples in the documentation.
examples:
	$(CARGO) test --locked --quiet --doc -p latency-core

# The scheduler of the tests. It prints how long each job took, and the sums.
LANES := target/debug/lanes

# Everything that `test` runs. Linking the executable keeps one CPU busy for a minute, so the tests are compiled
# meanwhile: cargo locks what it builds for release and for tests apart. The kernel of the guests is fetched when all is
# built, while tests run that boot none; who comes first keeps what both fetch.
built:
	@tests/setup packages
	@mkdir -p target
	@$(MAKE) --no-print-directory all plugin guest $(if $(LATENCY_BENCH_TESTS),all-aarch64) & programs=$$!; \
	$(CARGO) test --locked --workspace --tests --no-run --message-format=json-render-diagnostics \
		>target/tests.json || { wait; exit 1; }; \
	wait $$programs
	@target/debug/boots 0 >/dev/null 2>&1 &

# Writes tests/golden, which `test` compares with: fixed findings as text and as documents, and in each other format where it
# shows something first; the manual page and the completions; and the table of hostile places in tests/README.md. Read
# `git diff` before you commit it.
golden:
	UPDATE_GOLDEN=1 $(CARGO) test --locked -p latency-bench --lib golden::
	UPDATE_GOLDEN=1 $(CARGO) test --locked -p latency-tests --test suite -- the_readme_has dist::pages::packaged_texts

# What good, fair and poor are worth: 2,000 simulated runs of each machine, and a table of how often the words were right,
# which UPDATE_GOLDEN=1 writes into bin/README.md. CALIBRATION_RUNS=N makes others, CALIBRATION_ONLY chooses by a part of the
# name, CALIBRATION_SEEDS=tuning takes the seeds by which rules are chosen.
calibration:
	$(CARGO) test --locked --profile fuzz -p latency-bench --lib -- --ignored --nocapture calibration::calibration

# What comes from outside, damaged: the property tests of bin/src/tests/fuzz without their number of cases, for so many seconds
# a target. FUZZ_CASES=N stops each after N cases, FUZZ_SEED=N repeats a run, FUZZ_TARGET chooses by a part of the name.
FUZZ_SECONDS ?= 60

fuzz:
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --locked --profile fuzz -p latency-bench --lib -- fuzz::$(FUZZ_TARGET)

# The bytes of the executable by section and by module; ARCH chooses the instruction set. The shipped one has no symbols
# of local functions; this one is linked again, with all of them. The last option counts, and the command line adds to
# the key of .cargo/config.toml.
SYMBOLS := target."cfg(target_env = \"musl\")".rustflags=["-Clink-arg=--discard-none"]

size:
	@triple=$$(tests/setup triple $(ARCH)) || exit 1; \
	case $$triple in *-gnu) flags='-- $(filter-out %--discard-all,$(STATIC))';; *) flags=;; esac; \
	CARGO_TARGET_DIR=target/size $(CARGO) rustc --locked --release -p latency-bench --bin latency-bench \
		--config '$(SYMBOLS)' --target "$$triple" $$flags && \
	$(CARGO) run --locked --quiet -p latency-tests --bin size -- \
		"target/size/$$triple/release/latency-bench"

# The model of memory latencies that the emulator loads.
plugin:
	$(CARGO) build --locked --release -p latency-lab-plugin

# Process 1 of the emulator's guests in which a condition is prepared: static, since there is no library.
guest:
ifeq ($(ARCH),aarch64)
	RUSTFLAGS='$(AARCH64_FLAGS)' $(CARGO) build --locked --release -p latency-guest --target $(AARCH64)
else
	$(CARGO) rustc --locked --release -p latency-guest --target x86_64-unknown-linux-gnu -- \
		-Ctarget-feature=+crt-static
endif

# The latency lab: known latencies, emulated, against what the tool reports.
# One model of your own: make lab LAB_ARGS='latency=0:0:7000' (tests/src/lab/mod.rs). LAB=all has runs of pairs of nodes
# that take two minutes, too; LAB_SEED=N repeats the numbers that are drawn at each run. ARCH=aarch64 emulates such machines,
# but no pairs: which of their regions are shared depends on the memory that a kernel for x86-64 leaves free.
lab: all plugin guest
	@tests/setup packages
	LAB_ARCH='$(ARCH)' LAB_ARGS='$(LAB_ARGS)' $(CARGO) test --locked -p latency-tests --test suite -- --nocapture \
		$(if $(LAB_ARGS),--ignored the_model_of_the_environment_variable,$(if $(LAB),--include-ignored --skip the_model_of_the_environment_variable) lab:: lab_split:: lab_walks:: lab_load:: $(if $(ARCH:x86_64=),,lab_pairs::))

# Guests in a row, with each kernel in turn: none may hang. A hundred take ten minutes on an idle host.
BOOTS := 100

boots: all
	@tests/setup packages
	nice $(CARGO) run --locked --quiet -p latency-tests --bin boots -- $(BOOTS)

# Every system call forbidden and every limit in every experiment: 1,600 runs, a part of which `test` makes.
hostile: all
	HOSTILE=all $(CARGO) test --locked -p latency-tests --test suite -- hostile::

# Interrupts at so many random moments of each of 27 runs: every experiment in little memory, at its default sizes and in
# 2 GiB. A table of the CPU time until the end; it takes half an hour.
SIGNALS ?= 20

signals: all
	SIGNALS=$(SIGNALS) $(CARGO) test --locked -p latency-tests --test suite -- --nocapture signals::moments

# Random cases: valid options of every experiment and command in every format, plans, altered documents, values that cannot
# be, tables of other tools, fleets with a slow or another host, joined results, trapped system calls, streams that nobody
# reads. 10,000 need ten minutes of two CPUs. CAMPAIGN_SEED=N makes others, CAMPAIGN_CASE=N
# repeats one and keeps its files in target/campaign, CAMPAIGN_BINARY=PATH takes another executable.
CAMPAIGN_CASES ?= 10000
CAMPAIGN_SEED ?= 1
CAMPAIGN_BINARY ?= $(BINARY)

campaign: all
	LATENCY_BENCH='$(CAMPAIGN_BINARY)' nice $(CARGO) run --locked --quiet -p latency-tests --bin campaign -- \
		$(if $(CAMPAIGN_CASE),$(CAMPAIGN_SEED):$(CAMPAIGN_CASE),$(CAMPAIGN_CASES) $(CAMPAIGN_SEED))

# How fast chains are written, beside memset and a shuffle in place.
bench:
	$(CARGO) run --locked --release -p latency-tests --bin build-ratios

# Mutation testing of the pure code (.cargo/mutants.toml says which): one mutant in 39 of each package, some 200 of
# 7600, in about an hour. Others: make mutants SHARD=1/39. What no test catches is in target/mutants/*/mutants.out/missed.txt.
# Then the mutants of the kernels of aarch64, of which the lab has to notice one, and of the mailbox:
# tests/src/bin/kernel-mutants.rs lists them. make kernel-mutants has them alone, and MUTANT chooses by a part of the file or
# the description.
SHARD ?= 0/39
MUTANTS_VERSION := 27.1.0
MUTANTS := target/mutants-tool/bin/cargo-mutants

$(MUTANTS):
	$(CARGO) install --locked --version $(MUTANTS_VERSION) --root target/mutants-tool cargo-mutants

# Each package by its own tests. The build directories are those of the copies that are mutated.
mutants: $(MUTANTS)
	@status=0; for package in latency-core:--tests latency-report:--lib latency-bench:--lib; do \
		mkdir -p target/mutants/$${package%:*} && \
		env -u CARGO_TARGET_DIR nice $(MUTANTS) mutants -p $${package%:*} -o target/mutants/$${package%:*} \
			--shard $(SHARD) --sharding round-robin -- $${package#*:} || status=$$?; \
	done; $(MAKE) --no-print-directory kernel-mutants || status=$$?; exit $$status

kernel-mutants: plugin all-aarch64
	@tests/setup packages
	@part='$(MUTANT)'; tests/setup aarch64 || part=mailbox; \
	nice $(CARGO) run --locked --quiet -p latency-tests --bin kernel-mutants -- "$$part"

check:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --locked --no-deps -p latency-core -p latency-report -p latency-sys -p latency-engine -p latency-bench

# What a release has, in target/dist: for each instruction set built twice and compared, which takes four minutes
# (bin/dist/build).
dist:
	@bin/dist/build target/dist

clean:
	rm -rf target
