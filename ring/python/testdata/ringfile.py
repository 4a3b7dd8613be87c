"""Reads a whole ring file, for tests: knows the ABI, not the publisher."""

import collections
import glob
import os
import struct
import zlib

Slot = collections.namedtuple("Slot", "index type kind flags id begin end cpu tid end_tid points")
Point = collections.namedtuple("Point", "type name offset")

MARK, SUSPEND, RESUME, THREAD = 1, 2, 3, 4


def path_of(directory, pid=None):
    return os.path.join(directory, "tailtrace-%d.ring" % (pid or os.getpid()))


def rings(directory):
    return sorted(glob.glob(os.path.join(directory, "tailtrace-*.ring")))


def read(path):
    """All whole slots of the ring, in order; slots that are not whole are an error."""
    with open(path, "rb") as f:
        data = f.read()
    magic, version, header, size, slots, pid, clock = struct.unpack_from("<8sIIIIII", data)
    assert (magic, version, header, size, clock) == (b"TTRING\0\1", 1, 4096, 256, 1), data[:32]
    assert len(data) == 4096 + 256 * slots
    (used,) = struct.unpack_from("<I", data, 40)
    (head,) = struct.unpack_from("<Q", data, 64)
    names = [data[256 + 64 * i : 320 + 64 * i].rstrip(b"\0").decode() for i in range(60)]
    assert used <= 60 and not any(names[used:]), names
    names = [""] + names[:used]
    found = []
    for index in range(max(0, head - slots), head):
        found.append(_slot(data, 4096 + 256 * (index % slots), index, names))
    return found


def _slot(data, at, index, names):
    seq, crc, type, kind, count, flags, id, begin, end, cpu, tid, end_tid = struct.unpack_from(
        "<QIBBBB16sQQQII", data, at
    )
    assert seq == 2 * index + 2, (seq, index)
    assert crc == zlib.crc32(data[at : at + 8] + data[at + 12 : at + 256])
    words = struct.unpack_from("<%dQ" % count, data, at + 64)
    points, i = [], 0
    while i < count:
        what, offset = words[i] >> 56, words[i] & (1 << 48) - 1
        name = names[words[i] >> 48 & 255]
        if what == THREAD:
            i += 1
            name = words[i]
        points.append(Point(what, name, offset))
        i += 1
    return Slot(index, type, names[kind], flags, id, begin, end, cpu, tid, end_tid, points)
