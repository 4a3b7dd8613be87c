import asyncio
import contextvars
import os
import shutil
import sys
import tempfile
import traceback
import types
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "testdata")]
import ringfile
import tailtrace_ring
from ringfile import MARK, RESUME, SUSPEND
from tailtrace_ring import ERROR, RAW_ID, TIMEOUT, current


def scope(path="/", *headers, **more):
    return {"type": "http", "path": path, "headers": list(headers), **more}


async def receive():
    return {"type": "http.request", "body": b""}


async def ignore(message):
    pass


class AsgiTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(dir="/dev/shm", prefix="tailtrace-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.ring = tailtrace_ring.open("test", 64, self.dir)
        self.addCleanup(self.ring.close)

    def read(self):
        return ringfile.read(ringfile.path_of(self.dir))

    def on_thread(self, slot):
        """The intervals in which the request was on its thread."""
        intervals, begin = [], slot.begin
        for p in slot.points:
            if p.type == SUSPEND:
                intervals.append((begin, slot.begin + p.offset))
            elif p.type == RESUME:
                begin = slot.begin + p.offset
        return intervals + [(begin, slot.end)]

    async def test_interleaved_requests_are_never_on_the_thread_at_once(self):
        turns = [asyncio.Event() for _ in range(3)]

        async def handler(scope, receive, send):
            first = scope["path"] == "/first"
            current().mark("begun " + scope["path"])
            for mine, next in ((0, 1), (2, None)) if first else ((1, 2),):
                await turns[mine].wait()
                if next is not None:
                    turns[next].set()
            await asyncio.sleep(0)
            current().mark("done " + scope["path"])

        app = self.ring.asgi(handler)
        requests = [asyncio.ensure_future(app(scope(p), receive, ignore)) for p in ("/first", "/second")]
        await asyncio.sleep(0)
        turns[0].set()
        await asyncio.gather(*requests)

        slots = {s.kind: s for s in self.read()}
        self.assertEqual({"/first", "/second"}, set(slots))
        for kind, s in slots.items():
            self.assertEqual(["begun " + kind, "done " + kind], [p.name for p in s.points if p.type == MARK])
        turns_of = {kind: [p.type for p in s.points if p.type != MARK] for kind, s in slots.items()}
        self.assertEqual({"/first": [2, 3] * 3, "/second": [2, 3] * 2}, turns_of)
        intervals = sorted(self.on_thread(slots["/first"]) + self.on_thread(slots["/second"]))
        for (_, end), (begin, _) in zip(intervals, intervals[1:]):
            self.assertLessEqual(end, begin)

    async def test_await_that_does_not_suspend_is_not_recorded(self):
        async def inner():
            return 5

        async def handler(scope, receive, send):
            self.assertEqual(5, await inner())
            await receive()
            future = asyncio.get_running_loop().create_future()
            future.set_result(1)
            await future

        await self.ring.asgi(handler)(scope(), receive, ignore)
        (s,) = self.read()
        self.assertEqual([], s.points)

    async def test_current_window_is_the_requests_and_its_tasks(self):
        seen = {}

        async def child():
            seen["child"] = current()

        async def handler(scope, receive, send):
            seen["handler"] = current()
            await asyncio.ensure_future(child())
            seen["thread"] = await asyncio.get_running_loop().run_in_executor(
                None, contextvars.copy_context().run, current
            )

        await self.ring.asgi(handler)(scope(), receive, ignore)
        self.assertIsInstance(seen["handler"], tailtrace_ring.Window)
        self.assertIs(seen["handler"], seen["child"])
        self.assertIs(seen["handler"], seen["thread"])
        self.assertIs(tailtrace_ring._nowhere, current())
        current().mark("ignored")

    async def test_context_variables_set_in_the_handler_stay(self):
        var = contextvars.ContextVar("var", default="outside")

        async def handler(scope, receive, send):
            var.set("handler")
            await asyncio.sleep(0)
            self.assertEqual("handler", var.get())

        await self.ring.asgi(handler)(scope(), receive, ignore)
        self.assertEqual("handler", var.get())

    async def test_exceptions_pass_with_their_traceback(self):
        async def handler(scope, receive, send):
            await asyncio.sleep(0)
            raise KeyError("deep")

        try:
            await self.ring.asgi(handler)(scope(), receive, ignore)
        except KeyError as e:
            frames = traceback.extract_tb(e.__traceback__)
        self.assertEqual("handler", frames[-1].name)
        (s,) = self.read()
        self.assertEqual(ERROR, s.flags)

    async def test_exceptions_of_what_is_awaited_arrive_in_the_handler(self):
        async def handler(scope, receive, send):
            future = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(future.set_exception, ValueError("x"))
            try:
                await future
            except ValueError:
                return "caught"

        self.assertEqual("caught", await self.ring.asgi(handler)(scope(), receive, ignore))
        (s,) = self.read()
        self.assertEqual((0, [2, 3]), (s.flags, [p.type for p in s.points]))

    async def test_cancellation_reaches_the_handler_and_flags_the_window(self):
        cleaned = []

        async def handler(scope, receive, send):
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)
                cleaned.append(True)

        task = asyncio.ensure_future(self.ring.asgi(handler)(scope(), receive, ignore))
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual([True], cleaned)
        (s,) = self.read()
        self.assertEqual((TIMEOUT, [2, 3, 2, 3]), (s.flags, [p.type for p in s.points]))

    async def test_cancellation_that_the_handler_handles(self):
        async def handler(scope, receive, send):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return "saved"

        task = asyncio.ensure_future(self.ring.asgi(handler)(scope(), receive, ignore))
        await asyncio.sleep(0)
        task.cancel()
        self.assertEqual("saved", await task)
        self.assertEqual(0, self.read()[0].flags)

    async def test_timeouts(self):
        async def slow(scope, receive, send):
            await asyncio.sleep(60)

        async def caught(scope, receive, send):
            await asyncio.wait_for(asyncio.sleep(60), 0.01)

        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.ring.asgi(slow)(scope("/slow"), receive, ignore), 0.01)
        with self.assertRaises(asyncio.TimeoutError):
            await self.ring.asgi(caught)(scope("/caught"), receive, ignore)
        self.assertEqual([("/slow", TIMEOUT), ("/caught", TIMEOUT)], [(s.kind, s.flags) for s in self.read()])

    async def test_id_from_the_header(self):
        raw = uuid.UUID(int=1 << 100)
        for header, want, flag in (
            (b"1000001", (1000001).to_bytes(16, "little"), 0),
            (b"007", tailtrace_ring.encode_id("007")[0], RAW_ID),
            (b"0", bytes(16), 0),
            (b"18446744073709551615", b"\xff" * 8 + bytes(8), 0),
            (b"99999999999999999999", tailtrace_ring.encode_id("99999999999999999999")[0], RAW_ID),
            (str(raw).encode(), raw.bytes, RAW_ID),
            (raw.hex.encode(), raw.bytes, RAW_ID),
            (b"abc", tailtrace_ring.encode_id("abc")[0], RAW_ID),
            (b"\xb2", tailtrace_ring.encode_id("\xb2")[0], RAW_ID),  # a digit, but not a number
        ):
            await self.ring.asgi(self.nothing)(scope("/", (b"x-request-id", header)), receive, ignore)
            s = self.read()[-1]
            self.assertEqual((want, flag), (s.id, s.flags), header)
        await self.ring.asgi(self.nothing, id_header="X-Trace")(scope("/", (b"x-trace", b"5")), receive, ignore)
        self.assertEqual(5, self.read()[-1].id[0])
        await self.ring.asgi(self.nothing)(scope("/", (b"other", b"5")), receive, ignore)
        self.assertEqual(bytes(16), self.read()[-1].id)

    async def nothing(self, scope, receive, send):
        pass

    async def test_id_and_kind_from_callables(self):
        app = self.ring.asgi(self.nothing, id=lambda scope: scope["n"], kind=lambda scope: "kind" + scope["path"])
        await app(scope("/x", n=9), receive, ignore)
        await app(scope("/x"), receive, ignore)  # KeyError in the callable
        self.assertEqual([9, 0], [s.id[0] for s in self.read()])
        self.assertEqual(["kind/x"] * 2, [s.kind for s in self.read()])

    async def test_kind_is_the_route_else_one_of_few_paths(self):
        async def routed(scope, receive, send):
            scope["route"] = types.SimpleNamespace(path="/items/{id}")

        await self.ring.asgi(routed)(scope("/items/5"), receive, ignore)
        app = self.ring.asgi(self.nothing)
        for i in range(40):
            await app(scope("/%d" % i), receive, ignore)
        kinds = [s.kind for s in self.read()]
        self.assertEqual(["/items/{id}"] + ["/%d" % i for i in range(32)] + ["other"] * 8, kinds)

    async def test_answers_of_500_and_above_flag_the_window(self):
        sent = []

        async def send(message):
            sent.append(message)

        for status, flag in ((200, 0), (404, 0), (500, ERROR), (503, ERROR)):

            async def handler(scope, receive, send):
                await send({"type": "http.response.start", "status": status, "headers": []})
                await send({"type": "http.response.body", "body": b""})

            await self.ring.asgi(handler)(scope(), receive, send)
            self.assertEqual(flag, self.read()[-1].flags)
        self.assertEqual(8, len(sent))

    async def test_what_is_not_http_passes(self):
        seen = []

        async def handler(scope, receive, send):
            seen.append(scope["type"])
            self.assertIs(tailtrace_ring._nowhere, current())

        for kind in ("lifespan", "websocket"):
            await self.ring.asgi(handler)({"type": kind}, receive, ignore)
        self.assertEqual(["lifespan", "websocket"], seen)
        self.assertEqual([], self.read())

    async def test_without_a_ring_requests_pass(self):
        self.ring.close()

        async def handler(scope, receive, send):
            current().mark("x")
            return "answer"

        self.assertEqual("answer", await self.ring.asgi(handler)(scope(), receive, ignore))


