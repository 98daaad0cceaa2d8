# Drystone. `make help` lists the targets; CMake does the work, its presets are in CMakePresets.json.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.PHONY: all wheel deb debtest site web npm demo test mutate bench paper soak shake fuzz format schema install clean help

PREFIX ?= /usr/local
SOAK_TIME ?= 600
FUZZ_TIME ?= 600
WORKERS ?= 1
DEPS := scripts/install-deps.sh
# one more than there are cores: tests of the page wait for the browser most of the time
CTEST := ctest -j $(shell echo $$(($$(nproc 2>/dev/null || echo 1) + 1))) --output-on-failure --no-label-summary --test-dir
# $(call build,PRESET,OPTIONS): configures and builds in build/PRESET
build = cmake --preset $(1) >/dev/null; cmake --build build/$(1) $(2)

all: ## build the program, build/drystone (default)
	@$(DEPS) build
	@$(call build,release,--target drystone-program)
	@ln -sfn release/drystone build/drystone

wheel: all ## the Python package as a wheel, in build/wheels/
	@$(DEPS) python
	@$(call build,release,--target drystone-python-package)
	@python3 python/tools/wheel.py build/release build/wheels

deb: all ## Debian packages of program, shared library, headers and Python, in build/packages/
	@$(call build,release,--target drystone drystone-scenes drystone-python-package)
	@scripts/deb.sh build/release build/packages

debtest: deb ## install the packages on a clean Debian 12 in a folder, and use them there; as root
	@$(DEPS) debtest
	@scripts/test-deb.sh build/packages

site: ## the manual as a static site with search, in build/site/
	@python3 site/build.py build/site

web: all ## the page and a gallery of live scenes as a static folder, build/web/: no server, no install
	@$(DEPS) web
	@$(call build,wasm,)
	@scripts/web.sh page build/release/web build/wasm/wasm/drystone.wasm build/web build/drystone

npm: all ## the npm package, WebAssembly with types, in build/npm/
	@$(DEPS) web
	@$(call build,wasm,)
	@scripts/web.sh npm build/release/web build/wasm/wasm/drystone.wasm build/npm
	@cd build/npm && npm pack --silent

demo: all ## a card house that stands: picture, plot, recording and report in demo/
	@scripts/demo.sh

# The tests of four presets are one list, so that no core waits for the last test of a preset (cmake/tests.cmake): all of
# release, and the shorter tests of clang, asan and tsan. The thread sanitizer runs only tests with threads (RUN_THREADS in
# test/check.h). With clang only the library is tested; the program is tested with the sanitizers and in the full run.
test: all ## everything: release, clang, address, undefined and thread sanitizers, format, install, manual
	@$(DEPS) test
	@for preset in clang asan tsan wasm release; do $(call build,$$preset,); done
	@echo 'subdirs(release clang asan tsan)' >build/CTestTestfile.cmake
	@scripts/fixed-addresses.sh $(CTEST) build

mutate: ## deliberate faults, WORKERS=1 at a time: which do the tests notice? Resumable; AGAIN=1 tries the unnoticed again
	@$(DEPS) build test
	@scripts/mutate.py $(if $(AGAIN),--again) --workers $(WORKERS)

bench: all ## compare with other engines on the same scenes; tables in bench/results/
	@$(DEPS) bench
	@$(call build,bench,)
	@bench/run.py
	@bench/impact.py
	@bench/motion.py
	@bench/assemblies.py
	@bench/drop.py
	@bench/soft.py
	@build/bench/bench/bench-solver bench/results/solver
	@bench/solve/profile.py
	@bench/haptic.py
	@bench/view.py

paper: all ## the tables of the papers, run again: docs/paper.md. Resumable; QUICK=1 for minutes, ONLY=section
	@scripts/paper.py $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

soak: all ## long standing runs, SOAK_TIME=600 simulated seconds each, and a sweep with kills; table in bench/results/soak.md
	@SOAK_TIME=$(SOAK_TIME) scripts/soak.sh
	@scripts/sweep-soak.py build/drystone
	@$(DEPS) test
	@$(call build,release,)
	@for name in composites composites_thrown deformable_rebound soft_thrown soft_piles plates stand_random whip jenga housner order; do DRYSTONE_TEST_LONG=1 build/release/test/test_$$name; done

shake: all ## scenes shaken for 30 s, imperfect ones and the gallery for 60 s; every step must be certified; tables in bench/results/
	@$(DEPS) test
	@scripts/shake.py; shaken=$$?; for part in --imperfect --rest; do scripts/shake.py $$part || shaken=1; done; exit $$shaken

fuzz: ## malformed problem and mesh files, FUZZ_TIME=600 seconds per target
	@$(DEPS) build test
	@$(call build,fuzz,)
	@FUZZ_TIME=$(FUZZ_TIME) scripts/fuzz.sh

schema: all ## write the solvers of the program into the schema of scene files
	@scripts/schema-methods.py build/drystone schema/scene.schema.json

format: ## format all C sources in place
	@$(DEPS) test
	@scripts/format.sh

install: all ## install to PREFIX=/usr/local; DESTDIR is honoured
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove the output of the other targets
	@rm -rf build demo

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
