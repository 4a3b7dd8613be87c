"""Publishes the requests of a service in a shared-memory ring that tailtrace reads.

One file, standard library only, Python 3.9 or later, with and without the GIL.
The format is ABI version 1, described in ABI.md beside the Go package ring.

    import tailtrace_ring

    ring = tailtrace_ring.open(service="scorer")
    ring.trace_gc()

    with ring.window(request_id, "/score") as w:
        ...
        w.mark("parse")         # the step "parse" ends here
        ...
        w.mark("predict")

    app = ring.asgi(app)        # or: an ASGI application, all of its requests

Nothing here blocks, or raises into the service. Where there can be no ring (no
/dev/shm, a full disk) it says so once on standard error, and every call does
nothing from then on. After fork() the child has a ring of its own; windows that
were open across the fork are published by the parent only.
"""

import collections
import contextvars
import errno
import gc
import hashlib
import mmap
import os
import stat
import struct
import sys
import threading
import time
import types
import uuid
import weakref
import zlib

__all__ = ["open", "current", "Ring", "Window", "ERROR", "TIMEOUT", "WARMUP"]

# Flags of a window.
CUT = 1  # some points did not fit
ERROR = 2  # the answer was an error
TIMEOUT = 4  # timed out or cancelled
WARMUP = 8  # not to be counted
RAW_ID = 16

# Slot types and point types.
REQUEST, SPAN = 1, 2
MARK, SUSPEND, RESUME, THREAD = 1, 2, 3, 4

_HEADER_SIZE = 4096
_SLOT_SIZE = 256
_MAX_NAMES = 60
_NAME_SIZE = 64
_MAX_POINTS = 24
_MAX_QUEUE = 1 << 16
_MAX_OFFSET = (1 << 48) - 1
_MAX_U64 = (1 << 64) - 1

_HEADER = struct.Struct("<8sIIIIIIQ")
# What the checksum covers, by number of points: the complete sequence number,
# then a slot's bytes from its type to its end.
_FRAMES = tuple(
    struct.Struct("<QBBBB16sQQQII%dQ%dx" % (n, 8 * (_MAX_POINTS - n))) for n in range(_MAX_POINTS + 1)
)

_NO_ID = bytes(16)
_MARK_WORD, _SUSPEND_WORD, _RESUME_WORD, _THREAD_WORD = (t << 56 for t in (MARK, SUSPEND, RESUME, THREAD))

_now = time.monotonic_ns
_thread_id = threading.get_native_id
_crc32 = zlib.crc32

_current = contextvars.ContextVar("tailtrace_window")


def open(service, slots=8192, dir="/dev/shm"):
    """Makes this process's ring. slots is a power of two from 64 to 1048576."""
    return Ring(service, slots, dir)


def current():
    """The window of the request being served, as Ring.asgi set it; else one that does nothing."""
    return _current.get(_nowhere)


def encode_id(id):
    """The 16 bytes of an id, and RAW_ID or 0.

    A non-negative int below 2**64 is a number. A UUID, 32 hex digits with or
    without a UUID's dashes, and 16 bytes are raw; any other string or bytes is
    raw as its MD5. None is the number 0.
    """
    if isinstance(id, int) and 0 <= id <= _MAX_U64:
        return id.to_bytes(16, "little"), 0
    if id is None:
        return _NO_ID, 0
    if isinstance(id, uuid.UUID):
        return id.bytes, RAW_ID
    if isinstance(id, (bytes, bytearray, memoryview)):
        raw = bytes(id)
        return raw if len(raw) == 16 else _md5(raw), RAW_ID
    if hasattr(id, "__index__") and not isinstance(id, int):  # numpy's numbers
        return encode_id(id.__index__())
    text = digits = str(id)
    if len(text) == 36 and text[8] == text[13] == text[18] == text[23] == "-":
        digits = text.replace("-", "")
    if len(digits) == 32:
        try:
            raw = bytes.fromhex(digits)
            if len(raw) == 16:
                return raw, RAW_ID
        except ValueError:
            pass
    return _md5(text.encode("utf-8", "surrogateescape")), RAW_ID


def _md5(raw):
    return hashlib.md5(raw, usedforsecurity=False).digest()


