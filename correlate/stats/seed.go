package stats

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// seeded makes the random numbers of a resampling from the data itself: the
// PCG generator of math/rand/v2, seeded with the first two little-endian words
// of the SHA-256 of the purpose and the values as little-endian 64-bit
// integers. Everybody who has the rows gets the same numbers.
func seeded(purpose string, values []int64) *rand.Rand {
	hash := sha256.New()
	hash.Write([]byte(purpose))
	var buffer [8 * 512]byte
	for len(values) > 0 {
		n := min(len(values), len(buffer)/8)
		for i, v := range values[:n] {
			binary.LittleEndian.PutUint64(buffer[8*i:], uint64(v))
		}
		hash.Write(buffer[:8*n])
		values = values[n:]
	}
	sum := hash.Sum(nil)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}
