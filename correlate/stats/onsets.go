package stats

// onset is when a slow stretch began and how long it lasted, ns in the run.
type onset struct{ at, lasted int64 }

// quietRequests is how many requests outside the tail end a slow stretch.
const quietRequests = 10

// onsetsOf lists the beginnings whose rhythm is looked for: of the bursts,
// where four or more of them hold most of the tail, otherwise of every stretch
// of tail requests with fewer than quietRequests others between them.
func onsetsOf(tail []bool, elapsed []int64, bursts []Burst) []onset {
	inBursts := 0
	for _, b := range bursts {
		inBursts += b.Tail
	}
	members := indicesOf(tail)
	var onsets []onset
	if len(bursts) >= minOnsets && 2*inBursts >= len(members) {
		for _, b := range bursts {
			onsets = append(onsets, onset{elapsed[b.first], elapsed[b.last] - elapsed[b.first]})
		}
		return onsets
	}
	for i, index := range members {
		if n := len(onsets); n > 0 && index-members[i-1] <= quietRequests {
			onsets[n-1].lasted = elapsed[index] - onsets[n-1].at
			continue
		}
		onsets = append(onsets, onset{at: elapsed[index]})
	}
	return onsets
}
