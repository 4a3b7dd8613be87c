# Tests in virtual machines, on the kernels of internal/vmtest/kernels.txt.

.PHONY: vmtest vmtest-ci vmtest-tools

VMTEST_TOOLS := qemu-system-arm qemu-system-x86 e2fsprogs
VMTEST := nice -n 19 $(GO) test -count=1 -v -tags vmtest -timeout 3h ./internal/vmtest

# All kernels, and the whole job: about COST.
vmtest: vmtest-tools
	$(GO) vet -tags vmtest ./internal/vmtest/...
	$(VMTEST) -args -kernels all

# One kernel of each architecture.
vmtest-ci: vmtest-tools
	$(VMTEST) -args -kernels ci

# Installs the emulators where that is allowed and they are missing.
vmtest-tools:
	@if ! dpkg-query -W $(VMTEST_TOOLS) >/dev/null 2>&1; then \
	  [ "$$(id -u)" = 0 ] || { echo "needs packages: $(VMTEST_TOOLS)"; exit 1; }; \
	  apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(VMTEST_TOOLS) >/dev/null; \
	fi
