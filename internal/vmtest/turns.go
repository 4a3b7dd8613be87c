package vmtest

import "time"

// A Turn is some requests on one CPU, after CPUs have gone or come.
type Turn struct {
	Changes []CPUChange
	Wait    time.Duration // from the changes to the requests
	CPU     int
}

// CPUChange takes a CPU away or brings it back.
type CPUChange struct {
	CPU    int
	Online bool
}

// Turns is what plugjob does, in a guest with four CPUs. Its recording begins
// after the changes of the first turn.
var Turns = []Turn{
	{Changes: []CPUChange{{1, false}, {2, false}}, CPU: 0},
	{CPU: 3},
	{Changes: []CPUChange{{2, true}}, Wait: time.Second, CPU: 2},
	{Changes: []CPUChange{{3, false}}, Wait: time.Second, CPU: 2},
	{Changes: []CPUChange{{3, true}}, Wait: time.Second, CPU: 3},
	{Changes: []CPUChange{{3, false}, {3, true}}, CPU: 3},
}

// TurnRequests is how many requests a Turn has; their ids count on from 1.
const TurnRequests = 40
