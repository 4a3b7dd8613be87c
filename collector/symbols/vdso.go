package symbols

import (
	"bytes"
	"os"
)

const maxVDSO = 64 << 10

// readVDSO reads the vDSO out of this process: the kernel maps the same pages
// into all of the same word size.
func readVDSO() (*image, []byte) {
	list, err := readMaps("/proc/self")
	if err != nil {
		return nil, nil
	}
	for _, m := range list {
		if m.path != vdsoName || m.end-m.start > maxVDSO {
			continue
		}
		mem, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, nil
		}
		defer mem.Close()
		raw := make([]byte, m.end-m.start)
		if _, err := mem.ReadAt(raw, int64(m.start)); err != nil {
			return nil, nil
		}
		if img, err := readImage(bytes.NewReader(raw)); err == nil {
			return img, raw
		}
	}
	return nil, nil
}

const vdsoName = "[vdso]"
