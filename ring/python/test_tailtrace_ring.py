import contextlib
import gc
import hashlib
import io
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "testdata")]
import ringfile
import tailtrace_ring
from tailtrace_ring import ERROR, RAW_ID, TIMEOUT, WARMUP


class RingTest(unittest.TestCase):
    slots = 64

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir="/dev/shm", prefix="tailtrace-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.ring = tailtrace_ring.open("test", self.slots, self.dir)
        self.addCleanup(self.ring.close)
        self.path = ringfile.path_of(self.dir)

    def read(self):
        return ringfile.read(self.path)


class WindowTest(RingTest):
    def test_window_has_its_times_thread_and_points(self):
        before = time.monotonic_ns()
        with self.ring.window(7, "/score") as w:
            w.mark("read")
            w.suspend("wait")
            w.resume()
            w.thread(99)
            w.set_cpu(5)
            w.set_flags(WARMUP)
        after = time.monotonic_ns()
        (s,) = self.read()
        tid = threading.get_native_id()
        self.assertTrue(before <= s.begin <= s.end <= after)
        self.assertEqual((1, "/score", WARMUP, 5, tid, tid), (s.type, s.kind, s.flags, s.cpu, s.tid, s.end_tid))
        self.assertEqual((7).to_bytes(16, "little"), s.id)
        self.assertEqual([(1, "read"), (2, "wait"), (3, ""), (4, 99)], [p[:2] for p in s.points])
        offsets = [p.offset for p in s.points]
        self.assertEqual(sorted(offsets), offsets)
        self.assertLessEqual(offsets[-1], s.end - s.begin)

    def test_exceptions_pass_and_flag_the_window(self):
        class CancelledError(BaseException):
            pass

        for error, flag in ((ValueError, ERROR), (TimeoutError, TIMEOUT), (CancelledError, TIMEOUT)):
            with self.assertRaises(error):
                with self.ring.window(1, "k"):
                    raise error("x")
            self.assertEqual(flag, self.read()[-1].flags)

    def test_window_that_has_ended_stays_as_it_is(self):
        w = self.ring.window(1, "k").begin()
        w.end()
        for call in (w.mark, w.suspend, w.resume):
            call("x")
        w.thread()
        w.end()
        (s,) = self.read()
        self.assertEqual([], s.points)

    def test_nothing_raises_whatever_it_is_given(self):
        for junk in (object(), [], -1, 1 << 200, 1.5, b"\xff", "\udc80", "\0", "x" * 10000, None, True):
            with self.ring.window(junk, junk) as w:
                w.mark(junk)
                w.suspend(junk)
                w.resume(junk)
                w.thread(junk)
                w.set_flags(junk)
                w.set_cpu(junk)
            self.ring.span(junk, 1, 2)
            self.ring.span("x", junk, junk)
            self.ring.publish(junk, junk, junk, junk, junk, junk, junk, junk, junk, [junk])
        with self.ring.window(5, "after"):
            pass
        self.assertEqual((5).to_bytes(16, "little"), self.read()[-1].id)

    def test_span(self):
        self.ring.span("safepoint", 10, 20)
        (s,) = self.read()
        self.assertEqual((2, "safepoint", 10, 20, 0, 0), (s.type, s.kind, s.begin, s.end, s.tid, s.end_tid))


class IdTest(unittest.TestCase):
    def test_ids(self):
        class Index:
            def __index__(self):
                return 5

        digits = "00112233445566778899AABBccddeeff"
        raw = bytes.fromhex(digits)
        md5 = lambda b: hashlib.md5(b).digest()
        for id, want in (
            (0, (bytes(16), 0)),
            (None, (bytes(16), 0)),
            (258, (b"\2\1" + bytes(14), 0)),
            (2**64 - 1, (b"\xff" * 8 + bytes(8), 0)),
            (2**64, (md5(b"18446744073709551616"), RAW_ID)),
            (-1, (md5(b"-1"), RAW_ID)),
            (raw, (raw, RAW_ID)),
            (uuid.UUID(bytes=raw), (raw, RAW_ID)),
            (digits, (raw, RAW_ID)),
            (str(uuid.UUID(bytes=raw)), (raw, RAW_ID)),
            ("1234", (md5(b"1234"), RAW_ID)),
            ("", (md5(b""), RAW_ID)),
            ("é", (md5("é".encode()), RAW_ID)),
            (digits[:-1] + "g", (md5((digits[:-1] + "g").encode()), RAW_ID)),
            (digits[:30] + "  ", (md5((digits[:30] + "  ").encode()), RAW_ID)),
            (b"short", (md5(b"short"), RAW_ID)),
            (types.SimpleNamespace(), (md5(b"namespace()"), RAW_ID)),
            (Index(), (b"\5" + bytes(15), 0)),
        ):
            self.assertEqual(want, tailtrace_ring.encode_id(id), repr(id))


