package lab

import "errors"

// throttledCause makes the service an ordinary process for as long as it takes
// to use up its cgroup's quota and wait for the next.
var throttledCause = cause{
	name: "throttled",
	rest: 2 * (debtPause + int64(quotaPeriod)),
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
			after:  payDebt,
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

// debtPause is time for others to have their share too, ns.
const debtPause = 2_000_000

// payDebt sleeps as an ordinary process, which makes up for having had more
// than its share. Otherwise the next time begins with waiting for the others.
func payDebt() error {
	if err := setOrdinary(); err != nil {
		return err
	}
	rawSleep(debtPause)
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
