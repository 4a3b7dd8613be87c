# Tests in virtual machines, on the kernels of internal/vmtest/kernels.txt.

.PHONY: vmtest vmtest-ci vmtest-tools

VMTEST_TOOLS := qemu-system-arm qemu-system-x86 e2fsprogs cpio groff-base zsh
VMTEST := nice -n 19 $(GO) test -count=1 -v -tags vmtest -timeout 3h

# Every kernel, the release's packages, and the whole job.
vmtest: vmtest-tools release
	$(GO) vet -tags vmtest ./internal/vmtest/... ./packaging/...
	$(VMTEST) ./packaging/...
	$(VMTEST) -parallel 2 ./internal/vmtest -args -kernels all

# The tests that tell most, on one kernel of each architecture at the same time.
vmtest-ci: vmtest-tools
	$(VMTEST) ./packaging/...
	$(VMTEST) -short -parallel 2 -skip '^(TestJob.*|TestCheckWithoutTypes|TestInstructionsPerCycle.*|TestRelease|TestLockdown)$$' ./internal/vmtest -args -kernels ci

# Installs what is missing, where that is allowed.
vmtest-tools:
	@missing=; for p in $(VMTEST_TOOLS); do \
	  dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$p"; done; \
	[ -z "$$missing" ] || { [ "$$(id -u)" = 0 ] || { echo "install first:$$missing"; exit 1; }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; }
