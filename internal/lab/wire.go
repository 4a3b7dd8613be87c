package lab

import (
	"bytes"
	"encoding/binary"
)

// Requests and answers are of one size each, so that a read of that size is
// one message. service.py knows them too.
const (
	requestBytes = 32
	replyBytes   = 96
)

type request struct {
	id     uint64
	cause  int    // index into causes, or noCause
	amount int64  // ns to inject; without a cause, ns of more work
	shard  uint64 // requests of one shard go to one worker of a pool
}

const noCause = -1

func (r request) encode(b []byte) {
	binary.LittleEndian.PutUint64(b, r.id)
	binary.LittleEndian.PutUint64(b[8:], uint64(r.cause))
	binary.LittleEndian.PutUint64(b[16:], uint64(r.amount))
	binary.LittleEndian.PutUint64(b[24:], r.shard)
}

func decodeRequest(b []byte) request {
	return request{
		id:     binary.LittleEndian.Uint64(b),
		cause:  int(binary.LittleEndian.Uint64(b[8:])),
		amount: int64(binary.LittleEndian.Uint64(b[16:])),
		shard:  binary.LittleEndian.Uint64(b[24:]),
	}
}

type reply struct {
	id   uint64
	took int64 // ns that the injection took; 0 = it cannot be seen by the service
	sent int64 // when the service sent it
	// ahead is for how long the thread waited for the CPU since its answer
	// before, ns: some of it perhaps when it had this request already.
	ahead int64
	did   did
	usage
}

func (r reply) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, r.id)
	le.PutUint64(b[8:], uint64(r.took))
	le.PutUint32(b[16:], r.minor)
	le.PutUint32(b[20:], r.major)
	le.PutUint32(b[24:], r.voluntary)
	le.PutUint32(b[28:], r.involuntary)
	le.PutUint64(b[32:], uint64(r.cpu))
	le.PutUint64(b[40:], uint64(r.waited))
	le.PutUint64(b[48:], uint64(r.sent))
	le.PutUint64(b[56:], uint64(r.ahead))
	le.PutUint32(b[64:], uint32(r.did.count))
	clear(b[68:])
	copy(b[68:], r.did.what)
}

func decodeReply(b []byte) reply {
	le := binary.LittleEndian
	what, _, _ := bytes.Cut(b[68:], []byte{0})
	return reply{
		id:   le.Uint64(b),
		took: int64(le.Uint64(b[8:])),
		sent: int64(le.Uint64(b[48:])), ahead: int64(le.Uint64(b[56:])),
		did: did{count: int(le.Uint32(b[64:])), what: string(what)},
		usage: usage{
			minor:       le.Uint32(b[16:]),
			major:       le.Uint32(b[20:]),
			voluntary:   le.Uint32(b[24:]),
			involuntary: le.Uint32(b[28:]),
			cpu:         int64(le.Uint64(b[32:])),
			waited:      int64(le.Uint64(b[40:])),
		},
	}
}
