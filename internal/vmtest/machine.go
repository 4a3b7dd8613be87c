package vmtest

import (
	"slices"
	"strconv"
	"strings"
)

// machine is what QEMU emulates for an architecture.
type machine struct {
	qemu    string
	options []string
	console string
	port    string // the serial line of the first card on the bus
}

var machines = map[string]*machine{
	"arm64": {
		qemu: "qemu-system-aarch64",
		// QEMU's own pointer authentication is as good as the architecture's
		// and several times as fast.
		options: []string{"-machine", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on"},
		console: "ttyAMA0",
		port:    "/dev/ttyS0",
	},
	"amd64": {
		qemu:    "qemu-system-x86_64",
		options: []string{"-machine", "q35", "-cpu", "max"},
		console: "ttyS0",
		port:    "/dev/ttyS1",
	},
}

// Options of a guest.
type Options struct {
	CPUs      int // 0 = 2
	MemoryMiB int // 0 = 1024
	// InstructionShift above 0 makes every instruction take 2^N ns of the
	// guest's time: what else runs on this machine then shows in how long the
	// guest takes, and not in what it measures.
	InstructionShift int
	Append           []string // words for the kernel's command line
}

// files that a guest is connected to.
type files struct {
	kernel, initramfs string
	console           string // gets the kernel's messages
	scratch           string // an ext4 disk
	results           string // a disk that gets a tar archive
}

// args is QEMU's command line. What the program prints goes through a serial
// card of its own, apart from the kernel's messages, to QEMU's output.
func (m *machine) args(o Options, f files) []string {
	if o.CPUs == 0 {
		o.CPUs = 2
	}
	if o.MemoryMiB == 0 {
		o.MemoryMiB = 1024
	}
	// Level 5 has the kernel's warnings. It reboots on a panic, and QEMU ends.
	cmdline := append([]string{"console=" + m.console, "loglevel=5", "panic=-1", PortOption + m.port}, o.Append...)
	args := append(slices.Clone(m.options),
		// With more threads, QEMU 7.2's guests oops, hang and lose events.
		"-accel", "tcg,thread=single",
		"-smp", strconv.Itoa(o.CPUs), "-m", strconv.Itoa(o.MemoryMiB),
		"-display", "none", "-monitor", "none", "-nodefaults", "-no-user-config", "-no-reboot",
		"-serial", "file:"+f.console,
		"-chardev", "stdio,id=port,signal=off", "-device", "pci-serial,chardev=port")
	for serial, path := range map[string]string{ScratchDisk: f.scratch, ResultsDisk: f.results} {
		args = append(args, "-drive", "if=none,format=raw,cache=unsafe,id="+serial+",file="+path,
			"-device", "nvme,drive="+serial+",serial="+serial)
	}
	if o.InstructionShift > 0 {
		args = append(args, "-icount", "shift="+strconv.Itoa(o.InstructionShift))
	}
	return append(args, "-kernel", f.kernel, "-initrd", f.initramfs, "-append", strings.Join(cmdline, " "))
}