class Window:
    """A request being served: a context manager, or begin() and end().

    It may be used by one thread at a time. All methods do nothing once it has
    ended, and none raises.
    """

    __slots__ = ("_ring", "_id", "_kind", "_flags", "_cpu", "_begin", "_tid", "_words", "_room", "_away", "_made")

    def __init__(self, ring, id, kind):
        self._ring = ring
        self._id = id
        self._kind = kind
        self._flags = 0
        self._cpu = 0
        self._words = None  # not open

    def __enter__(self):
        return self.begin()

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            self.fail(error)
        self.end()

    def begin(self):
        self._words = []
        self._room = _MAX_POINTS  # words that marks may take; 0: no more marks
        self._away = False
        self._made = self._ring._generation
        self._tid = _thread_id()
        self._begin = _now()
        return self

    def mark(self, name):
        """The step `name` ends here; it began at the mark before or at the beginning."""
        words = self._words
        if words is not None:
            if len(words) < self._room:
                words.append(_now() - self._begin | self._ring._word(name) | _MARK_WORD)
            else:
                self._room = 0
                self._flags |= CUT

    def suspend(self, name=None):
        """The request leaves its thread, to wait for something."""
        words = self._words
        if words is None or self._away:
            return
        word = _now() - self._begin | _SUSPEND_WORD
        if name is not None:
            word |= self._ring._word(name)
        if len(words) <= _MAX_POINTS - 2:
            words.append(word)
            self._away = True
            self._room -= self._room > 0  # one is kept for the resume
        else:
            self._add(word)

    def resume(self, name=None):
        """The request is back on its thread."""
        words = self._words
        if words is None or not self._away:
            return
        word = _now() - self._begin | _RESUME_WORD
        if name is not None:
            word |= self._ring._word(name)
        words.append(word)
        self._away = False
        self._room += self._room > 0

    def thread(self, tid=None):
        """The request goes on in thread tid, a native id; the calling one if None."""
        if self._words is not None:
            self._add(_now() - self._begin | _THREAD_WORD, _thread_id() if tid is None else tid)

    def set_kind(self, kind):
        self._kind = kind

    def set_id(self, id):
        self._id = id

    def set_flags(self, flags):
        """Adds ERROR, TIMEOUT or WARMUP."""
        if isinstance(flags, int):
            self._flags |= flags & (ERROR | TIMEOUT | WARMUP)

    def set_cpu(self, ns):
        """The CPU time that the request took, an int, where it was measured."""
        if isinstance(ns, int):
            self._cpu = ns

    def fail(self, error):
        """Flags the window by an exception: TIMEOUT if it is a timeout or a cancellation, else ERROR."""
        timeout = type(error).__name__ in ("TimeoutError", "CancelledError", "GeneratorExit")
        self._flags |= TIMEOUT if timeout else ERROR

    def end(self):
        """Closes the window and publishes it."""
        words = self._words
        if words is None:
            return
        end = _now()
        self._words = None
        ring = self._ring
        if self._made != ring._generation:
            return  # closed, or forked: it is the parent's
        try:
            raw, flag = encode_id(self._id)
            kind = ring._word(self._kind) >> 48
            flags = self._flags | flag
            ring._publish((REQUEST, kind, flags, raw, self._begin, end, self._cpu, self._tid, _thread_id(), words))
        except Exception:
            pass

    def _add(self, word, tid=None):
        """Adds a point that may not fit; tid is that of a thread point."""
        points = _Points(self._words, self._away, self._room == 0)
        points.add(word, tid)
        self._away = points.away
        self._room = 0 if points.no_marks else _MAX_POINTS - points.away
        if points.cut:
            self._flags |= CUT


class _Nowhere(Window):
    """The window of a ring that is off. It is shared, and stays as it is."""

    __slots__ = ()

    def begin(self):
        return self

    def _ignore(self, *args):
        pass

    set_kind = set_id = set_flags = set_cpu = fail = _ignore


_nowhere = _Nowhere(None, None, None)


