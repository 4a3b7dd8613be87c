package timeline

import "slices"

// outOfQuota remembers when threads waited for a quota by the kernel's own word.
type outOfQuota struct{ waits []gap }

// counted is how far apart the counts of a cgroup's throttled time are.
const counted = Time(100e6)

func (q *outOfQuota) add(first, last Time) {
	q.waits = slices.DeleteFunc(q.waits, func(g gap) bool { return g.last < last-counted })
	q.waits = append(q.waits, gap{first, last})
}

// before sums the waits, ns, that were over at the given time and may be in the
// same count.
func (q *outOfQuota) before(at Time) (ns int64) {
	for _, g := range q.waits {
		if from := max(g.first, at-counted); from < g.last && g.last <= at {
			ns += int64(g.last - from)
		}
	}
	return ns
}
