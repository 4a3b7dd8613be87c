// Package python carries the Python publisher, so that a Go program can bring
// it along for a service that it starts.
package python

import _ "embed"

// Source is tailtrace_ring.py.
//
//go:embed tailtrace_ring.py
var Source []byte
