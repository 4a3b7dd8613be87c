package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"os"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// saveResults writes the files of a folder to the disk for results, as a tar
// archive.
func saveResults(dir string) (err error) {
	device, err := findDisk(vmtest.ResultsDisk)
	if err != nil {
		return err
	}
	disk, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.Sync(), disk.Close()) }()
	w := tar.NewWriter(disk)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		return fmt.Errorf("save results: %w", err)
	}
	return w.Close()
}
