package recheck

import "github.com/tailtrace/tailtrace/correlate/stats"

type attribute struct {
	Name      string  `json:"name"`
	TailShare float64 `json:"tail_share"`
	AllShare  float64 `json:"all_share"`
	Ratio     float64 `json:"ratio"`
	P         float64 `json:"p"`
	PShift    float64 `json:"p_shift"`
}

func attributes(tail []bool, flags []stats.Flag) []attribute {
	list := make([]attribute, len(flags))
	members := count(tail)
	for i, flag := range flags {
		both := 0
		for j, has := range flag.Has {
			both += one(has && tail[j])
		}
		with := count(flag.Has)
		a := attribute{Name: flag.Name, PShift: ShiftP(tail, flag.Has)}
		if members > 0 {
			a.TailShare, a.AllShare = float64(both)/float64(members), float64(with)/float64(len(tail))
		}
		if with > 0 && members > 0 {
			a.Ratio = float64(both) * float64(len(tail)) / (float64(members) * float64(with))
		}
		list[i] = a
	}
	for i := range list {
		list[i].P = discovery(list, list[i].PShift)
	}
	return list
}

// discovery is the smallest share of false discoveries among a list that holds
// p: of all cuts at p or above, tests times cut over the number below it.
func discovery(list []attribute, p float64) float64 {
	best := 1.0
	for _, cut := range list {
		if cut.PShift < p {
			continue
		}
		below := 0
		for _, other := range list {
			below += one(other.PShift <= cut.PShift)
		}
		best = min(best, cut.PShift*float64(len(list))/float64(below))
	}
	return best
}

func count(flags []bool) (n int) {
	for _, set := range flags {
		n += one(set)
	}
	return n
}

type step struct {
	Name       string `json:"name"`
	AllMedian  int64  `json:"all_median_ns"`
	TailMedian int64  `json:"tail_median_ns"`
	Furthest   int    `json:"furthest"`
}

func steps(tail []bool, all []stats.Step) []step {
	list := make([]step, len(all))
	for i, s := range all {
		var every, slow []int64
		for j, ns := range s.Ns {
			if ns >= 0 {
				every = append(every, ns)
				if tail[j] {
					slow = append(slow, ns)
				}
			}
		}
		list[i] = step{Name: s.Name, AllMedian: middle(every), TailMedian: middle(slow)}
	}
	for j, in := range tail {
		lead, most := -1, int64(0)
		for i, s := range all {
			if over := s.Ns[j] - list[i].AllMedian; in && s.Ns[j] >= 0 && over > most {
				lead, most = i, over
			}
		}
		if lead >= 0 {
			list[lead].Furthest++
		}
	}
	return list
}

func middle(values []int64) int64 { return atRank(values, nearestRank(len(values), 500)) }
