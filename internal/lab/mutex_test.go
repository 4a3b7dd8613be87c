package lab

import (
	"testing"
	"unsafe"
)

func TestMutexKeepsTheHolderWhereGlibcDoes(t *testing.T) {
	var m mutex
	if got := unsafe.Offsetof(m.owner) - unsafe.Offsetof(m.lock); got != 8 {
		t.Errorf("the owner is %d bytes from the lock word, want 8", got)
	}
	m.acquire(42)
	if m.lock != 1 || m.owner != 42 || m.users != 1 || !m.held() {
		t.Errorf("held by 42: %+v", m)
	}
	m.release()
	if m != (mutex{}) {
		t.Errorf("released: %+v, want all zero", m)
	}
}