class _Points:
    """The rules for points that do not fit. What is left out must not make a lie of the rest:

    - A mark that does not fit ends the marks: a later one would seem to have
      begun at the last that did.
    - A suspension that does not fit takes the place of the last mark while
      marks fill more than half of the room, else of the shortest interval
      between two neighbouring suspends and resumes. So they stay paired, and no
      error in where the request was is longer than an interval that is kept.
    - A thread point makes room in the same way.

    A suspend without a resume and a resume without a suspend are ignored.
    """

    def __init__(self, words, away=False, no_marks=False):
        self.words = words
        self.away = away  # suspended: one word is kept for the resume
        self.no_marks = no_marks
        self.cut = False

    def add(self, word, tid=None):
        kind = word >> 56
        if kind == MARK:
            if self.no_marks or self._free() < 1:
                self.no_marks = self.cut = True
            else:
                self.words.append(word)
        elif kind == SUSPEND:
            while not self.away and self._free() < 2:
                if not self._make_room(word & _MAX_OFFSET):
                    return
            if not self.away:
                self.words.append(word)
                self.away = True
        elif kind == RESUME:
            if self.away:
                self.words.append(word)
                self.away = False
        elif kind == THREAD:
            while self._free() < 2:
                if not self._make_room(None):
                    return
            self.words += (word, tid)

    def _free(self):
        return _MAX_POINTS - len(self.words) - self.away

    def _positions(self, *kinds):
        found, skip = [], False
        for i, word in enumerate(self.words):
            if skip:
                skip = False
                continue
            kind = word >> 56
            skip = kind == THREAD
            if kind in kinds:
                found.append(i)
        return found

    def _make_room(self, offset):
        self.cut = True
        turns = self._positions(SUSPEND, RESUME)
        marks = self._positions(MARK)
        if len(turns) >= 2 and len(marks) <= _MAX_POINTS // 2:
            self._drop_shortest(turns, offset)
            return True
        self.no_marks = True
        if not marks:
            return False
        del self.words[marks[-1]]
        return True

    def _drop_shortest(self, turns, offset):
        offsets = [self.words[i] & _MAX_OFFSET for i in turns]
        gaps = [b - a for a, b in zip(offsets, offsets[1:])]
        shortest = min(gaps)
        if not self.away and offset is not None and offset - offsets[-1] < shortest:
            del self.words[turns[-1]]  # the new suspension goes on where the last one ended
            self.away = True
            return
        at = gaps.index(shortest)
        del self.words[turns[at + 1]]
        del self.words[turns[at]]