class PointsTest(RingTest):
    """The rules themselves are tested with the interop script; a Window that
    takes short cuts must come to the same."""

    def test_window_keeps_the_points_that_the_rules_keep(self):
        rng = random.Random(1)
        for _ in range(500):
            clock, points = 0, []
            with unittest.mock.patch.object(tailtrace_ring, "_now", lambda: clock):
                with self.ring.window(1, "k") as w:
                    for _ in range(rng.randrange(80)):
                        clock += rng.randrange(1, 1000)
                        what = rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 3, 4))
                        points.append((what, 9 if what == 4 else "n", clock))
                        if what == 4:
                            w.thread(9)
                        else:
                            (w.mark, w.suspend, w.resume)[what - 1]("n")
            self.ring.publish(1, "k", 1, 0, clock, points=points)
            window, explicit = self.read()[-2:]
            self.assertEqual(explicit.points, window.points)
            self.assertEqual(explicit.flags, window.flags)


class NameTest(RingTest):
    def test_names_beyond_the_room_are_unnamed(self):
        for i in range(100):
            with self.ring.window(i, "kind %d" % i):
                pass
        kinds = [s.kind for s in self.read()]
        self.assertEqual(["kind %d" % i if i < 60 else "" for i in range(36, 100)], kinds)

    def test_long_and_odd_names(self):
        for given, want in (("é" * 40, "é" * 32), ("x" * 63 + "é", "x" * 63), ("a\0b", "a"), ("\ud800", "?"), (5, "5")):
            self.ring.span(given, 1, 2)
            self.assertEqual(want, self.read()[-1].kind)

    def test_threads_that_name_the_same_agree(self):
        start = threading.Barrier(4)

        def name():
            start.wait()
            for i in range(50):
                self.ring.span("n%d" % i, i, i)

        threads = [threading.Thread(target=name) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for s in self.read():
            self.assertEqual("n%d" % s.begin, s.kind)


class RuntimeTest(RingTest):
    def test_collections_are_spans_of_the_whole_process(self):
        self.ring.trace_gc()
        self.ring.trace_gc()
        before = time.monotonic_ns()
        gc.collect()
        after = time.monotonic_ns()
        spans = [s for s in self.read() if s.begin >= before and s.end <= after]
        self.assertEqual([(2, "gc", 0, 0)], [(s.type, s.kind, s.tid, s.end_tid) for s in spans])
        self.assertTrue(all(s.begin <= s.end for s in spans))
        self.ring.close()
        self.assertNotIn(self.ring._gc, gc.callbacks)

    def test_publishing_in_the_middle_of_publishing_waits_for_its_end(self):
        real, inner = self.ring._write, []

        def write(*record):
            if not inner:
                inner.append(True)
                self.ring.span("inner", 1, 2)  # as a collection or a signal handler would
            real(*record)

        with unittest.mock.patch.object(self.ring, "_write", write):
            self.ring.span("outer", 1, 2)
        self.assertEqual(["outer", "inner"], [s.kind for s in self.read()])

    def test_signal_handlers_may_publish(self):
        handled = []

        def handler(*_):
            handled.append(True)
            with self.ring.window(len(handled), "signal") as w:
                w.mark("handled")

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, handler))
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        published = 0
        while len(handled) < 50:
            with self.ring.window(published, "main") as w:
                w.mark("step")
            published += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertEqual(published + len(handled), self.read()[-1].index + 1)

    def test_more_than_the_queue_holds_is_counted_as_lost(self):
        with unittest.mock.patch.object(tailtrace_ring, "_MAX_QUEUE", 3):
            self.ring._lock.acquire()
            for i in range(10):
                self.ring.span("s", i, i)
            self.ring._lock.release()
            self.ring.span("last", 1, 1)
        with open(self.path, "rb") as f:
            (head,) = struct.unpack("<Q", f.read(72)[64:])
        self.assertEqual(11, head)  # of them 3 written
        self.ring.span("next", 1, 1)
        self.assertEqual(0, self.ring._missed)


