package lab

import "errors"

// throttledCause makes the service an ordinary process for as long as it takes
// to use up its cgroup's quota and wait for the next.
var throttledCause = cause{
	name:     "throttled",
	runnable: true,
	rest:     atRest,
	missing: func(p *Plan) error {
		if p.Exposed {
			return errors.New("an exposed service would be throttled all the time")
		}
		q, err := newQuota()
		if err != nil {
			return err
		}
		return errors.Join(p.try("quota", setup{Quota: q.dir}), q.remove())
	},
	service: func(s *service) (serviceSide, error) {
		// The service is shielded: the quota is for the one thread that gives
		// that up.
		meter, err := newThrottleMeter(s.setup.Quota)
		if err != nil {
			return serviceSide{}, err
		}
		return serviceSide{
			inject: func(t *thread, ns int64) (did, error) { return useUpQuota(t, meter, ns) },
			after:  func(t *thread) error { return payDebt(t, meter) },
		}, nil
	},
}

func useUpQuota(t *thread, m *throttleMeter, ns int64) (did, error) {
	begin := now()
	before, err := m.read()
	if err != nil {
		return did{}, err
	}
	if err := setOrdinary(); err != nil {
		return did{}, err
	}
	if err := t.workUntilAway(begin, ns/2); err != nil {
		return did{}, err
	}
	if err := setRealtime(0, rankLoad); err != nil {
		return did{}, err
	}
	after, err := m.read()
	if err != nil || float64(after-before) < 0.6*float64(now()-begin) {
		return did{}, err // others had the CPU: it was not the quota
	}
	return did{1, "quota used up"}, nil
}

// atRest is how long, ns, payDebt takes at most, and more.
const atRest = 150_000_000

// payDebt waits as an ordinary process until others have had the CPU. A process
// that has had more than its share goes behind them when it comes back, and the
// next injection would begin with that. Where nobody else wants the CPU the
// quota ends the wait, a few times.
func payDebt(t *thread, m *throttleMeter) error {
	if err := setOrdinary(); err != nil {
		return err
	}
	const gap = 300_000 // ns
	for range 3 {
		before, err := m.read()
		if err != nil {
			return err
		}
		if err := t.workUntilAway(now(), gap); err != nil {
			return err
		}
		if after, err := m.read(); err != nil || after-before < gap/2 {
			return errors.Join(err, setRealtime(0, rankLoad))
		}
	}
	return setRealtime(0, rankLoad)
}

// tryQuota does what the service does with a quota, which not every kernel
// allows.
func tryQuota(cfg setup) error {
	if err := joinQuota(cfg.Quota); err != nil {
		return err
	}
	return setRealtime(0, rankLoad)
}
