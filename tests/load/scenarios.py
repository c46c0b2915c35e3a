#!/usr/bin/env python3
"""Load and abuse over loopback, each a bounded scenario with its figures.

	tests/load/scenarios.py NAME [KEY=NUMBER...]

NAME is one of those that it lists without arguments; the keys are a scenario's
parameters. A scenario raises what does not hold and prints figures as JSON.
Short variants are part of the normal run (tests/e2e/test_abuse.py).
"""

import contextlib
import inspect
import json
import os
import pathlib
import random
import resource
import selectors
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

# pylint: disable=wrong-import-position
from lib import (Client, Gateway, Server, Vectors, check, echo, equal, folder,
                 postern, wait_until)
from redislib import Redis

V = Vectors()


def raise_descriptors():
    """As many as may be open, here and in the gateway; root may have more."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):
        hard = max(hard, 65536)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return hard
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


@contextlib.contextmanager
def gate(site, **more):
    """A gateway in front of SITE; its members have much."""
    with folder() as where:
        config = {
            "gateway": dict(V.gateway),
            "group main": {"members": V.write(where), "requests": 1000000,
                           "tunnels": "unlimited"},
            "egress": {"allow": "*", "except": f"127.0.0.1:{site.port}"},
            "ledger": {"journal": where / "journal"},
            "log": {"level": "notice"},
        }
        for section, keys in more.items():
            config.setdefault(section.replace("_", " "), {}).update(keys)
        with Gateway(where, config, debug=False) as g:
            g.where, g.target = where, f"127.0.0.1:{site.port}"
            yield g
            equal(g.stop(), 0, "exit code")


def memory(g):
    """Resident bytes."""
    text = pathlib.Path(f"/proc/{g.process.pid}/statm").read_text()
    return int(text.split()[1]) * resource.getpagesize()


def descriptors(g):
    return len(os.listdir(f"/proc/{g.process.pid}/fd"))


def head(target, token):
    return (f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
            f"Proxy-Authorization: Semaphore {token}\r\n\r\n").encode()


def served(g, seconds, name="member 0"):
    """CONNECTs one after another for so long: (a second, slowest in s)."""
    token, n, slowest = V.token(name), 0, 0.0
    end = time.monotonic() + seconds
    start = time.monotonic()
    while time.monotonic() < end:
        before = time.monotonic()
        with g.client() as c:
            equal(c.connect(g.target, token).code, 200, "a member's answer")
        slowest = max(slowest, time.monotonic() - before)
        n += 1
    return n / (time.monotonic() - start), slowest


class Site:
    """An echo server for very many connections, in one thread."""

    def __init__(self):
        self._listen = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self._listen.getsockname()[1]
        self._stop = False
        self.pushing = False
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop = True

    def _run(self):
        with selectors.DefaultSelector() as s, self._listen:
            self._listen.setblocking(False)
            s.register(self._listen, selectors.EVENT_READ)
            while not self._stop:
                for key, _ in s.select(0.1):
                    self._ready(s, key.fileobj)
            for key in list(s.get_map().values()):
                key.fileobj.close()

    def _ready(self, s, sock):
        with contextlib.suppress(BlockingIOError):
            if sock is self._listen:
                for _ in range(256):
                    new, _ = sock.accept()
                    new.setblocking(False)
                    s.register(new, selectors.EVENT_READ)
                return
            try:
                data = sock.recv(65536)
                if data:
                    sock.send(data)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                s.unregister(sock)
                sock.close()


# --- scenarios ----------------------------------------------------------------


def loris(connections=2000, deadline=5, probe=3):
    """Heads that come a byte a second: each is cut at its deadline."""
    raise_descriptors()
    with Site() as site, gate(site, limits={
            "sessions": connections + 100,
            "head_timeout": f"{deadline}s"}) as g:
        quiet, _ = served(g, probe)
        start = time.monotonic()
        slow = []
        for _ in range(connections):
            s = socket.create_connection(("127.0.0.1", g.port))
            slow.append([s, time.monotonic(), None])
        result = {}
        member = threading.Thread(target=lambda: result.update(zip(
            ("rate", "slowest"), served(g, probe))))
        member.start()
        text = b"CONNECT example.com:443 HTTP/1.1\r\nX: " + b"a" * 1000
        for second in range(deadline + 6):
            for one in slow:
                with contextlib.suppress(OSError):
                    if one[2] is None:
                        one[0].send(text[second:second + 1])
            until = start + second + 1
            with selectors.DefaultSelector() as s:
                for one in slow:
                    if one[2] is None:
                        s.register(one[0], selectors.EVENT_READ, one)
                while s.get_map() and time.monotonic() < until:
                    for key, _ in s.select(max(0, until - time.monotonic())):
                        key.data[2] = time.monotonic() - key.data[1]
                        s.unregister(key.fileobj)
        member.join()
        ended = [one[2] for one in slow]
        for one in slow:
            one[0].close()
        check(None not in ended, f"{ended.count(None)} were not cut")
        check(min(ended) >= deadline - 0.1, f"cut after {min(ended)} s")
        check(max(ended) <= deadline + 2, f"cut after {max(ended)} s")
        check("rate" in result, "members were not served")
        return {"connections": connections, "cut_after_s": [
            round(min(ended), 2), round(max(ended), 2)],
            "member_connects_per_s": [round(quiet), round(result["rate"])],
            "member_slowest_ms": round(result["slowest"] * 1000, 1)}


def garbage(rate=1000, seconds=300):
    """RATE connects a second that send nonsense: nothing leaks."""
    raise_descriptors()
    with Site() as site, gate(site) as g:
        random.seed(7)
        pieces = [os.urandom(random.randrange(1, 3000)) for _ in range(64)]
        pieces += [b"GET / HTTP/1.1\r\n\r\n", head("x:443", "eyJ9"), b"\r\n",
                   b"\x16\x03\x01\x02", b"CONNECT a:1 HTTP/1.1\r\n" * 50]

        def burst(n):
            for _ in range(n):
                with contextlib.suppress(OSError), socket.create_connection(
                        ("127.0.0.1", g.port)) as s:
                    s.send(random.choice(pieces))

        burst(2000)
        wait_until(lambda: g.metric("postern_sessions") <= 1, 20)
        before = memory(g), descriptors(g)
        start, sent = time.monotonic(), 0
        while time.monotonic() - start < seconds:
            burst(rate // 10)
            sent += rate // 10
            left = sent / rate - (time.monotonic() - start)
            if left > 0:
                time.sleep(left)
        took = time.monotonic() - start
        wait_until(lambda: g.metric("postern_sessions") <= 1, 20)
        after = memory(g), descriptors(g)
        check(after[1] <= before[1] + 1, f"descriptors {before} {after}")
        check(after[0] <= before[0] + (4 << 20), f"memory {before} {after}")
        served(g, 0.2)
        return {"connects": sent, "per_s": round(sent / took),
                "memory_kb": [before[0] >> 10, after[0] >> 10],
                "descriptors": [before[1], after[1]]}


def quota(circuits=50, requests=20, each=8):
    """A member asks from many circuits at once: exactly the quota passes."""
    with Server(echo) as site, gate(site, group_main={
            "requests": requests}, gateway={"proxy_line": "required"}) as g:
        token, codes, lock = V.token("member 0"), [], threading.Lock()
        go = threading.Barrier(circuits)

        def ask(circuit):
            clients = [Client(g.port) for _ in range(each)]
            go.wait()
            for c in clients:
                c.send(f"PROXY TCP6 fc00:dead:beef:4dad::0:{circuit:x} ::1 "
                       f"{1000 + circuit} 80\r\n".encode()
                       + head(g.target, token))
            for c in clients:
                with lock, c:
                    codes.append(c.answer().code)

        threads = [threading.Thread(target=ask, args=(i + 1,))
                   for i in range(circuits)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        equal(len(codes), circuits * each)
        equal(codes.count(200), requests, "requests that passed")
        equal(codes.count(429), circuits * each - requests)
        return {"asked": len(codes), "passed": codes.count(200)}


def kill(rounds=500, clients=200, sync="always"):
    """kill -9 while clients work: no counted request is lost, the journal
    opens; what was answered with 200 stays within the quota."""
    with Server(echo) as site, folder() as where:
        names = [f"member {i}" for i in range(8)]
        limit = 1000 * rounds  # more than anybody gets to ask
        config = {
            "gateway": dict(V.gateway),
            "group main": {"members": V.write(where), "requests": limit},
            "egress": {"allow": "*", "except": f"127.0.0.1:{site.port}"},
            "ledger": {"journal": where / "journal", "sync": sync},
        }
        g = Gateway(where, config, debug=False)
        target = f"127.0.0.1:{site.port}"
        passed, lock = dict.fromkeys(names, 0), threading.Lock()
        random.seed(11)

        def work(name, stop):
            token = V.token(name)
            while not stop.is_set():
                with contextlib.suppress(OSError, ConnectionError), \
                        Client(g.port, 5) as c:
                    if c.connect(target, token).code == 200:
                        with lock:
                            passed[name] += 1

        starts = []
        for _ in range(rounds):
            before = time.monotonic()
            g.start()
            starts.append(time.monotonic() - before)
            stop = threading.Event()
            threads = [threading.Thread(
                target=work, args=(names[i % len(names)], stop))
                for i in range(clients)]
            for t in threads:
                t.start()
            time.sleep(random.uniform(0.05, 0.4))
            g.kill()
            stop.set()
            for t in threads:
                t.join()
        g.start()
        left = {}
        for name in names:
            with g.client() as c:
                a = c.connect(target, V.token(name))
                remaining = int(a.field("ratelimit").split("r=")[1]
                                .split(";")[0]) if a.code == 200 else 0
                left[name] = remaining + (1 if a.code == 200 else 0)
        check(min(left.values()) > 0, "the quota did not last")
        counted = {n: limit - left[n] for n in names}
        for name in names:
            check(counted[name] >= passed[name],
                  f"{passed[name]} passed, {counted[name]} are counted")
        equal(g.stop(), 0)
        return {"kills": rounds, "passed": sum(passed.values()),
                "counted": sum(counted.values()), "lost": 0,
                "slowest_start_ms": round(max(starts) * 1000)}


def reload(times=1000, tunnels=20):
    """Members and configuration change again and again under load."""
    with Server(echo) as site, gate(site) as g:
        held = [g.client() for _ in range(tunnels)]
        for c in held:
            equal(c.connect(g.target, V.token("member 0")).code, 200)
        before = memory(g), descriptors(g)
        for i in range(times):
            done = g.metric("postern_reloads_total")
            g.config["group main"]["requests"] = 1000000 + i % 2
            g.write()
            V.write(g.where, members=V.members[:8 - i % 2])
            g.send_signal(signal.SIGHUP)
            with g.client() as c:
                equal(c.connect(g.target, V.token("member 0")).code, 200)
            c = held[i % tunnels]
            c.send(b"still here")
            equal(c.read(10), b"still here")
            if i % 10 == 9:
                wait_until(lambda: g.metric("postern_reloads_total") > done, 10)
        with g.client() as c:
            token = token_bad()
            equal(c.connect(g.target, token).code, 407)
        # Those of the last requests are closed a moment later.
        wait_until(lambda: descriptors(g) <= before[1] + 2, 10,
                   f"no more descriptors than {before[1]}")
        after = memory(g), descriptors(g)
        for c in held:
            c.sock.close()
        check(after[0] <= before[0] + (8 << 20), f"memory {before} {after}")
        return {"reloads": int(g.metric("postern_reloads_total")),
                "memory_kb": [before[0] >> 10, after[0] >> 10]}


def token_bad():
    """A proof whose points are right and that does not hold."""
    from lib import token_of
    proof = dict(V.proof("member 0"))
    proof["nullifier"] = str(int(proof["nullifier"]) ^ 1)
    return token_of(proof)


def idle(tunnels=10000, seconds=600, probe=5):
    """Tunnels that do nothing: no drop, memory flat, new ones are served. As
    many as this machine has descriptors for, if these are fewer."""
    tunnels = min(tunnels, (raise_descriptors() - 200) // 2)
    with Site() as site, gate(site, limits={
            "sessions": tunnels + 100}, egress={
            "per_destination": "unlimited", "idle_timeout": "1h"}) as g:
        quiet, _ = served(g, probe)
        token = V.token("member 0")
        empty, held = memory(g), []
        for _ in range(tunnels):
            c = g.client(60)
            equal(c.connect(g.target, token).code, 200)
            held.append(c)
        full = memory(g)
        loaded, slowest = served(g, probe)
        time.sleep(seconds)
        later = memory(g)
        for c in held:
            c.send(b"x")
        for c in held:
            equal(c.read(1), b"x")
        for c in held:
            c.sock.close()
        wait_until(lambda: g.metric("postern_sessions") <= 1, 20)
        check(later <= full + (4 << 20), f"memory {full} {later}")
        check(loaded >= 0.9 * quiet, f"{loaded:.0f}/s, idle {quiet:.0f}/s")
        return {"tunnels": tunnels, "seconds": seconds,
                "bytes_a_tunnel": (full - empty) // tunnels,
                "memory_kb": [full >> 10, later >> 10],
                "connects_per_s": [round(quiet), round(loaded)],
                "slowest_ms": round(slowest * 1000, 1)}


def readers(tunnels=500, seconds=5):
    """Targets push and nobody reads: memory ends at the watermarks."""
    raise_descriptors()
    stop = threading.Event()

    def push(sock):
        sock.settimeout(1)
        if sock.recv(1) == b"e":
            echo(sock)
            return
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                sock.sendall(bytes(65536))

    with Server(push) as site, gate(site, egress={
            "per_destination": "unlimited"}) as g:
        token, held, empty = V.token("member 0"), [], memory(g)
        for _ in range(tunnels):
            c = g.client(60)
            c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            equal(c.connect(g.target, token).code, 200)
            c.send(b"p")
            held.append(c)
        time.sleep(seconds)
        half = memory(g)
        slowest = 0.0
        with g.client() as c:
            equal(c.connect(g.target, V.token("member 1")).code, 200)
            c.send(b"e")
            for _ in range(20):
                before = time.monotonic()
                c.send(b"ping")
                equal(c.read(4), b"ping")
                slowest = max(slowest, time.monotonic() - before)
        time.sleep(seconds)
        full = memory(g)
        stop.set()
        for c in held:
            c.sock.close()
        check(full <= half + (4 << 20), f"memory {half} {full}")
        return {"tunnels": tunnels, "bytes_a_tunnel": (full - empty) // tunnels,
                "memory_kb": [empty >> 10, half >> 10, full >> 10],
                "other_tunnel_slowest_ms": round(slowest * 1000, 1)}


def mean_count_us(gates):
    """What the gateways waited for a count, on average."""
    seconds, n = (sum(g.metric(f"postern_count_seconds_{what}") for g in gates)
                  for what in ("sum", "count"))
    return round(seconds / n * 1e6) if n else 0


def shared(requests=10000, connections=300, allowed=1000):
    """One member asks at three gateways with one ledger, over so many
    connections at once: exactly its quota passes."""
    raise_descriptors()
    with folder() as where, contextlib.ExitStack() as stack:
        redis = stack.enter_context(Redis())
        site = stack.enter_context(Site())
        key = where / "ledger.key"
        postern("ledger", "key", "-o", key)
        gates = []
        for i in range(3):
            (where / f"g{i}").mkdir()
            gates.append(stack.enter_context(Gateway(where / f"g{i}", {
                "gateway": dict(V.gateway),
                "group main": {"members": V.write(where), "requests": allowed,
                               "tunnels": "unlimited"},
                "egress": {"allow": "*", "except": f"127.0.0.1:{site.port}",
                           "per_destination": "unlimited"},
                "limits": {"attempts": 1000},
                "ledger": {"shared": redis.url, "shared_key_file": key},
            }, debug=False)))
        target, token = f"127.0.0.1:{site.port}", V.token("member 0")
        codes, times = [], []
        start = threading.Barrier(connections)

        def work(i):
            todo = requests // connections + (i < requests % connections)
            start.wait()
            c = gates[i % 3].client(timeout=120)
            for n in range(todo):
                before = time.monotonic()
                code = c.connect(target, token).code
                times.append(time.monotonic() - before)
                codes.append(code)
                # One that passed is a tunnel now.
                if code == 200 or n % 500 == 499:
                    c.sock.close()
                    c = gates[i % 3].client(timeout=120)
            c.sock.close()

        begin = time.monotonic()
        threads = [threading.Thread(target=work, args=(i,))
                   for i in range(connections)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        seconds = time.monotonic() - begin
        equal(codes.count(200), allowed, "how many passed")
        equal(codes.count(429), requests - allowed, "how many were refused")
        equal(redis.counted(), allowed, "how many are counted")
        times.sort()
        return {"requests": requests, "passed": allowed,
                "a_second": round(requests / seconds),
                "p50_ms": round(times[len(times) // 2] * 1000, 1),
                "p99_ms": round(times[len(times) * 99 // 100] * 1000, 1),
                "mean_wait_for_a_count_us": mean_count_us(gates)}


SCENARIOS = {f.__name__: f for f in (loris, garbage, quota, kill, reload, idle,
                                     readers, shared)}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in SCENARIOS:
        for name, f in SCENARIOS.items():
            print(f"{name:8} {inspect.signature(f)}\n         "
                  f"{' '.join(f.__doc__.split())}")
        return 2
    values = dict(a.split("=", 1) for a in sys.argv[2:])
    numbers = {k: int(v) if v.isdigit() else v for k, v in values.items()}
    print(json.dumps(SCENARIOS[sys.argv[1]](**numbers)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