class ForkTest(RingTest):
    def child(self, run):
        """Runs in a forked child; returns the child's pid after its end."""
        pid = os.fork()
        if pid == 0:
            try:
                run()
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        self.assertEqual(0, status)
        return pid

    def test_child_has_a_ring_of_its_own(self):
        self.ring.trace_gc()
        with self.ring.window(1, "/parent"):
            pass

        def run():
            with self.ring.window(2, "/child"):
                pass
            gc.collect()

        pid = self.child(run)
        with self.ring.window(3, "/parent"):
            pass
        ours = [s for s in self.read() if s.type == 1]
        self.assertEqual(["/parent", "/parent"], [s.kind for s in ours])
        theirs = ringfile.read(ringfile.path_of(self.dir, pid))
        self.assertEqual(("/child", pid), (theirs[0].kind, theirs[0].tid))
        self.assertIn("gc", [s.kind for s in theirs])

    def test_window_open_across_the_fork_is_the_parents(self):
        with self.ring.window(1, "/open") as w:
            pid = self.child(lambda: w.mark("in child") or w.end())
            w.mark("in parent")
        (s,) = self.read()
        self.assertEqual(["in parent"], [p.name for p in s.points])
        self.assertEqual([], ringfile.read(ringfile.path_of(self.dir, pid)))

    def test_end_of_the_child_leaves_the_parents_ring(self):
        self.child(lambda: self.ring.close())
        self.assertEqual([self.path], ringfile.rings(self.dir))

    def test_fork_while_another_thread_is_publishing(self):
        self.ring._lock.acquire()  # as a thread that does not exist in the child
        try:
            pid = self.child(lambda: self.ring.span("child", 1, 2))
        finally:
            self.ring._lock.release()
        self.assertEqual(["child"], [s.kind for s in ringfile.read(ringfile.path_of(self.dir, pid))])


class FileTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(dir="/dev/shm", prefix="tailtrace-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.path = ringfile.path_of(self.dir)

    def open(self, slots=64):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            ring = tailtrace_ring.open("test", slots, self.dir)
            with ring.window(1, "k") as w:
                w.mark("step")
            ring.span("s", 1, 2)
        self.addCleanup(ring.close)
        return ring, said.getvalue()

    def assertOff(self, what, slots=64):
        ring, said = self.open(slots)
        self.assertRegex(said, "^tailtrace: requests are not published: .*" + what + ".*\n$")
        ring.trace_gc()
        gc.collect()
        ring.close()

    def test_ring_is_private(self):
        self.open()
        self.assertEqual(0o100600, os.stat(self.path).st_mode)

    def test_off_without_a_directory(self):
        self.dir += "/none"
        self.assertOff("No such file")
        self.dir = self.dir[:-5]

    def test_off_with_a_bad_number_of_slots(self):
        for slots in (0, 65, 32, 1 << 21, "many", None):
            self.assertOff("", slots)

    def test_symlinks_are_refused(self):
        victim = os.path.join(self.dir, "victim")
        with open(victim, "w") as f:
            f.write("precious")
        os.symlink(victim, self.path)
        self.assertOff("not a regular file")
        with open(victim) as f:
            self.assertEqual("precious", f.read())

    def test_rings_of_dead_processes_are_replaced_and_swept(self):
        dead = os.fork()
        if dead == 0:
            os._exit(0)
        os.waitpid(dead, 0)
        keep = ringfile.path_of(self.dir, 1)
        for path in (self.path, keep, ringfile.path_of(self.dir, dead)):
            with open(path, "w"):
                pass
        self.open()
        self.assertEqual(sorted([self.path, keep]), ringfile.rings(self.dir))

    def test_close_unlinks_and_turns_off(self):
        ring, _ = self.open()
        w = ring.window(1, "k").begin()
        ring.close()
        self.assertEqual([], ringfile.rings(self.dir))
        w.mark("x")
        w.end()
        with ring.window(1, "k") as w:
            w.mark("x")
        ring.span("s", 1, 2)
        ring.close()

    def test_ring_nobody_refers_to_is_unlinked(self):
        ring = tailtrace_ring.open("test", 64, self.dir)
        del ring
        gc.collect()
        self.assertEqual([], ringfile.rings(self.dir))


if __name__ == "__main__":
    unittest.main()
