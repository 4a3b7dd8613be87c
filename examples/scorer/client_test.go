package scorer

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestClientKeepsFailedRequests(t *testing.T) {
	python := needPython(t)
	const timeout = 500 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-Request-Id") {
		case "1000002":
			http.Error(w, "no", http.StatusInternalServerError)
		case "1000003":
			panic(http.ErrAbortHandler)
		case "1000004":
			time.Sleep(2 * timeout)
		}
	}))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).Port

	rowsFile := filepath.Join(t.TempDir(), "rows.jsonl")
	runClient(t, python, port, rowsFile, "--requests", "5", "--warmup", "0", "--timeout", "0.5", "--rate", "100")
	rows := readRows(t, rowsFile)
	want := []row{
		{Status: 200}, {Status: 500}, {Error: "the service closed the connection"}, {Error: "timeout"}, {Status: 200},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, r := range rows {
		if r.ID != uint64(firstID+i) || r.Status != want[i].Status || r.Error != want[i].Error {
			t.Errorf("row %d: %+v, want status %d, error %q", i, r, want[i].Status, want[i].Error)
		}
		if r.Intended == 0 || r.Send < r.Intended || r.Recv < r.Send {
			t.Errorf("row %d: times out of order: %+v", i, r)
		}
	}
	if got := time.Duration(rows[3].Recv - rows[3].Send); got < timeout {
		t.Errorf("the request that timed out counts with %v, want at least the timeout, %v", got, timeout)
	}
	if late := rows[4].Send - rows[4].Intended; late < int64(timeout)/2 {
		t.Errorf("the request behind it is %d ns late, want its wait to show", late)
	}
}

func TestClientSaysThatThereIsNoService(t *testing.T) {
	python := needPython(t)
	rowsFile := filepath.Join(t.TempDir(), "rows.jsonl")
	out, err := exec.Command(python, "client.py", "--port", "1", "--rows", rowsFile).CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "client: ") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("error %v, output %q; want one line from the client", err, out)
	}
}

func runClient(t *testing.T, python string, port int, rows string, args ...string) {
	t.Helper()
	args = append([]string{"client.py", "--port", strconv.Itoa(port), "--rows", rows}, args...)
	if out, err := exec.Command(python, args...).CombinedOutput(); err != nil {
		t.Fatalf("run the client: %v\n%s", err, out)
	}
}

type row struct {
	ID       uint64
	Send     int64 `json:"send_ns"`
	Recv     int64 `json:"recv_ns"`
	Intended int64 `json:"intended_ns"`
	Status   int
	Error    string
	Warmup   bool
}

func readRows(t *testing.T, path string) (rows []row) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var r row
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}
