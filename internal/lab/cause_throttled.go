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

// useUpQuota gives up the thread's priority until it has been away for half of
// ns. Where others had the CPU meanwhile, rather than nobody for want of quota,
// that came to nothing.
func useUpQuota(t *thread, m *throttleMeter, ns int64) (did, error) {
	begin := now()
	if err := setOrdinary(); err != nil {
		return did{}, err
	}
	var throttled int64
	for away := int64(0); away < ns/2; {
		gap, is, err := waitThrottled(t, m)
		if err != nil {
			return did{}, err
		}
		away += gap
		if is {
			throttled += gap
		}
	}
	if err := setRealtime(0, rankLoad); err != nil {
		return did{}, err
	}
	if float64(throttled) < 0.6*float64(now()-begin) {
		return did{}, nil
	}
	return did{1, "quota used up"}, nil
}

// waitThrottled works until the thread has been away once, and reports for how
// long and whether for want of quota.
func waitThrottled(t *thread, m *throttleMeter) (gap int64, is bool, err error) {
	if gap, err = t.workUntilAway(now(), 1); err != nil {
		return 0, false, err
	}
	is, err = m.throttled()
	return gap, is, err
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
	const enough = 300_000 // ns
	for throttled := 0; throttled < 3; {
		gap, is, err := waitThrottled(t, m)
		if err != nil {
			return err
		}
		if is {
			throttled++
		} else if gap > enough {
			break
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
