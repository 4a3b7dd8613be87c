package lab

// gcCause stands still in the middle of a request for what the service
// publishes as a span of its runtime, as a collector does that stops the
// world. The Python service has its collector really do it.
var gcCause = cause{
	name:  "gc",
	onCPU: true,
	service: func(s *service) (serviceSide, error) {
		span := s.ring.Name("gc")
		return serviceSide{inject: func(t *thread, ns int64) (did, error) {
			begin := now()
			t.worker.work(ns)
			s.ring.Span(span, begin, now())
			return did{1, "span"}, nil
		}}, nil
	},
}
