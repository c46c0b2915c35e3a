#!/usr/bin/env python3
"""Tunnels: half-closes, resets, slow readers, early bytes, timers, descriptors,
and every order of events on both sides."""

import contextlib
import hashlib
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import threading
import time

from lib import (BIN, Client, Gateway, Server, Vectors, check, echo, equal,
                 folder, main, wait_until)

V = Vectors()


def configuration(where, *ports, **more):
    config = {
        "gateway": dict(V.gateway),
        "group main": {"members": V.write(where), "requests": "unlimited",
                       "tunnels": "unlimited"},
        "egress": {"allow": "*", "except": [f"127.0.0.1:{p}" for p in ports]},
        "ledger": {"journal": where / "journal"},
    }
    for section, keys in more.items():
        config.setdefault(section.replace("_", " "), {}).update(keys)
    return config


@contextlib.contextmanager
def gate(handle=echo, **more):
    with folder() as where, Server(handle) as site:
        with Gateway(where, configuration(where, site.port, **more)) as g:
            yield g, f"127.0.0.1:{site.port}"
            equal(g.stop(), 0, "exit code")


def ended(g, reason, count=1):
    wait_until(lambda: g.metric("postern_sessions_ended_total",
                                reason=reason) >= count, 10, reason)


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.close()


def test_early_bytes_go_first():
    early = os.urandom(5000)
    with gate() as (g, target):
        with g.client() as c:
            equal(c.connect(target, V.token("member 0"), early=early).code, 200)
            equal(c.read(len(early)), early)
        # More than the gateway keeps: the rest waits in the socket, in order.
        many = os.urandom(300000)
        with g.client() as c:
            sender = threading.Thread(target=c.send, args=(
                f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
                "Proxy-Authorization: Semaphore "
                f"{V.token('member 1')}\r\n\r\n".encode() + many,))
            sender.start()
            equal(c.answer().code, 200)
            equal(c.read(len(many)), many)
            sender.join()


def test_half_close_by_the_client():
    def count(sock):
        """Answers only when the client has ended."""
        n = 0
        while data := sock.recv(65536):
            n += len(data)
        time.sleep(0.2)
        sock.sendall(str(n).encode())
        sock.shutdown(socket.SHUT_WR)

    with gate(count) as (g, target), g.client() as c:
        equal(c.connect(target, V.token("member 0")).code, 200)
        c.send(b"x" * 1000)
        c.sock.shutdown(socket.SHUT_WR)
        equal(c.read_all(), b"1000")
        ended(g, "closed")


def test_half_close_by_the_target():
    def first(sock):
        """Ends its side at once and reads on."""
        sock.sendall(b"bye")
        sock.shutdown(socket.SHUT_WR)
        seen = b""
        while data := sock.recv(65536):
            seen += data
        first.seen = seen

    first.seen = None
    with gate(first) as (g, target), g.client() as c:
        equal(c.connect(target, V.token("member 0")).code, 200)
        equal(c.read_all(), b"bye")
        c.send(b"still here")
        c.sock.shutdown(socket.SHUT_WR)
        wait_until(lambda: first.seen == b"still here")
        ended(g, "closed")


def test_reset_is_passed_on():
    def rude(sock):
        sock.recv(1)
        reset(sock)

    with gate(rude) as (g, target), g.client() as c:
        equal(c.connect(target, V.token("member 0")).code, 200)
        c.send(b"x")
        try:
            c.sock.recv(1)
            raise AssertionError("an orderly end")
        except ConnectionResetError:
            pass
        ended(g, "reset")


def test_a_slow_reader_holds_its_sender_only():
    sent = [0]

    def pour(sock):
        sock.settimeout(20)
        if sock.recv(1) == b"p":
            with contextlib.suppress(OSError):
                while sent[0] < 200 << 20:
                    sent[0] += sock.send(b"x" * 65536)
        else:
            echo(sock)

    with gate(pour) as (g, target), g.client() as slow, g.client() as other:
        equal(slow.connect(target, V.token("member 0")).code, 200)
        before = memory(g)
        slow.send(b"p")
        time.sleep(0.5)
        held = sent[0]
        time.sleep(0.5)
        # The sender is stopped by its socket: some MiB of kernel buffers at
        # most, and nothing of it in the gateway.
        check(sent[0] == held, "still pouring")
        check(held < 40 << 20, f"{held} bytes on the way")
        check(memory(g) - before < 4 << 20, memory(g) - before)
        equal(other.connect(target, V.token("member 1")).code, 200)
        other.send(b"e123")
        equal(other.read(3), b"123")
        # It reads on, and so the sender goes on.
        wait_until(lambda: slow.sock.recv(1 << 20) and sent[0] > held, 10,
                   "it goes on")


