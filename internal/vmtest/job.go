package vmtest

// Job is what a guest does. It is in its file system as JSON.
type Job struct {
	Args []string // the program and its arguments
	Dir  string   // where it starts
	Env  []string
	// Results is a folder whose files are brought out at the end, "" = none.
	Results string
}

// Where the guest's init finds things and puts things.
const (
	JobPath    = "/vmtest/job.json"
	InitPath   = "/init"
	ScratchDir = "/var/tmp" // on a disk
	// Disks, by their serial numbers.
	ScratchDisk = "scratch"
	ResultsDisk = "results"
	// PortOption is the word on the kernel's command line that names the
	// serial line for what the program prints.
	PortOption = "vmtest.port="
)

// EndMark comes after all that the program has printed, followed by its exit
// code and a newline. No sane program prints it.
const EndMark = "\x00vmtest end "

// Programs are those in the guest's /bin, which tests run. They are all its
// init under other names.
var Programs = []string{"true"}
