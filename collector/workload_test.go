package collector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func sleepOnce(say func(...any), wait func()) {
	before := now()
	nanosleep(300 * time.Millisecond)
	say(int64(before), int64(now()))
	wait()
}

// workAndSleep says how much CPU time it was charged.
func workAndSleep(say func(...any), wait func()) {
	before, cpuBefore := now(), readClock(unix.CLOCK_THREAD_CPUTIME_ID)
	for i := range 100 {
		spin(time.Duration(i%7) * time.Millisecond)
		nanosleep(time.Duration(i%3) * time.Millisecond)
	}
	cpu := readClock(unix.CLOCK_THREAD_CPUTIME_ID) - cpuBefore
	say(int64(before), int64(now()), cpu)
	wait()
}

// moveAbout works and sleeps on one CPU, then on the other, and says how much
// CPU time it was charged.
func moveAbout(say func(...any), wait func()) {
	before, cpuBefore := now(), readClock(unix.CLOCK_THREAD_CPUTIME_ID)
	for i := range 40 {
		pin(i % 2)
		spin(3 * time.Millisecond)
		nanosleep(2 * time.Millisecond)
	}
	cpu := readClock(unix.CLOCK_THREAD_CPUTIME_ID) - cpuBefore
	say(int64(before), int64(now()), cpu)
	wait()
}

// fallAsleep says a tid whose thread then sleeps for good.
func fallAsleep(say func(...any), wait func()) {
	onThread(func(tid int32) {
		say(tid)
		nanosleep(time.Hour)
	})
	wait()
}

// startThreads has an old thread, starts a new one, and a process.
func startThreads(say func(...any), wait func()) {
	work := make(chan bool)
	nap := func() {
		for range 3 {
			nanosleep(5 * time.Millisecond)
		}
	}
	old := make(chan int32)
	finish := onThread(func(tid int32) {
		old <- tid
		<-work
		nap()
	})
	oldTid := <-old
	say(oldTid)
	wait()
	close(work)
	finish()
	var newTid int32
	onThread(func(tid int32) {
		newTid = tid
		nap()
	})()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{napEnv + "=10ms"}
	if err := cmd.Run(); err != nil {
		panic(err)
	}
	say(newTid, cmd.Process.Pid)
	wait()
}

// startProcess has a child that sleeps.
func startProcess(say func(...any), wait func()) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{napEnv + "=1h"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	say(cmd.Process.Pid)
	wait()
	cmd.Process.Kill()
	cmd.Wait()
	say("done")
	wait()
}

// readPipe blocks in reads of a pipe that another process writes.
func readPipe(say func(...any), wait func()) {
	fd, err := strconv.Atoi(os.Getenv("TAILTRACE_TEST_FD"))
	if err != nil {
		panic(err)
	}
	buf := make([]byte, 1)
	for range 10 {
		if _, err := unix.Read(fd, buf); err != nil {
			panic(err)
		}
	}
	say("done")
	wait()
}

// touchPages takes minor faults, and says where and how many.
func touchPages(say func(...any), wait func()) {
	const pages, rounds = 256, 20
	size := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, pages*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err)
	}
	unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	var before, after unix.Rusage
	debug.SetGCPercent(-1)
	runtime.GC()
	var begin, end eventfile.Time
	touch := func(rounds int) {
		unix.Getrusage(unix.RUSAGE_THREAD, &before)
		begin = now()
		for range rounds {
			unix.Madvise(mem, unix.MADV_DONTNEED)
			for i := 0; i < len(mem); i += size {
				mem[i] = 1
			}
		}
		end = now()
		unix.Getrusage(unix.RUSAGE_THREAD, &after)
	}
	touch(1) // the program's own first faults
	touch(rounds)
	base := int64(uintptr(unsafe.Pointer(&mem[0])))
	say(int64(begin), int64(end), after.Minflt-before.Minflt, pages*rounds, base, base+int64(len(mem)))
	wait()
}

// faultForNothing takes faults that no page can serve, then sleeps and reads.
func faultForNothing(say func(...any), wait func()) {
	mem, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err)
	}
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	begin := now()
	faults := 0
	for range 50 {
		if touchBad(mem) {
			faults++
		}
		nanosleep(time.Millisecond)
	}
	// A call that fails for its memory, then the same call, from the same
	// place in the program, that blocks.
	for range 20 {
		unix.Write(pipe[1], []byte{1})
		readInto(pipe[0], uintptr(unsafe.Pointer(&mem[0])))
		readInto(pipe[0], uintptr(unsafe.Pointer(&make([]byte, 1)[0])))
		time.AfterFunc(2*time.Millisecond, func() { unix.Write(pipe[1], []byte{1}) })
		readInto(pipe[0], uintptr(unsafe.Pointer(&make([]byte, 1)[0])))
	}
	say(int64(begin), int64(now()), faults)
	wait()
}