def memory(g):
    """Resident bytes of the gateway."""
    with open(f"/proc/{g.process.pid}/statm") as f:
        return int(f.read().split()[1]) * 4096


def test_much_goes_through_unharmed():
    size = 50 << 20
    seed = os.urandom(1 << 20)

    def source(sock):
        sock.recv(1)
        for _ in range(size >> 20):
            sock.sendall(seed)
        sock.shutdown(socket.SHUT_WR)
        digest = hashlib.sha256()
        while data := sock.recv(1 << 20):
            digest.update(data)
        source.digest = digest.hexdigest()

    source.digest = None
    want = hashlib.sha256(seed * (size >> 20)).hexdigest()
    with gate(source) as (g, target), g.client(60) as c:
        equal(c.connect(target, V.token("member 0")).code, 200)

        def up():
            c.send(b"g")
            for _ in range(size >> 20):
                c.send(seed)
            c.sock.shutdown(socket.SHUT_WR)

        t = threading.Thread(target=up)
        t.start()
        digest = hashlib.sha256()
        while data := c.sock.recv(1 << 20):
            digest.update(data)
        t.join()
        equal(digest.hexdigest(), want)
        wait_until(lambda: source.digest, 10)
        equal(source.digest, want)
        equal(g.metric("postern_tunnel_bytes_total", direction="down"), size)
        equal(g.metric("postern_tunnel_bytes_total", direction="up"), size + 1)


def test_idle_and_lifetime():
    with gate(egress={"idle_timeout": "1s"}) as (g, target):
        with g.client() as c:
            equal(c.connect(target, V.token("member 0")).code, 200)
            for _ in range(4):  # not idle: longer than the timeout in all
                time.sleep(0.4)
                c.send(b"x")
                equal(c.read(1), b"x")
            ended(g, "idle")
            with contextlib.suppress(ConnectionResetError):
                equal(c.sock.recv(1), b"")
    with gate(egress={"idle_timeout": "1s", "lifetime": "1s"}) as (g, target):
        with g.client() as c:
            equal(c.connect(target, V.token("member 0")).code, 200)
            with contextlib.suppress(OSError):
                for _ in range(30):
                    time.sleep(0.1)
                    c.send(b"x")
            ended(g, "lifetime")


def test_bytes_of_one_tunnel():
    with gate(egress={"tunnel_bytes": "10k"}) as (g, target):
        with g.client() as c:
            equal(c.connect(target, V.token("member 0")).code, 200)
            with contextlib.suppress(OSError):
                c.send(b"x" * 20000)
                check(len(c.read_all()) <= 10240)
            wait_until(lambda: g.metric("postern_tunnels") == 0)
        check(g.metric("postern_tunnel_bytes_total", direction="up") <= 10240)


def test_draining():
    with folder() as where, Server(echo) as site:
        target = f"127.0.0.1:{site.port}"
        g = Gateway(where, configuration(where, site.port,
                                         run={"drain": "10s"})).start()
        try:
            with g.client() as c, g.client() as idle:
                equal(idle.connect(target).code, 407)
                equal(c.connect(target, V.token("member 0")).code, 200)
                g.send_signal(signal.SIGTERM)
                wait_until(lambda: "draining" in g.log())
                equal(g.http("/readyz")[0], 503)
                equal(g.http("/healthz")[0], 200)
                equal(idle.read_all(), b"")  # who wants nothing is sent away
                try:  # nobody new
                    Client(g.port, 2)
                    raise AssertionError("the door is open")
                except OSError:
                    pass
                c.send(b"still")  # who is inside goes on
                equal(c.read(5), b"still")
            started = time.monotonic()
            equal(g.process.wait(5), 0)  # and ends with the last
            check(time.monotonic() - started < 2)
        finally:
            g.kill()
        check("drained" in g.log() and "stopped" in g.log())


