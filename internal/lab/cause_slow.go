package lab

// slowStepCause gives one step more to do and leaves the others alone.
var slowStepCause = cause{
	name:    "slow-step",
	natural: true,
	service: func(*service) (serviceSide, error) {
		return serviceSide{stretch: func(step int, ns int64) int64 {
			// By turns one of the two long steps.
			if slow := []string{"lookup", "predict"}[ns%2]; steps[step].name == slow {
				return ns
			}
			return 0
		}}, nil
	},
}

// slowCoreCause stretches every step alike, as a core does that has become
// slower.
var slowCoreCause = cause{
	name:    "slow-core",
	natural: true,
	service: func(*service) (serviceSide, error) {
		return serviceSide{stretch: func(step int, ns int64) int64 {
			return int64(steps[step].share * float64(ns))
		}}, nil
	},
}
