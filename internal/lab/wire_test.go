package lab

import "testing"

func TestWireRoundTrip(t *testing.T) {
	for _, req := range []request{
		{},
		{id: 1<<64 - 1, cause: noCause, amount: -1},
		{id: 7, cause: 3, amount: 4_000_000, shard: 9},
	} {
		b := make([]byte, requestBytes)
		req.encode(b)
		if got := decodeRequest(b); got != req {
			t.Errorf("request %+v came back as %+v", req, got)
		}
	}
	b := make([]byte, replyBytes)
	for _, ans := range []reply{
		{id: 9, took: 5, sent: 7, ahead: 8, did: did{2, "hog ahead of the request"}, usage: usage{1, 2, 3, 4, 5, 6}},
		{}, // leaves nothing of the one before
	} {
		ans.encode(b)
		if got := decodeReply(b); got != ans {
			t.Errorf("reply %+v came back as %+v", ans, got)
		}
	}
}