def test_the_drain_has_an_end():
    with folder() as where, Server(echo) as site:
        g = Gateway(where, configuration(where, site.port,
                                         run={"drain": "500ms"})).start()
        try:
            with g.client() as c:
                equal(c.connect(f"127.0.0.1:{site.port}",
                                V.token("member 0")).code, 200)
                g.send_signal(signal.SIGTERM)
                equal(g.process.wait(5), 0)
        finally:
            g.kill()


def test_a_second_term_ends_at_once():
    with folder() as where, Server(echo) as site:
        g = Gateway(where, configuration(where, site.port)).start()
        try:
            with g.client() as c:
                equal(c.connect(f"127.0.0.1:{site.port}",
                                V.token("member 0")).code, 200)
                g.send_signal(signal.SIGTERM)
                wait_until(lambda: "draining" in g.log())
                g.send_signal(signal.SIGTERM)
                equal(g.process.wait(2), 0)
        finally:
            g.kill()


def test_descriptors_run_out():
    """Accepting pauses, those inside are served, and it goes on after."""
    with folder() as where, Server(echo) as site:
        target = f"127.0.0.1:{site.port}"
        config = configuration(where, site.port, limits={"reserve": 16})
        g = Gateway(where, config)
        g.write()

        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))

        with open(g.log_file, "ab") as log:
            g.process = subprocess.Popen([BIN, "run", "-c", str(g.file)],
                                         stderr=log, preexec_fn=few)
        crowd = []
        try:
            wait_until(g.ready, 20, "ready")
            for _ in range(100):
                crowd.append(Client(g.port))
            wait_until(lambda: "descriptors_out" in g.log(), 10)
            # The first of the crowd is inside and gets its tunnel.
            equal(crowd[0].connect(target, V.token("member 0")).code, 200)
            crowd[0].send(b"x")
            equal(crowd[0].read(1), b"x")
            for c in crowd[1:]:
                c.sock.close()
            wait_until(lambda: "descriptors_back" in g.log(), 10)
            with g.client() as c:
                equal(c.connect(target, V.token("member 1")).code, 200)
            for c in crowd:
                c.sock.close()
            equal(g.stop(), 0)
        finally:
            g.kill()


def test_unix_and_ipv6_listeners():
    with folder() as where, Server(echo) as site:
        path = where / "gate.sock"
        config = configuration(where, site.port)
        g = Gateway(where, config)
        g.config["gateway"]["listen"] = [
            f"127.0.0.1:{g.port}", f"[::1]:{g.port}", f"unix:{path}"]
        with g:
            for family, address in ((socket.AF_INET6, ("::1", g.port)),
                                    (socket.AF_UNIX, str(path))):
                c = Client.__new__(Client)
                c.sock, c.rest, c.secrets = socket.socket(family), b"", set()
                c.sock.settimeout(10)
                c.sock.connect(address)
                equal(c.connect(f"127.0.0.1:{site.port}",
                                V.token("member 0")).code, 200, str(family))
                c.send(b"x")
                equal(c.read(1), b"x")
                c.sock.close()
            equal(g.stop(), 0)
        check(not path.exists(), "the socket is gone")


def test_ipv6_targets():
    with folder() as where, Server(echo, "::1") as site:
        config = configuration(where)
        config["egress"]["except"] = f"[::1]:{site.port}"
        with Gateway(where, config) as g, g.client() as c:
            equal(c.connect(f"[::1]:{site.port}",
                            V.token("member 0")).code, 200)
            c.send(b"six")
            equal(c.read(3), b"six")


def test_happy_eyeballs():
    """A name whose first address does not answer is reached by the second."""
    from lib import NameServer
    with folder() as where, Server(echo) as site, \
            NameServer({"two.example": ["::1", "127.0.0.1"]}) as dns:
        config = configuration(where, site.port, egress={
            "allow": ".example", "ports": site.port,
            "dns": f"127.0.0.1:{dns.port}"})
        config["egress"]["except"] = [f"127.0.0.1:{site.port}",
                                      f"[::1]:{site.port}"]
        with Gateway(where, config) as g, g.client() as c:
            equal(c.connect(f"two.example:{site.port}",
                            V.token("member 0")).code, 200)
            c.send(b"x")
            equal(c.read(1), b"x")


