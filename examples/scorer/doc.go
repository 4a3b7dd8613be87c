// Package scorer has no Go code of its own: the scorer is a Python service,
// and this directory tests it as a whole. See README.md.
package scorer