class Ring:
    """The ring of this process. Made by open(); may be used from any thread."""

    def __init__(self, service, slots=8192, dir="/dev/shm"):
        self._service = service
        self._slots = slots
        self._dir = dir
        self._generation = 0
        self._tracing_gc = False
        self._unlink = None
        self._make()
        _rings.add(self)

    # ---- publishing ----

    def window(self, id=None, kind=None):
        """A window for the request `id` (see encode_id) at the endpoint `kind`, to be entered or begun."""
        return Window(self, id, kind) if self._on else _nowhere

    def span(self, name, begin, end):
        """A runtime span: from begin to end, times of time.monotonic_ns, the whole process stood still."""
        self.publish(SPAN, name, _NO_ID, begin, end)

    def publish(self, type, kind, id, begin, end, flags=0, cpu=0, tid=0, end_tid=0, points=()):
        """Publishes a window or span whose times are known; points are (type, name or tid, offset in ns)."""
        if not self._on:
            return
        try:
            raw, flag = encode_id(id)
            kept = _Points([])
            for what, arg, offset in points:
                offset = min(max(offset, 0), _MAX_OFFSET)
                if what == THREAD:
                    kept.add(_THREAD_WORD | offset, arg)
                else:
                    kept.add(what << 56 | self._word(arg) | offset)
            if kept.cut:
                flags |= CUT
            self._publish((type, self._name(kind), flags | flag, raw, begin, end, cpu, tid, end_tid, kept.words))
        except Exception:
            pass

    def _publish(self, record):
        # Whoever gets the lock writes for all, so that nobody waits: not for a
        # thread that lost the GIL, nor, in a signal handler or a collection
        # that came in the middle of writing, for itself.
        queue, lock = self._queue, self._lock
        if len(queue) < _MAX_QUEUE:
            queue.append(record)
        else:
            self._missed += 1
        while queue and lock.acquire(False):
            try:
                while queue:
                    self._write(*queue.popleft())
            finally:
                lock.release()

    def _write(self, type, kind, flags, id, begin, end, cpu, tid, end_tid, words):
        if end - begin > _MAX_OFFSET:  # an offset may not have fitted its 48 bits
            words, flags = (), flags | CUT
        index = self._index + self._missed  # one that is never written counts as lost
        complete = 2 * index + 2
        frame = _FRAMES[len(words)].pack(
            complete, type, kind, len(words), flags, id, begin, end, cpu, tid, end_tid, *words
        )
        at = _HEADER_SIZE + _SLOT_SIZE * (index & self._mask)
        atomic = self._atomic  # a store through it is one of 8 bytes
        self._index = atomic[8] = index + 1
        self._missed = 0
        atomic[at >> 3] = complete - 1
        self._halves[(at >> 2) + 2] = _crc32(frame)
        self._map[at + 12 : at + _SLOT_SIZE] = frame[8:]
        atomic[at >> 3] = complete

    # ---- names ----

    def _name(self, name):
        return self._word(name) >> 48

    def _word(self, name):
        """The id of a name where a point's word has it; 0 when all ids are in use."""
        try:
            return self._words[name]
        except KeyError:
            return self._add_name(name)
        except TypeError:  # not hashable
            return 0

    def _add_name(self, name):
        me = threading.get_ident()
        # A signal handler may come here in the middle of itself.
        if self._naming == me or not self._names_lock.acquire(timeout=0.1):
            return 0
        try:
            self._naming = me
            raw = _clean(name)
            id = self._ids.get(raw)
            if id is None:
                id = len(self._ids)
                if id > _MAX_NAMES:
                    return 0  # not remembered: there may be any number of such names
                at = 256 + _NAME_SIZE * (id - 1)
                self._map[at : at + len(raw)] = raw
                self._halves[10] = id
                self._ids[raw] = id
            if len(self._words) < 16 * _MAX_NAMES:
                self._words[name] = id << 48
            return id << 48
        except Exception:
            return 0
        finally:
            self._naming = None
            self._names_lock.release()

    # ---- the runtime ----

    def trace_gc(self):
        """Publishes each garbage collection as a span named "gc"."""
        if not self._tracing_gc:
            self._tracing_gc = True
            self._word("gc")
            gc.callbacks.append(self._gc)

    def _gc(self, phase, info):
        if phase == "start":
            self._gc_begin = _now()
        elif self._gc_begin and self._on:
            begin, self._gc_begin = self._gc_begin, 0
            try:
                self._publish((SPAN, self._name("gc"), 0, _NO_ID, begin, _now(), 0, 0, 0, ()))
            except Exception:
                pass

    def asgi(self, app, id_header="x-request-id", id=None, kind=None):
        """Wraps an ASGI application: a window for each HTTP request, with the
        awaits that really suspend it. See ASGI."""
        return ASGI(self, app, id_header, id, kind)

    # ---- making and closing ----

    def _make(self):
        self._on = False
        self._generation += 1
        self._index = 0
        self._missed = 0
        self._queue = collections.deque()
        self._lock = threading.Lock()
        self._names_lock = threading.Lock()
        self._naming = None  # the thread that has it
        self._ids = {b"": 0}
        self._words = {None: 0}
        self._gc_begin = 0
        try:
            self._create()
            self._on = True
        except Exception as e:
            _complain(e)
        if self._tracing_gc:
            self._word("gc")  # a collection may come while another name is being added

    def _create(self):
        slots = self._slots
        if sys.byteorder != "little":
            raise OSError(errno.ENOTSUP, "this machine is big-endian")
        if not 64 <= slots <= 1 << 20 or slots & (slots - 1):
            raise ValueError("%r slots: want a power of two from 64 to 1048576" % (slots,))
        size = _HEADER_SIZE + _SLOT_SIZE * slots
        header = bytearray(_HEADER_SIZE)
        _HEADER.pack_into(header, 0, b"TTRING\0\1", 1, _HEADER_SIZE, _SLOT_SIZE, slots, os.getpid(), 1, _now())
        service = _clean(self._service)
        header[128 : 128 + len(service)] = service
        path = os.path.join(self._dir, "tailtrace-%d.ring" % os.getpid())
        _sweep(self._dir)
        fd = _create_file(path)
        try:
            # All memory now: a full disk must not become a SIGBUS later.
            os.posix_fallocate(fd, 0, size)
            os.pwrite(fd, header, 0)  # before the mapping exists, for whoever finds that
            self._map = mmap.mmap(fd, size)
            status = os.fstat(fd)
        except BaseException:
            os.unlink(path)
            raise
        finally:
            os.close(fd)
        self._mask = slots - 1
        self._atomic = memoryview(self._map).cast("Q")
        self._halves = memoryview(self._map).cast("I")
        if self._unlink:
            self._unlink.detach()  # the parent's
        self._unlink = weakref.finalize(self, _unlink, path, (status.st_dev, status.st_ino))

    def close(self):
        """Unlinks the ring and turns it off. Its memory is given back when nobody uses it any more."""
        if self._tracing_gc:
            self._tracing_gc = False
            gc.callbacks.remove(self._gc)
        if not self._on:
            return
        self._on = False
        self._generation += 1  # windows that are open will not be published
        self._unlink()
        self._map = self._atomic = self._halves = None


