package lab

import "sync/atomic"

// mutex is a lock as glibc's pthread_mutex_t keeps it in memory (its first 16
// bytes, of an ordinary private mutex), futex calls included: a tracer that
// is given the address of lock finds the holder's thread id 8 bytes further.
// Go's own sync.Mutex parks goroutines instead of threads.
type mutex struct {
	lock  uint32 // 0 free, 1 held, 2 held and waited for
	_     uint32 // how often a recursive mutex is held
	owner int32
	users uint32
}

// acquire blocks the calling thread, whose id is tid, until it has the lock.
func (m *mutex) acquire(tid int) {
	if !atomic.CompareAndSwapUint32(&m.lock, 0, 1) {
		for atomic.SwapUint32(&m.lock, 2) != 0 {
			futexWait(&m.lock, 2)
		}
	}
	atomic.StoreInt32(&m.owner, int32(tid))
	atomic.AddUint32(&m.users, 1)
}

func (m *mutex) release() {
	atomic.StoreInt32(&m.owner, 0)
	atomic.AddUint32(&m.users, ^uint32(0))
	if atomic.SwapUint32(&m.lock, 0) == 2 {
		futexWake(&m.lock)
	}
}

// held reports whether a thread has the lock.
func (m *mutex) held() bool { return atomic.LoadInt32(&m.owner) != 0 }

// condition is a condition variable with its mutex and what it is about.
type condition struct {
	mutex
	seq  uint32 // goes up with every signal; waiters sleep on it
	done bool
}

// wait blocks the calling thread until it is done, and makes it
// undone again.
func (c *condition) wait(tid int) {
	c.acquire(tid)
	for !c.done {
		seq := atomic.LoadUint32(&c.seq)
		c.release()
		futexWaitBitset(&c.seq, seq)
		c.acquire(tid)
	}
	c.done = false
	c.release()
}

func (c *condition) signal(tid int) {
	c.acquire(tid)
	c.done = true
	c.release()
	atomic.AddUint32(&c.seq, 1)
	futexWake(&c.seq)
}
