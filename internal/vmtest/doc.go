// Package vmtest runs programs and tests inside virtual machines, on the
// kernels and architectures that users have and this machine has not. QEMU
// emulates the processor, so that no hardware support is needed: what happens
// is right, how long it takes means nothing.
//
// A guest has one of Debian's own kernels, taken from its packages, and an
// initial file system made for the one run: a small init, the program, its
// files. It runs as root, with an ext4 disk of its own at /var/tmp, no network
// but the loopback, no shell, no compiler and no Python.
package vmtest
