#!/usr/bin/env python3
"""A request through three mixes and the gate: the same checks as a CONNECT, the
same ledger, the same words of refusal."""

import contextlib
import ctypes
import os
import socket
import struct
import subprocess
import threading

from lib import (BIN, WALLS, Gateway, Server, TlsSite, Vectors, check, equal,
                 folder, free_port, main, postern, wait_until)
from mixlib import Network, Wiretap

V = Vectors()


class World:
    """A network, an HTTPS site by address, and a gateway at the end of both."""

    def __init__(self, stack, page=b"hello from outside\n", requests=20,
                 suite="wide", names=("127.0.0.1",), **more):
        self.net = Network(stack, suite=suite)
        self.where = stack.enter_context(folder())
        self.site = stack.enter_context(TlsSite(self.where, names, page))
        self.target = f"127.0.0.1:{self.site.port}"
        self.url = f"https://{self.target}/page?x=1"
        self.at = f"127.0.0.1:{free_port()}"
        self.key = postern("mix", "keygen", "-o", self.where / "mix.key")
        config = {
            "gateway": dict(V.gateway),
            "group main": {"members": V.write(self.where),
                           "requests": requests},
            "egress": {"literals": "on", "ports": "443,20000-60999",
                       "except": self.target},
            "ledger": {"journal": self.where / "journal"},
            "mix": {"listen": self.at, "registry": self.net.registry,
                    "key": self.where / "mix.key",
                    "ca_file": self.site.cert, "suite": suite},
        }
        for section, keys in more.items():
            config.setdefault(section.replace("_", " "), {}).update(keys)
        self.gate = stack.enter_context(Gateway(self.where, config))
        self.gate.secrets |= {self.target, "page?x=1"}

    def fetch(self, name, url=None, *options, token=None):
        """(exit status, standard output, standard error)"""
        run = subprocess.run(
            [BIN, "mix", "fetch", "--registry", self.net.registry, "--suite",
             self.net.suite, "--gate", self.at, "--gate-key",
             self.key.strip(), "--mean", "2", "--timeout",
             "20", "--token", token or V.token(name), *map(str, options),
             url or self.url], capture_output=True, timeout=60, check=False)
        return run.returncode, run.stdout, run.stderr.decode()

    def restart(self):
        equal(self.gate.stop(), 0, "the gateway's end")
        self.gate.start()

    def count(self, result):
        return self.gate.metric("postern_mix_requests_total", result=result)


def test_a_page():
    with contextlib.ExitStack() as stack:
        w = World(stack)
        code, out, err = w.fetch("member 0")
        equal((code, out), (0, w.site.page), err)
        code, out, err = w.fetch("member 0", None, "--include")
        check(out.startswith(b"HTTP/1.1 200 OK\r\n"), out)
        equal(w.count("relayed"), 2)
        # The site has been asked from the gateway, by its own TLS.
        equal(w.site.connections, 2)


def test_a_page_in_the_stream_suite():
    with contextlib.ExitStack() as stack:
        w = World(stack, suite="stream")
        code, out, err = w.fetch("member 0")
        equal((code, out), (0, w.site.page), err)


def test_an_answer_of_many_packets():
    page = bytes(i * 7 % 251 for i in range(300_000))
    with contextlib.ExitStack() as stack:
        w = World(stack, page=page)
        code, out, err = w.fetch("member 0", None, "--blocks", 12)
        equal(code, 0, err)
        check(out == page, len(out))
        # More than the reply blocks have room for: what fits, and said so.
        code, out, err = w.fetch("member 0", None, "--blocks", 2)
        equal(code, 1)
        check("longer than the reply blocks" in err, err)
        check(page.startswith(out) and 60_000 < len(out) < 66_000, len(out))
        # Hundreds of reply blocks: a request of several packets.
        code, out, err = w.fetch("member 0", None, "--blocks", 255)
        equal(code, 0, err)
        check(out == page, len(out))


def memory_of(pid):
    """All that a process can write to, as root sees it."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, \
            open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            place, rights, *_ = line.split()
            low, high = (int(x, 16) for x in place.split("-"))
            if rights.startswith("rw"):
                memory.seek(low)
                with contextlib.suppress(OSError):
                    yield memory.read(high - low)


def test_nothing_stays_in_memory():
    """What was asked and answered inside TLS is gone with its session, from the
    library's memory too."""
    with contextlib.ExitStack() as stack:
        w = World(stack, page=b"an answer that nobody keeps\n" * 3000)
        token = V.token("member 0")
        for _ in range(3):
            equal(w.fetch("member 0", f"https://{w.target}/whatisasked",
                          "--blocks", 4)[0], 0)
        wait_until(lambda: w.gate.metric("postern_sessions") == 0)
        if os.geteuid() != 0 or not WALLS:
            print("    only root can look, and at no sanitizer's memory")
            return
        told = [b"answer that nobody keeps", b"whatisasked",
                token[40:100].encode()]
        memory = b"".join(memory_of(w.gate.process.pid))
        check(str(w.where).encode() in memory, "this is its memory")
        equal([what for what in told if what in memory], [])


