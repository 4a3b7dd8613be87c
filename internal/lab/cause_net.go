package lab

import (
	"os"
)

// netCause asks the peer something that it answers late, and waits for it by
// turns in recvfrom and in ppoll.
var netCause = cause{
	name: "net",
	service: func(*service) (serviceSide, error) {
		turn := 0
		answer := make([]byte, answerBytes)
		return serviceSide{inject: func(ns int64) (did, error) {
			if err := (favour{what: answerLate, pid: os.Getpid(), ns: ns}).ask(); err != nil {
				return did{}, err
			}
			what := "recvfrom"
			if turn++; turn%2 == 0 {
				what = "ppoll"
				if err := rawPoll(servicePeer); err != nil {
					return did{}, err
				}
			}
			return did{1, what}, rawRecv(servicePeer, answer)
		}}, nil
	},
}
