package vmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Cache is the folder that keeps kernels between runs. It is made when it is
// needed, and may be removed at any time.
type Cache string

// Fetch makes sure that k is in the cache, and returns its release, as
// uname -r gives it.
func (c Cache) Fetch(k Kernel) (release string, err error) {
	_, release, err = c.image(k)
	return release, err
}

const imagePrefix = "vmlinuz-"

// image returns the path of k in the cache, where it is put first if need be.
func (c Cache) image(k Kernel) (path, release string, err error) {
	dir, err := filepath.Abs(filepath.Join(string(c), k.Name()))
	if err != nil {
		return "", "", err
	}
	pattern := filepath.Join(dir, imagePrefix+"*")
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", "", err
	}
	if len(found) == 0 {
		if err := fetch(k, dir); err != nil {
			return "", "", fmt.Errorf("fetch kernel %s: %w", k.Name(), err)
		}
		if found, err = filepath.Glob(pattern); err != nil {
			return "", "", err
		}
	}
	if len(found) != 1 {
		return "", "", fmt.Errorf("find kernel %s: %d images in %s, want 1", k.Name(), len(found), dir)
	}
	release = strings.TrimPrefix(filepath.Base(found[0]), imagePrefix)
	if !k.is(release) {
		return "", "", fmt.Errorf("find kernel %s: Debian's %s has %s", k.Name(), k.Suite, release)
	}
	return found[0], release, nil
}

// fetch puts k's image into dir. It appears there whole or not at all.
func fetch(k Kernel, dir string) error {
	work := filepath.Join(dir, "fetch")
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	a, err := newApt(work, k.Suite, k.Arch)
	if err != nil {
		return err
	}
	// Modules may come in a package of their own, which is not needed.
	names, err := a.resolve("linux-image-cloud-"+k.Arch, "linux-image-", "linux-binary-")
	if err != nil {
		return err
	}
	unpacked := filepath.Join(work, "unpacked")
	if err := a.unpack(unpacked, names...); err != nil {
		return err
	}
	image, release, err := findImage(unpacked)
	if err != nil {
		return err
	}
	return os.Rename(image, filepath.Join(dir, imagePrefix+release))
}

// findImage finds the kernel in its unpacked packages: in /boot, or, since
// Debian's 6.19, beside its modules.
func findImage(dir string) (path, release string, err error) {
	for _, pattern := range []string{"boot/vmlinuz-*", "usr/lib/modules/*/vmlinuz"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", "", err
		}
		if len(found) != 1 {
			continue
		}
		release, ok := strings.CutPrefix(filepath.Base(found[0]), "vmlinuz-")
		if !ok {
			release = filepath.Base(filepath.Dir(found[0]))
		}
		return found[0], release, nil
	}
	return "", "", fmt.Errorf("find the image in %s: its packages have none, or several", dir)
}