def test_one_quota():
    """Requests through the mix and CONNECTs use up one quota."""
    with contextlib.ExitStack() as stack:
        w = World(stack, requests=3)
        equal(w.fetch("member 0")[0], 0)
        with w.gate.client() as c:
            equal(c.connect(w.target, V.token("member 0")).code, 200)
        equal(w.fetch("member 0")[0], 0)
        code, _, err = w.fetch("member 0")
        equal(code, 1)
        check("the gateway refused" in err and "429" in err and
              "quota" in err, err)
        equal(w.fetch("member 1")[0], 0)
        equal(w.count("refused"), 1)
        # A restart remembers.
        w.restart()
        equal(w.fetch("member 0")[0], 1)


def test_a_request_that_comes_again():
    """The last node, and whoever sees its link, may keep a request and deliver
    it again: the member pays once, and the site is asked once."""
    with contextlib.ExitStack() as stack:
        w = World(stack, requests=20)
        tap = stack.enter_context(Wiretap(w.at))
        at, w.at = w.at, f"127.0.0.1:{tap.port}"
        equal(w.fetch("member 0")[0], 0)
        # One of several packets, too.
        equal(w.fetch("member 0", None, "--blocks", 255)[0], 0)
        w.at = at
        wait_until(lambda: sum(map(len, tap.kept)) > 100_000)
        for restart in range(2):
            before = w.count("failed")
            for _ in range(3):
                for data in tap.kept:
                    tap.deliver(data)
            # Each was put together, asked, and got no answer.
            wait_until(lambda: w.count("failed") >= before + 2)
            equal(w.site.connections, 2)
            with w.gate.client() as c:
                a = c.connect("10.0.0.1:443", V.token("member 0"))
            equal((a.code, a.field("ratelimit").partition(";t")[0]),
                  (403, f'"requests";r={17 - restart}'))
            w.restart()
        # A new request passes as before.
        equal(w.fetch("member 0")[0], 0)


def test_refusals_are_those_of_connect():
    with contextlib.ExitStack() as stack:
        w = World(stack)
        token = V.token("member 0")
        bad = token[:-60] + ("A" if token[-60] != "A" else "B") + token[-59:]
        code, _, err = w.fetch("member 0", token=bad)
        equal(code, 1)
        check("407" in err and "Proxy-Authenticate: Semaphore" in err, err)
        for url, want in (("https://127.0.0.1:1/", "403"),
                          ("https://10.0.0.1/", "403"),
                          ("https://nowhere.example/", "403")):
            code, _, err = w.fetch("member 0", url)
            equal(code, 1)
            check(f"HTTP/1.1 {want} " in err, f"{url}: {err}")
        equal(w.site.connections, 0)
        # A token or an authority that would end a line of the head.
        for token in ("x y", "x\r\nProxy-Authorization: y"):
            code, _, err = w.fetch("member 0", token=token)
            equal(code, 1)
            check("malformed" in err, err)


def test_certificates_are_checked():
    with contextlib.ExitStack() as stack:
        w = World(stack, names=("site.example",))
        code, _, err = w.fetch("member 0")
        equal(code, 1)
        check("mismatch" in err, err)
    with contextlib.ExitStack() as stack:
        w = World(stack)
        other = stack.enter_context(
            TlsSite(stack.enter_context(folder()), ["127.0.0.1"]))
        w.gate.config["egress"]["except"] = f"127.0.0.1:{other.port}"
        w.restart()
        code, _, err = w.fetch("member 0", f"https://127.0.0.1:{other.port}/")
        equal(code, 1)
        check("self-signed certificate" in err, err)
    with contextlib.ExitStack() as stack:
        w = World(stack)
        plain = stack.enter_context(Server(lambda s: s.sendall(b"hello\n")))
        w.gate.config["egress"]["except"] = f"127.0.0.1:{plain.port}"
        w.restart()
        code, _, err = w.fetch("member 0", f"https://127.0.0.1:{plain.port}/")
        equal(code, 1)
        check("does not speak TLS" in err, err)


