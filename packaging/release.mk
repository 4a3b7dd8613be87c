# Static binaries and Debian packages for both architectures, in dist/.

.PHONY: release
.SECONDARY:

NFPM ?= github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0
RELEASE_ARCHES := amd64 arm64
# The version is the tag that is checked out, else that of the source.
VERSION ?= $(shell git describe --tags --exact-match 2>/dev/null | sed 's/^v//' | grep . || sed -n 's/^var version = "\(.*\)"/\1/p' cmd/tailtrace/version.go)
# The host's own binary says what the documents hold.
HOST_ARCH := $(shell $(GO) env GOHOSTARCH)

release: $(RELEASE_ARCHES:%=dist/tailtrace_$(VERSION)_%.deb)
	cd dist && sha256sum tailtrace-*-linux-* *.deb > SHA256SUMS

dist/%/tailtrace: $(SOURCES) go.mod
	CGO_ENABLED=0 GOOS=linux GOARCH=$* $(GO) build -trimpath -buildvcs=false \
	  -ldflags '-s -w -X main.version=$(VERSION)' -o $@ ./cmd/tailtrace
	cp $@ dist/tailtrace-$(VERSION)-linux-$*

dist/docs/tailtrace.1.gz: dist/$(HOST_ARCH)/tailtrace $(wildcard packaging/mkdocs/*.go)
	$(GO) run ./packaging/mkdocs $< dist/docs
	gzip -9nf dist/docs/tailtrace.1

dist/tailtrace_$(VERSION)_%.deb: dist/%/tailtrace dist/docs/tailtrace.1.gz packaging/nfpm.yaml packaging/tailtrace@.service
	ARCH=$* VERSION=$(VERSION) STAGE=dist/$* DOCS=dist/docs \
	  $(GO) run $(NFPM) package --config packaging/nfpm.yaml --packager deb --target $@
