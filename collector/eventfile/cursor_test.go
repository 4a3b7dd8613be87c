package eventfile

import (
	"math"
	"testing"
)

func TestCursorStaysInsideItsBytes(t *testing.T) {
	larger := []byte{1, 2, 0x83, 4, 5}
	for _, n := range []uint64{0, 1, 2, 3, 4, 5, 6, math.MaxInt64, math.MaxUint64} {
		c := cursor{buf: larger[:3]}
		b := c.bytes(n)
		if ok := n <= 3; c.failed == ok || ok && uint64(len(b)) != n || !ok && b != nil {
			t.Errorf("%d bytes of 3: %v, failed %v", n, b, c.failed)
		}
	}
	c := cursor{buf: larger[:3]}
	if a, b, cut := c.uvarint(), c.uvarint(), c.uvarint(); a != 1 || b != 2 || cut != 0 || !c.failed || c.off != 2 {
		t.Errorf("numbers %d, %d, %d; %+v", a, b, cut, c)
	}
	if c.uvarint() != 0 || c.varint() != 0 || c.bytes(1) != nil || c.len() != 0 {
		t.Error("a cursor reads on after it failed")
	}
}

func TestZigzagKeepsEveryNumber(t *testing.T) {
	for _, v := range []int64{0, -1, 1, -2, 63, -64, math.MaxInt64, math.MinInt64} {
		if got := unzigzag(zigzag(v)); got != v {
			t.Errorf("%d became %d", v, got)
		}
	}
	if zigzag(-1) != 1 || zigzag(1) != 2 {
		t.Error("small numbers do not stay small")
	}
}