//go:noinline
func readInto(fd int, addr uintptr) { unix.Syscall(unix.SYS_READ, uintptr(fd), addr, 1) }

func touchBad(mem []byte) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { faulted = recover() != nil }()
	mem[0] = 1
	return false
}

// touchFile takes major faults on a file that it drops from memory.
func touchFile(say func(...any), wait func()) {
	f, err := os.Open(os.Getenv("TAILTRACE_TEST_FILE"))
	if err != nil {
		panic(err)
	}
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	unix.Madvise(mem, unix.MADV_RANDOM)
	unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	var before, after unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &before)
	sum := 0
	for i := 0; i < len(mem); i += 16 * os.Getpagesize() {
		sum += int(mem[i])
	}
	unix.Getrusage(unix.RUSAGE_THREAD, &after)
	say(after.Majflt-before.Majflt, sum)
	wait()
}

// yieldInTurn makes two threads on one CPU switch as fast as they can.
func yieldInTurn(say func(...any), wait func()) {
	var stop atomic.Bool
	var finish []func()
	for range 2 {
		finish = append(finish, onThread(func(int32) {
			pin(0)
			for !stop.Load() {
				unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			}
		}))
	}
	wait()
	stop.Store(true)
	for _, f := range finish {
		f()
	}
	say("done")
	wait()
}

var oddNames = []string{"a b", "[x 0]", "bad\x95byte", "sixteen-bytes-lo"}

func renameThread(say func(...any), wait func()) {
	for _, name := range oddNames {
		b := append([]byte(name), 0)
		unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
		nanosleep(2 * time.Millisecond)
	}
	say("done")
	wait()
}

// execFromThread becomes another program, from a thread that is not the first.
func execFromThread(say func(...any), wait func()) {
	onThread(func(tid int32) {
		if int(tid) == os.Getpid() {
			panic("the first thread")
		}
		say(tid)
		nanosleep(20 * time.Millisecond)
		panic(syscall.Exec(os.Args[0], []string{"nap"}, []string{napEnv + "=200ms"}))
	})()
}

// churn keeps many threads going through every way to wait, until told.
func churn(say func(...any), wait func()) {
	var stop atomic.Bool
	var finish []func()
	var word uint32
	cpus := runtime.NumCPU()
	for i := range 24 {
		finish = append(finish, onThread(func(tid int32) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for !stop.Load() {
				switch r.IntN(7) {
				case 0:
					nanosleep(time.Duration(r.IntN(200)) * time.Microsecond)
				case 1:
					unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
				case 2:
					pin(r.IntN(cpus))
				case 3:
					var all unix.CPUSet
					for c := range cpus {
						all.Set(c)
					}
					unix.SchedSetaffinity(0, &all)
				case 4:
					ts := unix.NsecToTimespec(int64(r.IntN(300_000)))
					unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), 128, uintptr(atomic.LoadUint32(&word)),
						uintptr(unsafe.Pointer(&ts)), 0, 0)
				case 5:
					unix.Syscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), 129, 3)
				case 6:
					onThread(func(int32) { spin(20 * time.Microsecond) })()
				}
			}
		}))
	}
	wait()
	stop.Store(true)
	for _, f := range finish {
		f()
	}
	say("done")
	wait()
}

// contendLock takes a lock laid out like glibc's in one thread and waits for
// it in another, as pthread_mutex_lock does.
func contendLock(say func(...any), wait func()) {
	mutex := new([10]uint32) // lock, count, owner, ...
	// By then the recorder lists the threads anew, with the holder.
	const listed = time.Duration(threadListAge)
	held, end := make(chan int32), make(chan bool)
	onThread(func(tid int32) {
		mutex[0], mutex[2] = 2, uint32(tid)
		held <- tid
		nanosleep(listed + 20*time.Millisecond)
		atomic.StoreUint32(&mutex[0], 0)
		unix.Syscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&mutex[0])), 129, 1)
		<-end
	})
	holder := <-held
	nanosleep(listed)
	for atomic.LoadUint32(&mutex[0]) == 2 {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&mutex[0])), 128, 2, 0, 0, 0)
	}
	say(holder)
	wait()
	close(end)
}

// recordForever is the recorder as a process that can be killed.
func recordForever(say func(...any), wait func()) {
	pid, err := strconv.Atoi(os.Getenv("TAILTRACE_TEST_PID"))
	if err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var first uint64
	_, err = Run(ctx, Config{
		Pids:     []int{pid},
		Out:      os.Getenv("TAILTRACE_TEST_FILE"),
		Ring:     "none",
		SampleHz: DefaultSampleHz,
		Progress: func(p Progress) {
			if first == 0 {
				first = p.Bytes
			}
			if p.Bytes > first { // events have reached the file
				say("recording")
			}
		},
	})
	fmt.Fprintln(os.Stderr, "the recorder ended:", err)
}
