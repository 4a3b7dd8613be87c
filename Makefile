# Builds without clang: the kernel programs' objects and their Go are committed.

GO ?= go
BIN := bin/tailtrace
SOURCES := $(shell find . -name '*.go' -not -path './.cache/*') $(shell find bpf -name '*.o')
LINT := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ERRORLINT := codeberg.org/polyfloyd/go-errorlint@v1.9.1

.PHONY: all demo test scorer cost generate lint fuzz clean
all: $(BIN)

$(BIN): go.mod go.sum $(SOURCES)
	$(GO) build -trimpath -o $@ ./cmd/tailtrace

# The main job on a service that is made slow on purpose: record, explain, and
# compare with what was injected.
demo: $(BIN)
	$(BIN) demo

# All tests. Those that need root or a feature of the kernel say why they are
# skipped; with TAILTRACE_MUST_RUN=1 they fail instead. One package at a time:
# tests on the live kernel would disturb each other.
test: $(BIN)
	$(GO) test -p 1 ./...

# The main job on a real service: FastAPI and scikit-learn, 20,000 requests.
scorer: $(BIN)
	examples/scorer/run.sh

# What recording costs that service, beside no tracer and beside perf, bpftrace
# and offcputime where they are installed; ratios within one run.
cost: $(BIN)
	examples/scorer/cost.sh

# Rebuilds what is generated; needs clang and llvm-strip.
generate:
	$(GO) generate ./...

lint:
	$(GO) vet ./...
	$(GO) run $(LINT) ./...
	$(GO) run $(ERRORLINT) ./...

# A short run of every fuzz target.
FUZZTIME ?= 10s
fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p; \
	  done; done

clean:
	rm -rf bin dist out

-include vmtest.mk packaging/release.mk accuracy.mk
