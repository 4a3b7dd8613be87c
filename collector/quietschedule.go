package collector

import (
	"strconv"
	"strings"
	"time"
)

// schedule is when a cron job runs: a set of values for each field.
type schedule struct {
	minute, hour, day, month, weekday uint64 // bit n: the value n
	anyDay, anyWeekday                bool   // the field is a star; see matches
}

var (
	cronNicknames = map[string]string{
		"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
		"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
	}
	monthNames   = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")
	weekdayNames = strings.Fields("sun mon tue wed thu fri sat")
)

// parseSchedule reads the five fields of a crontab's line, or its nickname;
// @reboot has no time.
func parseSchedule(fields []string) (s schedule, ok bool) {
	if len(fields) == 1 {
		fields = strings.Fields(cronNicknames[strings.ToLower(fields[0])])
	}
	if len(fields) != 5 {
		return s, false
	}
	s.anyDay, s.anyWeekday = strings.HasPrefix(fields[2], "*"), strings.HasPrefix(fields[4], "*")
	for i, f := range []struct {
		set       *uint64
		low, high int
		names     []string
	}{
		{&s.minute, 0, 59, nil}, {&s.hour, 0, 23, nil}, {&s.day, 1, 31, nil}, {&s.month, 1, 12, monthNames}, {&s.weekday, 0, 7, weekdayNames},
	} {
		if *f.set, ok = parseCronField(strings.ToLower(fields[i]), f.low, f.high, f.names); !ok {
			return s, false
		}
	}
	if s.weekday&(1<<7) != 0 { // Sunday has two numbers
		s.weekday |= 1
	}
	return s, true
}

// parseCronField reads a list of values, ranges and stars, each with a step.
func parseCronField(text string, low, high int, names []string) (set uint64, ok bool) {
	for item := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(item, "/")
		every := 1
		if stepped {
			n, err := strconv.Atoi(step)
			if err != nil || n < 1 {
				return 0, false
			}
			every = n
		}
		from, to := low, high
		if span != "*" {
			first, last, isRange := strings.Cut(span, "-")
			if from, ok = cronValue(first, low, names); !ok {
				return 0, false
			}
			switch {
			case isRange:
				if to, ok = cronValue(last, low, names); !ok {
					return 0, false
				}
			case !stepped:
				to = from
			}
		}
		if from < low || to > high || from > to {
			return 0, false
		}
		for v := from; v <= to; v += every {
			set |= 1 << v
		}
	}
	return set, true
}

// cronValue reads a number or a name; names count from low.
func cronValue(text string, low int, names []string) (int, bool) {
	for i, name := range names {
		if text == name {
			return low + i, true
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// matches reports whether the job runs in t's minute. Where day and weekday are
// both restricted, either is enough, as cron has it.
func (s *schedule) matches(t time.Time) bool {
	has := func(set uint64, v int) bool { return set&(1<<v) != 0 }
	day, weekday := has(s.day, t.Day()), has(s.weekday, int(t.Weekday()))
	onDay := day && weekday
	if !s.anyDay && !s.anyWeekday {
		onDay = day || weekday
	}
	return onDay && has(s.minute, t.Minute()) && has(s.hour, t.Hour()) && has(s.month, int(t.Month()))
}

// longestAhead bounds how far a schedule is looked into.
const longestAhead = 7 * 24 * time.Hour

// next is the first minute after now, and within the time, in which the job
// runs.
func (s *schedule) next(now time.Time, within time.Duration) (time.Time, bool) {
	end := now.Add(min(within, longestAhead))
	for t := now.Truncate(time.Minute).Add(time.Minute); t.Before(end); t = t.Add(time.Minute) {
		if s.matches(t) {
			return t, true
		}
	}
	return time.Time{}, false
}