def test_the_source_address():
    def who(sock):
        sock.sendall(sock.getpeername()[0].encode())

    with gate(who, egress={"source4": "127.0.0.9"}) as (g, target):
        with g.client() as c:
            equal(c.connect(target, V.token("member 0")).code, 200)
            equal(c.read_all(), b"127.0.0.9")


def play(g, target, dice, results):
    """One client that does what the dice say, at random moments."""
    steps = dice.choices(["send", "wait", "read", "half", "close", "reset",
                          "urgent", "again"], k=dice.randrange(1, 8))
    early = b"e" * dice.choice([0, 0, 1, 100, 20000])
    with contextlib.suppress(OSError, ConnectionError, IndexError):
        c = Client(g.port, 5)
        head = (f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
                f"Proxy-Authorization: Semaphore "
                f"{V.token('member %d' % dice.randrange(8))}\r\n\r\n"
                ).encode() + early
        cut = dice.randrange(len(head) + 1)
        c.send(head[:cut])
        if dice.random() < 0.3:
            time.sleep(dice.random() * 0.02)
        if dice.random() < 0.1:
            reset(c.sock)
            return
        c.send(head[cut:])
        if dice.random() < 0.8:
            results.append(c.answer().code)
        for step in steps:
            if step == "send":
                c.send(b"x" * dice.choice([1, 1000, 100000]))
            elif step == "wait":
                time.sleep(dice.random() * 0.02)
            elif step == "read":
                c.sock.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    c.sock.recv(65536)
            elif step == "half":
                c.sock.shutdown(socket.SHUT_WR)
            elif step == "urgent":
                c.sock.send(b"!", socket.MSG_OOB)
            elif step == "reset":
                reset(c.sock)
                return
            elif step == "close":
                break
        c.sock.close()


def test_every_order_of_events():
    """Clients and targets that do anything at any time: every session ends, by
    a known reason, and nothing is left of it."""
    seed = int(os.environ.get("TEST_SEED", random.randrange(1 << 32)))
    print(f"seed {seed}")
    dice = random.Random(seed)

    def moody(sock):
        mine = random.Random(dice.random())
        sock.settimeout(2)
        with contextlib.suppress(OSError):
            for _ in range(mine.randrange(6)):
                step = mine.choice(["send", "read", "wait", "half"])
                if step == "send":
                    sock.sendall(b"y" * mine.choice([1, 5000, 200000]))
                elif step == "read":
                    sock.recv(65536)
                elif step == "wait":
                    time.sleep(mine.random() * 0.02)
                else:
                    sock.shutdown(socket.SHUT_WR)
            if mine.random() < 0.3:
                reset(sock)

    with gate(moody, egress={"idle_timeout": "2s"},
              limits={"head_timeout": "1s", "sessions": 64}) as (g, target):
        results = []

        def crowd(my_seed):
            mine = random.Random(my_seed)
            for _ in range(40):
                play(g, target, mine, results)

        threads = [threading.Thread(target=crowd, args=(dice.random(),))
                   for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        check(results.count(200) > 100, f"{results.count(200)} tunnels")
        wait_until(lambda: g.metric("postern_sessions") == 0, 20,
                   "no session is left")
        equal(g.metric("postern_tunnels"), 0)
        # Each one that was taken has ended by a reason that has a name.
        text = g.http("/metrics")[1]
        ends = sum(float(line.split()[1]) for line in text.splitlines()
                   if line.startswith("postern_sessions_ended_total{"))
        taken = g.metric("postern_connections_total") - \
            g.metric("postern_connections_refused_total")
        equal(ends, taken)
        check("internal" not in g.log())
        # And the next one is served; a target that resets at once, which is
        # a 502, does not do so each time.
        def served():
            with g.client() as c:
                return c.connect(target, V.token("member 0")).code == 200
        wait_until(served, 5)


main(globals())
