module github.com/tailtrace/tailtrace

go 1.26.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/cilium/ebpf v0.22.0
	github.com/google/go-cmp v0.7.0
	github.com/google/pprof v0.0.0-20261105003125-4bf881d7fb0b
	github.com/ianlancetaylor/demangle v0.0.0-20250417193237-f615e6bd150b
	github.com/klauspost/compress v1.20.4
	github.com/rogpeppe/go-internal v1.16.0
	github.com/sbinet/npyio v0.6.0
	github.com/spf13/pflag v1.1.0
	golang.org/x/sys v0.50.0
	gonum.org/v1/gonum v0.17.0
)

require golang.org/x/tools v0.40.1-0.20260108161641-ca281cf95054 // indirect

tool github.com/cilium/ebpf/cmd/bpf2go
