# SPDX-License-Identifier: MIT
"""What the peers that are written in Python share: the mechanism, the task, time and measures (of libpeer_measures)."""

import ctypes
import json
import os
import pathlib
import sys
import time

import numpy

CANNOT = 3


class Joint:
    """A body and the joint to its parent, or a loop's closure; see mechanism.h."""

    def __init__(self, kind, place, axis):
        self.kind, self.place, self.axis = kind, numpy.array(place), numpy.array(axis)


class Mechanism:
    def __init__(self, path):
        self.path, self.bodies, self.closures, self.beam = path, [], [], None
        for line in pathlib.Path(path).read_text().splitlines():
            word, *rest = line.split()
            if word == "gravity":
                self.gravity = numpy.array([float(x) for x in rest])
            elif word == "beam":
                self.beam = [float(x) for x in rest]
            elif word == "body":
                x = [float(w) for w in rest[2:]]
                body = Joint(rest[1], x[0:3], x[3:6])
                body.parent, body.centre, body.mass = int(rest[0]), numpy.array(x[6:9]), x[9]
                xx, yy, zz, xy, xz, yz = x[10:16]
                body.inertia, body.rates = numpy.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), x[16:22]
                self.bodies.append(body)
            elif word == "close":
                x = [float(w) for w in rest[3:]]
                closure = Joint(rest[2], x[0:3], x[3:6])
                closure.a, closure.b = int(rest[0]), int(rest[1])
                self.closures.append(closure)

    def origin(self, index):
        """Where the frame of a body is taken: its joint, or its centre if it is free."""
        if index < 0:
            return numpy.zeros(3)
        body = self.bodies[index]
        return body.centre if body.kind == "free" else body.place

    def planar(self):
        joints = self.bodies + self.closures
        return all(j.kind == "hinge" and numpy.abs(numpy.cross(joints[0].axis, j.axis)).max() < 1e-12 for j in joints)

    def points(self, closure):
        """Points that close a loop: of a hinge two of its axis, but one in a planar mechanism."""
        if closure.kind == "hinge" and not self.planar():
            return [closure.place - 0.5 * closure.axis, closure.place + 0.5 * closure.axis]
        return [closure.place]


class Measures:
    def __init__(self, mechanism):
        self.library = ctypes.CDLL(os.environ["PEER_MEASURES"])
        self.library.peer_measures_of.restype = ctypes.c_bool
        self.mechanism, self.out = mechanism, numpy.zeros(9)

    def call(self, motions, start, places):
        pointer = ctypes.POINTER(ctypes.c_double)
        as_pointer = lambda x: None if x is None else x.ctypes.data_as(pointer)  # noqa: E731
        good = self.library.peer_measures_of(str(self.mechanism.path).encode(), as_pointer(motions), as_pointer(start),
                                             as_pointer(self.out), places.encode() if places else None)
        if not good:
            sys.exit(1)
        return self.out.copy()

    def start(self):
        """Motions of all bodies at the start, 18 numbers each: centre, velocity, rotation by rows, spin."""
        start = numpy.zeros((len(self.mechanism.bodies), 18))
        self.call(None, start, None)
        return start

    def now(self, tell, places=None):
        motions = numpy.array([numpy.concatenate([numpy.ravel(part) for part in tell(k)])
                               for k in range(len(self.mechanism.bodies))])
        return self.call(motions, None, places)


def cannot(why):
    print(why, file=sys.stderr)
    sys.exit(CANNOT)


class Task:
    """MECHANISM INTEGRATOR STEP END BUDGET REPEATS PLACES LOOKS"""

    def __init__(self, words):
        self.mechanism = Mechanism(words[0])
        self.integrator, self.places = words[1], words[6]
        self.step, self.end, self.budget = (float(w) for w in words[2:5])
        self.repeats, self.looks = int(words[5]), max(int(words[7]), 1)


def timed(program, steps, until):
    begin = time.process_time()
    taken = program.advance(steps, until)
    return taken, max(time.process_time() - begin - program.overhead * (steps > 0 or program.adaptive), 1e-9)


def one_repeat(task, program, measures, first):
    """Steps up to each look; what a step takes is learnt from a few, so that the budget is kept."""
    total = 0 if program.adaptive else round(task.end / task.step)
    looks = task.looks if first else 1
    steps, seconds, change, scale, gap = 0, 0.0, 0.0, 0.0, 0.0
    program.start()
    start = measures.now(program.tell)
    for look in range(1, looks + 1):
        until, more = task.end * look / looks, total * look // looks - steps
        if program.adaptive:
            taken, spent = timed(program, 0, until)
            steps, seconds = steps + taken, seconds + spent
        while more > 0 and seconds < task.budget:
            each = seconds / steps if steps else None
            batch = max(1, more // 50) if each is None else max(1, min(more, int((task.budget - seconds) / each) + 1))
            taken, spent = timed(program, batch, None)
            steps, seconds, more = steps + taken, seconds + spent, more - batch
        last = look == looks or seconds >= task.budget
        now = measures.now(program.tell, task.places if last and first and task.places != "-" else None)
        change = max(change, abs(now[0] + now[1] - start[0] - start[1]))
        scale, gap = max(scale, now[0] + abs(now[1] - start[1])), max(gap, now[8])
        if last:
            break
    return {"steps": steps, "seconds": seconds, "seconds_per_step": seconds / max(steps, 1), "drift": change / scale if scale else 0.0,
            "gap": gap, "time": until if program.adaptive else steps * task.step, "start": list(start[:8]),
            "end": list(now[:8])}


def drive(task, program, engine, version, note):
    """`program`: start(), advance(steps, time) giving steps, tell(body), adaptive, overhead of a call of advance in s."""
    measures, best = Measures(task.mechanism), None
    for repeat in range(task.repeats):
        found = one_repeat(task, program, measures, repeat == 0)
        if best is None:
            best = found
        elif found["seconds"] < best["seconds"]:
            best.update({k: found[k] for k in ("seconds", "seconds_per_step", "steps")})
    print(json.dumps({"engine": engine, "version": version, "note": note, **best}))
