package lab

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestScheduleGivesEachRequestOneCauseAndRoomAround(t *testing.T) {
	plan, err := Plan{Dir: ".", Seed: 7}.complete()
	if err != nil {
		t.Fatal(err)
	}
	got := plan.schedule()
	if want := len(plan.Causes) * plan.PerCause; len(got) != want {
		t.Fatalf("%d injections, want %d", len(got), want)
	}
	count := map[string]int{}
	for i, in := range got {
		count[in.cause.name]++
		if in.index < 0 || in.index >= plan.Requests {
			t.Errorf("index %d is outside of the run", in.index)
		}
		if i > 0 && in.index-got[i-1].index < spacing {
			t.Errorf("requests %d and %d are too close", got[i-1].index, in.index)
		}
		if d := time.Duration(in.amount); d < plan.Min || d > plan.Max {
			t.Errorf("injection of %v is outside of %v to %v", d, plan.Min, plan.Max)
		}
	}
	for _, name := range plan.Causes {
		if count[name] != plan.PerCause {
			t.Errorf("%s is injected %d times, want %d", name, count[name], plan.PerCause)
		}
	}
	if !reflect.DeepEqual(got, plan.schedule()) {
		t.Error("the same plan gave another schedule")
	}
	plan.Seed = 8
	if reflect.DeepEqual(got, plan.schedule()) {
		t.Error("another seed gave the same schedule")
	}
}

func TestPlanRejects(t *testing.T) {
	for _, tc := range []struct {
		name string
		plan Plan
		want string
	}{
		{"no directory", Plan{}, "no directory"},
		{"an unknown cause", Plan{Dir: ".", Causes: []string{"gremlins"}}, `no cause is named "gremlins"`},
		{"an unknown shape", Plan{Dir: ".", Shape: "blob"}, `no service has the shape "blob"`},
		{"a cause of another shape", Plan{Dir: ".", Shape: Asyncio, Causes: []string{"io"}}, "asyncio cannot have the cause io"},
		{"too few requests", Plan{Dir: ".", Requests: 100}, "100 requests are too few"},
		{"an empty range", Plan{Dir: ".", Min: time.Second}, "empty range"},
		{"a negative gap", Plan{Dir: ".", Gap: -1}, "negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.plan.complete()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestLeaveOutTellsWhy(t *testing.T) {
	plan, err := Plan{Dir: "/dev/shm", Causes: []string{"io", "sleep"}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	left := plan.leaveOut()
	if len(left) != 1 || left[0].Cause != "io" || !strings.Contains(left[0].Why, "in memory") {
		t.Errorf("left out %+v, want io because of the memory file system", left)
	}
	if !reflect.DeepEqual(plan.Causes, []string{"sleep"}) {
		t.Errorf("causes that remain: %v, want sleep alone", plan.Causes)
	}
}
