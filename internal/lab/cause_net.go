package lab

// netCause asks the peer something that it answers late, and waits for it by
// turns in recvfrom and in ppoll.
var netCause = cause{
	name:    "net",
	blocked: true,
	service: func(*service) (serviceSide, error) {
		turn := 0
		answer := make([]byte, answerBytes)
		return serviceSide{inject: func(t *thread, ns int64) (did, error) {
			if err := t.ask(answerLate, ns); err != nil {
				return did{}, err
			}
			what := "recvfrom"
			if turn++; turn%2 == 0 {
				what = "ppoll"
				if _, err := rawPoll(servicePeer, -1); err != nil {
					return did{}, err
				}
			}
			return did{1, what}, rawRecv(servicePeer, answer)
		}}, nil
	},
}
