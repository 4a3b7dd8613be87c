package bpf

import (
	"testing"
	"unsafe"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// The C side asserts the same sizes, so neither compiler may pad otherwise.
func TestEventSizesMatchC(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"switch", unsafe.Sizeof(KernelSwitchEvent{}), 168},
		{"wake", unsafe.Sizeof(KernelWakeEvent{}), 104},
		{"life", unsafe.Sizeof(KernelLifeEvent{}), 96},
		{"span", unsafe.Sizeof(KernelSpanEvent{}), 80},
		{"point", unsafe.Sizeof(KernelPointEvent{}), 96},
		{"counters", unsafe.Sizeof(KernelCountersEvent{}), 72},
		{"stack", unsafe.Sizeof(KernelStackEvent{}), 800},
		{"cpu state", unsafe.Sizeof(KernelCpuState{}), 320},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d bytes in Go, %d in C", c.name, c.got, c.want)
		}
	}
}

// The kernel writes the numbers of the file format, so none is translated.
func TestNumbersAreThoseOfTheFile(t *testing.T) {
	kinds := map[KernelEventKind]eventfile.Kind{
		KernelEventKindEV_SWITCH:     eventfile.KindSwitch,
		KernelEventKindEV_WAKING:     eventfile.KindWaking,
		KernelEventKindEV_WAKEUP_NEW: eventfile.KindWakeupNew,
		KernelEventKindEV_MIGRATE:    eventfile.KindMigrate,
		KernelEventKindEV_FORK:       eventfile.KindFork,
		KernelEventKindEV_EXEC:       eventfile.KindExec,
		KernelEventKindEV_EXIT:       eventfile.KindExit,
		KernelEventKindEV_FAULT:      eventfile.KindFault,
		KernelEventKindEV_IRQ:        eventfile.KindIRQ,
		KernelEventKindEV_SOFTIRQ:    eventfile.KindSoftirq,
		KernelEventKindEV_VECTOR:     eventfile.KindVector,
		KernelEventKindEV_NMI:        eventfile.KindNMI,
		KernelEventKindEV_SNAPSHOT:   eventfile.KindSnapshot,
		KernelEventKindEV_SAMPLE:     eventfile.KindSample,
		KernelEventKindEV_COUNTERS:   eventfile.KindCounters,
	}
	for k, f := range kinds {
		if uint32(k) != uint32(f) {
			t.Errorf("kind %d in C is %d in the file", k, f)
		}
	}
	flags := map[KernelEventFlag]eventfile.Flags{
		KernelEventFlagFLAG_TARGET:    eventfile.FlagTarget,
		KernelEventFlagFLAG_PREEMPT:   eventfile.FlagPreempt,
		KernelEventFlagFLAG_HARDIRQ:   eventfile.FlagHardirq,
		KernelEventFlagFLAG_SOFTIRQ:   eventfile.FlagSoftirq,
		KernelEventFlagFLAG_MAJOR:     eventfile.FlagMajor,
		KernelEventFlagFLAG_UNSEEN:    eventfile.FlagUnseen,
		KernelEventFlagFLAG_USER:      eventfile.FlagUser,
		KernelEventFlagFLAG_HANDLED:   eventfile.FlagHandled,
		KernelEventFlagFLAG_LAST:      eventfile.FlagLast,
		KernelEventFlagFLAG_ON_CPU:    eventfile.FlagOnCPU,
		KernelEventFlagFLAG_ON_RQ:     eventfile.FlagOnRq,
		KernelEventFlagFLAG_THROTTLED: eventfile.FlagThrottled,
		KernelEventFlagFLAG_KTHREAD:   eventfile.FlagKthread,
		KernelEventFlagFLAG_CUT:       eventfile.FlagCut,
	}
	for k, f := range flags {
		if uint32(k) != uint32(f) {
			t.Errorf("flag %#x in C is %#x in the file", k, f)
		}
	}
	vectors := map[KernelVectorId]eventfile.VectorID{
		KernelVectorIdVECTOR_LOCAL_TIMER:          eventfile.VectorLocalTimer,
		KernelVectorIdVECTOR_RESCHEDULE:           eventfile.VectorReschedule,
		KernelVectorIdVECTOR_CALL_FUNCTION:        eventfile.VectorCallFunction,
		KernelVectorIdVECTOR_CALL_FUNCTION_SINGLE: eventfile.VectorCallFunctionSingle,
		KernelVectorIdVECTOR_IRQ_WORK:             eventfile.VectorIRQWork,
		KernelVectorIdVECTOR_IPI:                  eventfile.VectorIPI,
	}
	for k, f := range vectors {
		if uint32(k) != uint32(f) {
			t.Errorf("vector %d in C is %d in the file", k, f)
		}
	}
	counters := map[KernelCounterId]eventfile.Counter{
		KernelCounterIdCOUNTER_CYCLES:       eventfile.CounterCycles,
		KernelCounterIdCOUNTER_INSTRUCTIONS: eventfile.CounterInstructions,
		KernelCounterIdCOUNTER_STALLED:      eventfile.CounterStalled,
		KernelCounterIdCOUNTERS:             eventfile.Counters,
	}
	for k, f := range counters {
		if uint32(k) != uint32(f) {
			t.Errorf("counter %d in C is %d in the file", k, f)
		}
	}
}
