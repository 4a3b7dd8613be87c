package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// save writes the rows and the truth, once the load is over.
func (c *client) save() error {
	type line struct {
		ID     uint64 `json:"id"`
		Send   int64  `json:"send_ns"`
		Recv   int64  `json:"recv_ns"`
		Status int    `json:"status"`
		Error  string `json:"error"`
		Warmup bool   `json:"warmup"`
		Run    string `json:"run"`
	}
	var rows []any
	for i, r := range c.rows {
		if i >= warmUps && r.recv != 0 {
			rows = append(rows, line{ID: uint64(i) + firstID, Send: r.send, Recv: r.recv,
				Status: 200, Warmup: r.warmup, Run: "lab"})
		}
	}
	if err := writeLines(filepath.Join(c.setup.Plan.Dir, rowsFile), rows); err != nil {
		return fmt.Errorf("save the rows: %w", err)
	}
	var truth []any
	for _, t := range c.truth {
		truth = append(truth, t)
	}
	if err := writeLines(filepath.Join(c.setup.Plan.Dir, truthFile), truth); err != nil {
		return fmt.Errorf("save the truth: %w", err)
	}
	return nil
}

func writeLines(path string, values []any) (err error) {
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
