# CAPT: every command a person needs. `make help` lists them.
# The Node of this project (24 LTS) comes from npm with everything else; the system's only installs it.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/node
installed := node_modules/.package-lock.json
.DEFAULT_GOAL := help
.PHONY: help quickstart test check bench soak generate format build parts bed clean prerequisites

help: ## Say what each command does.
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'

quickstart: $(installed) ## Show Terraform at work and a cluster coming up, on a management cluster of real parts, offline.
	@node tools/main.ts quickstart
	@node scripts/quickstart.ts

test: check parts ## Set everything up, check it, and pass all tests.
	@GOGC=300 vitest run # a fifth of the API servers' time went into collecting garbage

check: $(installed) ## Check quickly: generated files, format, lint, types, unused code.
	@node scripts/generate.ts --check
	@biome check --error-on-warnings .
	@oxlint --type-aware --deny-warnings
	@tsc --project .
	@knip

bench: parts ## Measure what has a budget and print it as a table.
	@node scripts/bench.ts

soak: export CAPT_SEED ?= drawn
soak: parts ## Run the long tests: 500 clusters at once, beds, managers and engines killed at any moment, ten thousand made-up objects, types, modules, elections and reconnects.
	@vitest run --config vitest.soak.config.ts
	@CAPT_RECONNECTS=10000 vitest run --project stories reconnect
	@CAPT_FUZZ_ELECTIONS=10000 vitest run --project unit election
	@CAPT_FUZZ_OBJECTS=10000 CAPT_FUZZ_TYPES=3000 CAPT_FUZZ_MODULES=1000 vitest run --project stories agreement type.story module.story
	@node scripts/bench.ts clusters 500

generate: $(installed) ## Write the generated files from their sources.
	@node scripts/generate.ts

format: $(installed) ## Format every file.
	@biome check --write .

build: $(installed) ## Bundle the programs into dist/ and print how large they are.
	@node scripts/bundle.ts

parts: $(installed) ## Build the real parts that are missing (the first time, 15 to 20 minutes).
	@node tools/main.ts

bed: $(installed) ## Keep a management cluster of real parts up and print how to reach it.
	@node tools/main.ts quickstart
	@node scripts/bed.ts

clean: ## Remove what was built in this folder (the cache of real parts stays).
	@rm -rf node_modules dist logs

$(installed): package.json package-lock.json | prerequisites
	@echo "installing the toolchain from npm (about half a minute)"
	@npm ci --ignore-scripts --loglevel=error
	@node -e 'process.exit(parseInt(process.versions.node) < 24 ? 1 : 0)' || \
		{ rm $@; echo "npm has no Node 24 for this platform: install Node.js 24 (https://nodejs.org)." >&2; exit 1; }
	@touch $@

prerequisites:
	@scripts/prerequisites
