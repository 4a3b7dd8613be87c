// Package collector records a running process: it loads and attaches the
// kernel programs, drains their rings, follows the service's request ring,
// samples the machine, and writes it all to an events file.
package collector
