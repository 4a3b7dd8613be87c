package collector

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// DefaultSampleHz is a rate that does not beat with clocks of 100 Hz.
const DefaultSampleHz = 99

// DefaultStacks is what costs next to nothing: a few microseconds at each of
// DefaultSampleHz samples. StacksAll adds about one to every wait.
const DefaultStacks = StacksCPU

// Config says what to record.
type Config struct {
	Pids        []int         // processes, as this process sees them
	NoFollow    bool          // do not trace their children
	Out         string        // the events file
	Force       bool          // replace Out
	Duration    time.Duration // 0 = until the context ends
	Ring        string        // "auto" or "", "none", or the path of a request ring
	Stacks      string        // StacksOff, StacksCPU or StacksAll; "" = DefaultStacks
	SampleHz    int           // CPU clock samples a second and CPU; 0 = none
	BufferBytes int           // of the kernel rings of all CPUs online; 0 = a default by CPUs
	NoCmdlines  bool          // leave out the command lines of processes that are not traced
	BTF         string        // a file with the kernel's types, for one that has none itself; "" = its own
	Args        []string      // the command line, for the header
	Tool        string        // name and version, for the header
	Notes       []string      // what a reader of the file must know

	Progress func(Progress) // called some times a second, may be nil
	Log      func(string)   // remarks for the user, may be nil
}

func (c *Config) validate() error {
	switch {
	case c.Out == "":
		return errors.New("record: no output file given")
	case c.Duration < 0:
		return fmt.Errorf("record: negative duration %v", c.Duration)
	case c.SampleHz < 0 || c.SampleHz > 10_000:
		return fmt.Errorf("record: sample rate %d is not within 0 to 10000 Hz", c.SampleHz)
	case !slices.Contains([]string{"", StacksOff, StacksCPU, StacksAll}, c.Stacks):
		return fmt.Errorf("record: stacks %q are none of off, cpu and all", c.Stacks)
	case c.BufferBytes < 0 || c.BufferBytes > 1<<30:
		return fmt.Errorf("record: buffer of %d bytes is not within 0 to 1 GiB", c.BufferBytes)
	}
	return nil
}

// Progress is where a recording stands.
type Progress struct {
	Elapsed  time.Duration
	Events   uint64 // kernel events written
	Windows  uint64
	Lost     uint64 // of all sources
	Bytes    uint64 // in the file
	AgentCPU time.Duration
}

// Why a recording ended.
const (
	ReasonSignal   = "signal"
	ReasonDuration = "duration"
	ReasonExited   = "target exited"
	ReasonError    = "error"
)

// Summary is a finished recording.
type Summary struct {
	Progress
	Reason  string
	Targets []eventfile.Target
	Hooks   []eventfile.Hook
	// Kernel counts what the programs produced, including what was lost in
	// the rings: Events written without KindTask, plus ring losses.
	Kernel uint64
}
