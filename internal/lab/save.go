package lab

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// rowLine is a row in its canonical form.
type rowLine struct {
	ID     uint64 `json:"id"`
	Send   int64  `json:"send_ns"`
	Recv   int64  `json:"recv_ns"`
	Status int    `json:"status"`
	Error  string `json:"error"`
	Warmup bool   `json:"warmup"`
	Run    string `json:"run"`
}

// save writes the rows and the truth, once the load is over.
func (c *client) save() error {
	var rows []rowLine
	for i, r := range c.rows[warmUps:] {
		rows = append(rows, rowLine{ID: firstID + warmUps + uint64(i), Send: r.send, Recv: r.recv,
			Status: 200, Warmup: r.warmup, Run: "lab"})
	}
	slices.SortFunc(rows, func(a, b rowLine) int { return cmp.Compare(a.Send, b.Send) }) // see spare
	dir := c.setup.Plan.Dir
	if err := writeLines(filepath.Join(dir, rowsFile), rows); err != nil {
		return fmt.Errorf("save the rows: %w", err)
	}
	if err := writeLines(filepath.Join(dir, truthFile), c.truth); err != nil {
		return fmt.Errorf("save the truth: %w", err)
	}
	return nil
}

func writeLines[T any](path string, values []T) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return w.Flush()
}
