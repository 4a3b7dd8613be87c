package vmtest_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

var update = flag.Bool("update", false, "rewrite testdata/check from guests, and docs/KERNELS.md")

// check is what `tailtrace check --json` says of a guest, less what differs
// from run to run. It is kept in testdata/check, from which docs/KERNELS.md is
// made.
type check struct {
	Hooks []hook `json:"hooks"`
	Facts []fact `json:"facts"`
}

type hook struct {
	Name string `json:"name"`
	How  string `json:"how,omitempty"`
	Why  string `json:"why,omitempty"`
	Lost string `json:"lost,omitempty"`
}

type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Lost  string `json:"lost,omitempty"`
}

func checkFile(k vmtest.Kernel) string {
	return filepath.Join("testdata", "check", k.Name()+".json")
}

// known returns what is known of a kernel.
func known(t *testing.T, k vmtest.Kernel) *check {
	t.Helper()
	text, err := os.ReadFile(checkFile(k))
	if err != nil {
		t.Fatal(err)
	}
	var c check
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return &c
}
