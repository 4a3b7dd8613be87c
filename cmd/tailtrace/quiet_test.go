package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tailtrace/tailtrace/collector"
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// TestRecordRefusesABusyMachine keeps a CPU busy itself.
func TestRecordRefusesABusyMachine(t *testing.T) {
	var done atomic.Bool
	defer done.Store(true)
	go func() {
		for !done.Load() {
		}
	}()
	file := filepath.Join(t.TempDir(), "events.bin")
	var out, err bytes.Buffer
	code := Main([]string{"-pid", strconv.Itoa(os.Getpid()), "-out", file, "-quiet", "--max-cpu", "0%"}, nil, &out, &err)
	if code != exitCheck || !strings.HasPrefix(err.String(), "tailtrace: error: the machine is not quiet:\n") ||
		!strings.Contains(err.String(), "(at most 0%): work is running") || out.Len() > 0 {
		t.Errorf("exit code %d, %q, %q", code, &out, &err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a recording: %v", err)
	}
	out.Reset()
	if code := Main([]string{"check", "--max-cpu", "0", "--json"}, nil, &out, &err); code != exitCheck || !strings.Contains(out.String(), `"broken": "work is running`) {
		t.Errorf("exit code %d, %s", code, &out)
	}
}

func TestQuietRecordingCarriesItsAnswer(t *testing.T) {
	testenv.Root(t)
	file := filepath.Join(t.TempDir(), "events.bin")
	run(t, build(t), "-pid", strconv.Itoa(os.Getpid()), "-out", file, "-duration", "300ms",
		"--quiet", "--max-load", "1000000", "--max-cpu", "100%", "--allow", strings.Join(collector.QuietConditions, ","))
	rec, err := openRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	loaded, err := correlate.Load(rec.open)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range loaded.Notes {
		if strings.HasPrefix(n.Text, "the machine was ") && strings.Contains(n.Text, "(at most 1000000.00); cpu ") {
			return
		}
	}
	t.Errorf("notes: %+v", loaded.Notes)
}