class ASGI:
    """An ASGI application around another, made by Ring.asgi().

    Each HTTP request is a window from the call of the application to its
    return. Its id is id(scope) where that is given, else the header id_header:
    a decimal number below 2**64 counts as a number, anything else as encode_id
    says. Its kind is kind(scope), asked at the end, when the router has been at
    work; by default the path of scope["route"], as FastAPI sets it, else of the
    request (the first 32 of these, then "other").

    Each await that really gives control back to the event loop is recorded as
    suspend and resume, and current() is the request's window, so that handlers
    can mark steps. An exception or a status of 500 and above flags the window.
    What a handler does in tasks of its own happens, for its window, while it is
    suspended: put this around a single handler's application, not around
    middleware that runs the rest in another task.
    """

    def __init__(self, ring, app, id_header="x-request-id", id=None, kind=None):
        self._ring = ring
        self._app = app
        self._header = id_header.lower().encode("latin-1") if id_header else None
        self._id = id or self._header_id
        self._kind = kind or self._route
        self._paths = set()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or not self._ring._on:
            return await self._app(scope, receive, send)
        window = self._ring.window(_call(self._id, scope))

        def watch(message):
            if message["type"] == "http.response.start" and message["status"] >= 500:
                window.set_flags(ERROR)
            return send(message)

        token = _current.set(window)
        window.begin()
        try:
            return await _drive(self._app(scope, receive, watch), window)
        except BaseException as e:
            window.fail(e)
            raise
        finally:
            window.set_kind(_call(self._kind, scope))
            window.end()
            try:
                _current.reset(token)
            except ValueError:  # closed from another context, as at the end of a loop
                pass

    def _header_id(self, scope):
        for name, value in scope["headers"]:
            if name == self._header:
                if value.isdigit() and len(value) <= 20 and (value[0] != 48 or value == b"0") and int(value) <= _MAX_U64:
                    return int(value)
                return value.decode("latin-1")

    def _route(self, scope):
        path = getattr(scope.get("route"), "path", None)
        if path is None:
            path = scope["path"]
            if path not in self._paths:
                if len(self._paths) >= 32:
                    return "other"
                self._paths.add(path)
        return path


@types.coroutine
def _drive(awaitable, window):
    """Runs awaitable as `await` does, and tells the window of each step's end and beginning."""
    steps = awaitable.__await__()
    value = error = None
    while True:
        try:
            if error is not None:
                thrown, error = error, None
                yielded = steps.throw(thrown)
            elif value is None:
                yielded = next(steps)
            else:
                yielded = steps.send(value)
        except StopIteration as stop:
            return stop.value
        finally:
            thrown = None  # it refers to this frame
        window.suspend()
        try:
            value = yield yielded
        except GeneratorExit:
            window.resume()
            steps.close()
            raise
        except BaseException as e:
            error = e
        window.resume()


def _call(function, scope):
    try:
        return function(scope)
    except Exception:
        return None


def _clean(name):
    """A name as it is written: UTF-8, no NUL, cut between characters."""
    raw = str(name).partition("\0")[0].encode("utf-8", "replace")
    return raw[:_NAME_SIZE].decode("utf-8", "ignore").encode()


def _create_file(path):
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        _remove_stale(path)
        return os.open(path, flags, 0o600)


def _remove_stale(path):
    """Removes the ring of a dead process; what does not look like that is refused."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise FileExistsError(errno.EEXIST, "what is there is not a regular file", path)
    if status.st_uid != os.geteuid():
        raise FileExistsError(errno.EEXIST, "what is there belongs to user %d" % status.st_uid, path)
    os.unlink(path)


def _sweep(directory):
    """Removes the rings that dead processes of this user left."""
    for name in os.listdir(directory):
        pid = name[10:-5]
        if name[:10] + name[-5:] != "tailtrace-.ring" or not (pid.isascii() and pid.isdigit()):
            continue
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            try:
                _remove_stale(os.path.join(directory, name))
            except OSError:
                pass
        except (OSError, OverflowError):
            pass


def _unlink(path, file):
    try:
        status = os.lstat(path)
        if (status.st_dev, status.st_ino) == file:  # else it has been replaced
            os.unlink(path)
    except OSError:
        pass


def _complain(error):
    try:
        sys.stderr.write("tailtrace: requests are not published: create request ring: %s\n" % (error,))
    except Exception:
        pass


_rings = weakref.WeakSet()


def _after_fork():
    for ring in list(_rings):
        if ring._on:
            ring._make()


os.register_at_fork(after_in_child=_after_fork)
