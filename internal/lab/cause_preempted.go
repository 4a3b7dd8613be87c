package lab

// preemptedCause wakes the hog in the middle of a request: it has priority, so
// the service loses the CPU at once and stays runnable.
var preemptedCause = cause{
	name:     "preempted",
	runnable: true,
	natural:  true,
	missing:  needRealtime,
	service: func(*service) (serviceSide, error) {
		return serviceSide{inject: func(_ *thread, ns int64) (did, error) {
			return did{1, "hog on the CPU"}, order{spin: ns}.send(serviceHog)
		}}, nil
	},
}