def test_with_the_proxy_line():
    """Tor's connections must send a PROXY line; what comes from the mixnet has
    no circuit and sends none."""
    with contextlib.ExitStack() as stack:
        w = World(stack, gateway={"proxy_line": "required"})
        code, out, err = w.fetch("member 0")
        equal((code, out), (0, w.site.page), err)


def sealed_part(key, parts=1, rest=b"", crypt=ctypes.CDLL("libsodium.so.23")):
    """A delivery with the first of PARTS parts of a request, as anybody can make
    it who knows the gateway's KEY (src/mix/exchange.h)."""
    plain = b"\1" + os.urandom(16) + struct.pack("<HHB", 0, parts, 0) + rest
    box = ctypes.create_string_buffer(len(plain) + 48)
    equal(crypt.crypto_box_seal(box, plain, ctypes.c_ulonglong(len(plain)),
                                bytes.fromhex(key.strip())), 0)
    message = b"\1\1\0" + struct.pack("<I", len(box.raw)) + box.raw
    return struct.pack("<I", len(message)) + message


def test_nobody_holds_the_door():
    """Connections that say nothing, or begin and never end, and requests that
    are never whole: all that anybody may hold makes room for a member."""
    with contextlib.ExitStack() as stack:
        w = World(stack, mix={"exchanges": 8})
        host, port = w.at.split(":")

        def hold(data):
            s = stack.enter_context(
                socket.create_connection((host, int(port)), 10))
            s.sendall(data)
            return s

        for data in (b"", b"\5", b"\5\0\0\0\1"):
            held = [hold(data) for _ in range(150)]
            equal(w.fetch("member 0")[0], 0, repr(data))
            equal(held[0].recv(1), b"")  # it has made room
        for _ in range(20):
            with hold(sealed_part(w.key, parts=2)) as s:
                s.shutdown(socket.SHUT_WR)
                equal(s.recv(1), b"")
        wait_until(lambda: w.gate.metric(
            "postern_mix_dropped_requests_total") == 12)
        equal(w.fetch("member 0")[0], 0)


def flood(stack, w, message):
    """Send MESSAGE to the door as fast as it goes, from an address that no node
    has, until the STACK ends."""
    host, port = w.at.split(":")
    over = threading.Event()

    def go():
        while not over.is_set():
            with contextlib.suppress(OSError), socket.create_connection(
                    (host, int(port)), 10, ("127.0.0.2", 0)) as s:
                for _ in range(50):
                    s.sendall(message)

    threads = [threading.Thread(target=go) for _ in range(3)]
    for t in threads:
        t.start()
    stack.callback(lambda: [t.join() for t in threads])
    stack.callback(over.set)


def test_a_flood_at_the_door():
    """Whoever sends as fast as it can keeps neither the gateway from its other
    clients nor nodes from the door."""
    junk = struct.pack("<I", 32000) + b"\3" * 32000
    with contextlib.ExitStack() as stack:
        w = World(stack, mix={"exchanges": 8})
        # Requests without a proof that are whole: each asks the gate.
        asks = b"".join(struct.pack("<H", len(x)) + x
                        for x in (b"token", b"127.0.0.1:443"))
        for message in (junk, sealed_part(w.key, 1, asks)):
            with contextlib.ExitStack() as while_it_lasts:
                flood(while_it_lasts, w, message)
                for _ in range(3):
                    equal(w.fetch("member 0")[0], 0)
                    with w.gate.client() as c:
                        equal(c.connect(w.target, V.token("member 1")).code,
                              200)


def test_nonsense_at_the_door():
    with contextlib.ExitStack() as stack:
        w = World(stack)
        host, port = w.at.split(":")
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\xff\xff\xff\xff",
                     b"\5\0\0\0\1\1\0\0\0", b"\x21\0\0\0" + b"\3" * 33,
                     b"\x08\0\0\0\1\1\0\1\0\0\0\7"):
            with socket.create_connection((host, int(port))) as s:
                with contextlib.suppress(OSError):
                    s.sendall(data)
                    s.shutdown(socket.SHUT_WR)
                    s.recv(1)
        wait_until(lambda: w.gate.metric("postern_mix_bad_messages_total") >= 2)
        # A request that is sealed for another key is nonsense too.
        key, w.key = w.key, "09".ljust(64, "0")
        code, _, err = w.fetch("member 0", None, "--timeout", 2)
        equal(code, 1)
        check("no answer in time" in err, err)
        wait_until(lambda: w.gate.metric("postern_mix_bad_messages_total") >= 3)
        w.key = key
        equal(w.fetch("member 0")[0], 0)


if __name__ == "__main__":
    main(globals())
