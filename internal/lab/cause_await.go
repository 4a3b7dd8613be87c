package lab

// awaitCause has the request wait for something outside while its thread is
// free for others: by turns a late answer of the peer and a timer. Only the
// event loop can do that; see service.py.
var awaitCause = cause{
	name:    "await",
	natural: true, // the event loop's timers are a millisecond coarse
}
