package eventfile

// descriptorCalls are the system calls that can block for the file behind
// their first argument, and for nothing else.
var descriptorCalls = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range []string{
		"read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2",
		"fsync", "fdatasync", "syncfs", "sync_file_range", "ftruncate", "fallocate", "flock", "fcntl", "getdents64",
		"recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg", "connect", "accept", "accept4", "ioctl",
	} {
		m[name] = true
	}
	return m
}()

// IsDescriptorCall reports whether a thread that blocks in the named system
// call waits for the file whose descriptor is the call's first argument. A
// poll waits for many, and sendfile for either of two.
func IsDescriptorCall(name string) bool { return descriptorCalls[name] }
