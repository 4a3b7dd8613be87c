package symbols

import (
	"bytes"
	"encoding/binary"
	"runtime"
)

// The kernel walks a program's stack along frame pointers. Through a function
// that sets none up, such as most of a C library's, the walk goes on where the
// pointer happens to lead: at best to the caller's caller. So the code is asked
// whether a step can be believed.

// codeWindow is how many bytes of a function are searched for the code that
// sets up its frame.
const codeWindow = 128

// longestCall is the most bytes before where a call returns to that tell it.
const longestCall = 8

// isa answers questions about machine code.
type isa interface {
	// framed reports whether code, a function from its start to where it
	// is, has set up its frame pointer.
	framed(code []byte) bool
	// returning reports whether code, what the function is about to do,
	// comes when the frame is gone already.
	returning(code []byte) bool
	// call reports whether code, which ends where a call returns to, ends
	// with one, and its target if the code says it. at is the address of
	// the end.
	call(code []byte, at uint64) (isCall bool, target uint64)
	// calls reports whether code, which is at an address, has a call of
	// target, or a jump there as the last thing it does.
	calls(code []byte, at, target uint64) bool
}

func hostISA() isa {
	if runtime.GOARCH == "arm64" {
		return arm64{}
	}
	return amd64{}
}

type amd64 struct{}

func (amd64) framed(code []byte) bool {
	// push rbp; mov rbp, rsp in one of its two encodings. Go puts other
	// instructions around them.
	for _, mov := range [][]byte{{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}} {
		if i := bytes.Index(code, mov); i > 0 && bytes.IndexByte(code[:i], 0x55) >= 0 {
			return true
		}
	}
	return goFramed(code)
}

// goFramed finds push rbp, and lea rbp, [rsp+n], as older versions of Go do.
func goFramed(code []byte) bool {
	return bytes.Contains(code, []byte{0x48, 0x8d, 0x6c, 0x24}) || bytes.Contains(code, []byte{0x48, 0x8d, 0xac, 0x24})
}

func (amd64) returning(code []byte) bool {
	return len(code) > 0 && (code[0] == 0xc3 || code[0] == 0xc2)
}

func (amd64) call(code []byte, at uint64) (bool, uint64) {
	n := len(code)
	if n >= 5 && code[n-5] == 0xe8 {
		return true, at + uint64(int64(int32(binary.LittleEndian.Uint32(code[n-4:]))))
	}
	// call r/m64: FF /2 with 2 to 7 bytes, REX in front or not.
	for length := 2; length <= 7 && length <= n; length++ {
		if code[n-length] == 0xff && code[n-length+1]>>3&7 == 2 {
			return true, 0
		}
	}
	return false, 0
}

func (amd64) calls(code []byte, at, target uint64) bool {
	for i := range max(len(code)-4, 0) {
		if code[i]&0xfe == 0xe8 && at+uint64(i)+5+uint64(int64(int32(binary.LittleEndian.Uint32(code[i+1:])))) == target {
			return true
		}
	}
	return false
}

type arm64 struct{}

func (arm64) framed(code []byte) bool {
	for ; len(code) >= 4; code = code[4:] {
		i := binary.LittleEndian.Uint32(code)
		switch {
		case i&0xff407fff == 0xa9007bfd: // stp x29, x30, [sp, ...]
			return true
		case i&0xffe00fff == 0xf8000ffe: // str x30, [sp, ...]!, as Go does
			return true
		}
	}
	return false
}

func (arm64) returning(code []byte) bool {
	return len(code) >= 4 && binary.LittleEndian.Uint32(code) == 0xd65f03c0
}

func (arm64) call(code []byte, at uint64) (bool, uint64) {
	if len(code) < 4 {
		return false, 0
	}
	i := binary.LittleEndian.Uint32(code[len(code)-4:])
	if i>>26 == 0x25 { // bl
		return true, at - 4 + uint64(int64(int32(i<<6))>>4)
	}
	return i&0xfffff000 == 0xd63f0000 || i&0xfffff000 == 0xd73f0000, 0 // blr, and with pointer authentication
}

func (arm64) calls(code []byte, at, target uint64) bool {
	for i := 0; i+4 <= len(code); i += 4 {
		insn := binary.LittleEndian.Uint32(code[i:])
		if insn>>26&0x1f == 5 && at+uint64(i)+uint64(int64(int32(insn<<6))>>4) == target { // b, bl
			return true
		}
	}
	return false
}