class DriveTest(unittest.TestCase):
    """The middleware under an event loop of the test's own, which sees all that passes."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(dir="/dev/shm", prefix="tailtrace-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.ring = tailtrace_ring.open("test", 64, self.dir)
        self.addCleanup(self.ring.close)

    def start(self, handler):
        return self.ring.asgi(handler)(scope(), receive, ignore)

    def test_values_pass_in_both_directions(self):
        @types.coroutine
        def swap(value):
            return (yield value)

        async def handler(scope, receive, send):
            return [await swap(1), await swap(2)]

        steps = self.start(handler)
        self.assertEqual(1, steps.send(None))
        self.assertEqual(2, steps.send("a"))
        with self.assertRaises(StopIteration) as stop:
            steps.send("b")
        self.assertEqual(["a", "b"], stop.exception.value)

    def test_close_runs_the_handlers_cleanup(self):
        cleaned = []

        async def handler(scope, receive, send):
            try:
                await asyncio.sleep(0)
            finally:
                cleaned.append(True)

        steps = self.start(handler)
        steps.send(None)
        contextvars.Context().run(steps.close)  # as a loop that is torn down does
        self.assertEqual([True], cleaned)
        (s,) = ringfile.read(ringfile.path_of(self.dir))
        self.assertEqual((TIMEOUT, [2, 3]), (s.flags, [p.type for p in s.points]))

    def test_handler_that_ignores_close_is_told_so(self):
        async def handler(scope, receive, send):
            try:
                await asyncio.sleep(0)
            except GeneratorExit:
                await asyncio.sleep(0)

        steps = self.start(handler)
        steps.send(None)
        with self.assertRaises(RuntimeError):
            steps.close()

    def test_nothing_is_kept_alive(self):
        class Error(Exception):
            pass

        async def handler(scope, receive, send):
            try:
                await asyncio.sleep(0)
            except Error:
                await asyncio.sleep(0)

        steps = self.start(handler)
        steps.send(None)
        error = Error()
        steps.throw(error)
        references = sys.getrefcount(error)
        with self.assertRaises(StopIteration):
            steps.send(None)
        error.__traceback__ = None
        self.assertLessEqual(sys.getrefcount(error), references)


if __name__ == "__main__":
    unittest.main()
