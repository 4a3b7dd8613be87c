package lab

// gcCause stands still in the middle of a request for what the service
// publishes as a span of its runtime, as a collector does that stops the
// world.
var gcCause = cause{
	name: "gc",
	service: func(s *service) (serviceSide, error) {
		span := s.ring.Name("gc")
		return serviceSide{inject: func(ns int64) (did, error) {
			begin := now()
			s.worker.work(ns)
			s.ring.Span(span, begin, now())
			return did{1, "span"}, nil
		}}, nil
	},
}
