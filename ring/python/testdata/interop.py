"""Plays a script of windows: interop.py SCRIPT DIR ROUNDS. See interop.txt."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tailtrace_ring

script, directory, rounds = sys.argv[1:]
ring = tailtrace_ring.open(service="interop", slots=64, dir=directory)
names = [None]

def play(line):
    words = line.rstrip("\n").split(" ")
    if words[0] == "name":
        raw = re.sub(rb"\\x(..)", lambda m: bytes.fromhex(m[1].decode()), line.rstrip("\n")[5:].encode())
        name = raw.decode()
        if name not in names:
            names.append(name)
    elif words[0] == "slot":
        kind, flags = int(words[2]), int(words[3])
        id = bytes.fromhex(words[4])
        if not flags & tailtrace_ring.RAW_ID:
            id = int.from_bytes(id, "little")
        begin, end, cpu, tid, end_tid = map(int, words[5:10])
        points = []
        for word in words[10:]:
            what, arg, offset = map(int, word.split(":"))
            points.append((what, arg if what == tailtrace_ring.THREAD else names[arg], offset))
        ring.publish(int(words[1]), names[kind], id, begin, end, flags, cpu, tid, end_tid, points)
    for name in names:
        ring._word(name)

for _ in range(int(rounds)):
    with open(script) as f:
        for line in f:
            play(line)
shutil.copy(os.path.join(directory, "tailtrace-%d.ring" % os.getpid()), os.path.join(directory, "out"))
ring.close()
