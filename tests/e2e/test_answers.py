#!/usr/bin/env python3
"""Every answer of the gateway, over real sockets: each row of the table in
src/http/PROTOCOL.md that a client can bring about."""

import contextlib
import socket
import struct
import time

from lib import (Client, Gateway, NameServer, Server, Vectors, check, echo,
                 equal, folder, free_port, main, token_of, wait_until)

V = Vectors()


def configuration(where, site_port, **more):
    config = {
        "gateway": dict(V.gateway),
        "group main": {"members": V.write(where), "requests": 1000},
        "egress": {"allow": "*", "except": f"127.0.0.1:{site_port}"},
        "ledger": {"journal": where / "journal"},
    }
    for section, keys in more.items():
        config.setdefault(section.replace("_", " "), {}).update(keys)
    return config


@contextlib.contextmanager
def gate(**more):
    """A gateway and an echo server that it may reach: (gateway, target)."""
    with folder() as where, Server(echo) as site:
        with Gateway(where, configuration(where, site.port, **more)) as g:
            g.site = site
            yield g, f"127.0.0.1:{site.port}"
            equal(g.stop(), 0, "exit code")


def raw(g, text):
    """The answer to TEXT."""
    with g.client() as c:
        c.send(text)
        return c.answer()


def expect(answer, code, error, where=""):
    equal(answer.code, code, where or error)
    problem = answer.json()
    equal(answer.field("content-type"), "application/problem+json", where)
    equal(problem["status"], code, where)
    equal(problem["error"], error, where)
    check(answer.field("proxy-status").startswith("postern; error="), where)
    check(answer.field("date") is None and answer.field("server") is None)


def connect(target, token=None, fields=()):
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}", *fields]
    if token:
        lines.append(f"Proxy-Authorization: Semaphore {token}")
    return "\r\n".join(lines) + "\r\n\r\n"


def test_200_and_bytes_both_ways():
    with gate() as (g, target), g.client() as c:
        a = c.connect(target, V.token("member 0"))
        equal(a.code, 200)
        check('"requests";q=1000' in a.field("ratelimit-policy"))
        check('"requests";r=999' in a.field("ratelimit"))
        c.send(b"some bytes")
        equal(c.read(10), b"some bytes")


def test_every_official_proof_passes():
    with gate() as (g, target):
        for i in range(8):
            with g.client() as c:
                equal(c.connect(target, V.token(f"member {i}")).code, 200)
        equal(g.metric("postern_proofs_total", result="verified"), 8)
        # Seen before: not checked again.
        with g.client() as c:
            equal(c.connect(target, V.token("member 3")).code, 200)
        equal(g.metric("postern_proofs_total", result="verified"), 8)
        equal(g.metric("postern_proofs_total", result="cached"), 1)


def test_400():
    token = V.token("member 0")
    with gate() as (g, target):
        for text, error in (
                ("CONNECT a.example:443 HTTP/1.1\nHost: a.example:443\n\n",
                 "http_syntax"),
                (f"CONNECT {target} HTTP/1.0\r\nHost: {target}\r\n\r\n",
                 "http_version"),
                (f"CONNECT {target}/ HTTP/1.1\r\nHost: {target}\r\n\r\n",
                 "http_authority"),
                ("CONNECT a.example:0443 HTTP/1.1\r\nHost: a.example\r\n\r\n",
                 "http_authority"),
                (f"CONNECT {target} HTTP/1.1\r\nHost: b.example:1\r\n\r\n",
                 "http_host"),
                (f"CONNECT {target} HTTP/1.1\r\n\r\n", "http_host"),
                (connect(target, token, ["Content-Length: 0"]), "http_body"),
                (connect(target, token, ["Transfer-Encoding: chunked"]),
                 "http_body"),
                (connect(target, token, ["Proxy-Authorization: Basic eA=="]),
                 "credential_twice"),
                ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
                 "http_form"),
        ):
            a = raw(g, text)
            expect(a, 400, error, text)
            # What is wrong with the meaning leaves the end of the head known,
            # and the connection with it.
            equal(a.field("connection"), "close" if error in (
                "http_syntax", "http_version", "http_body") else "keep-alive",
                text)
        equal(g.site.connections, 0, "nothing has left")


def test_403_after_a_good_proof():
    names = {"private.example": ["10.0.0.1"], "mapped.example":
             ["::ffff:10.0.0.1"], "metadata.example": ["169.254.169.254"],
             "mixed.example": ["192.0.43.8", "127.0.0.1"],
             "loop.example": ["127.0.0.1"], "six.example": ["fd00::1"]}
    with NameServer(names) as dns, gate(egress={
            "dns": f"127.0.0.1:{dns.port}", "deny": ".bad.example",
            "allow": ".example", "ports": "443 80"}) as (g, _):
        token = V.token("member 0")
        with g.client() as c:
            for target, error in (
                    ("a.example:22", "target_port"),
                    ("a.test:443", "target_name"),
                    ("x.bad.example:443", "target_name"),
                    ("abcdefgh.onion:443", "target_onion"),
                    ("192.0.43.8:443", "target_literal"),
                    ("[2001:db8::1]:443", "target_literal"),
            ):
                a = c.connect(target, token)
                expect(a, 403, error, target)
            equal(dns.queries, [], "no name was looked up")
        with g.client() as c:
            for name in names:
                a = c.connect(f"{name}:443", token)
                expect(a, 403, "target_address", name)
                check("destination_ip_prohibited" in a.field("proxy-status"))
        equal(g.site.connections, 0, "nothing was connected to")


def test_404_and_405():
    with gate() as (g, target), g.client() as c:
        expect(c.get("/"), 404, "http_path")
        expect(c.get("/.well-known/postern/members"), 404, "http_path")
        c.send(f"POST / HTTP/1.1\r\nHost: {target}\r\n\r\n")
        a = c.answer()
        expect(a, 405, "http_method")
        check("CONNECT" in a.field("allow"))


def test_407_says_what_a_client_needs():
    with gate() as (g, target), g.client() as c:
        a = c.connect(target)
        expect(a, 407, "credential_missing")
        challenge = a.field("proxy-authenticate")
        for part in ('Semaphore realm=""', f'scope="{V.epoch}"', 'message="1"',
                     "slots=1", 'error="credential_missing"',
                     f"expires={(V.epoch + 1) * V.length}"):
            check(part in challenge, f"{part} in {challenge}")


def test_407_for_each_reason():
    forged = dict(V.proof("member 0"), nullifier=V.nullifier("member 1"))
    points = list(V.proof("member 0")["points"])
    off_curve = dict(V.proof("member 0"),
                     points=[str(int(points[0]) + 1), *points[1:]])
    with gate(limits={"attempts": 100}) as (g, target):
        for what, token, error in (
                ("too old", V.token("past"), "epoch_past"),
                ("too new", V.token("future"), "epoch_future"),
                ("another gateway's", V.token("wrong message"),
                 "message_wrong"),
                ("another group's", V.token("other 0"), "root_unknown"),
                ("a forged one", token_of(forged), "proof_invalid"),
                ("off the curve", token_of(off_curve), "credential_bad"),
                ("no token", "e30", "credential_bad"),
                ("no base64", "a=b", "credential_bad"),
        ):
            with g.client() as c:
                a = c.connect(target, token)
                expect(a, 407, error, what)
                # The connection goes on: the same circuit can try again.
                equal(a.field("connection"), "keep-alive", what)
                equal(c.connect(target, V.token("member 1")).code, 200, what)


def test_other_schemes_are_challenged():
    with gate() as (g, target), g.client() as c:
        c.send(connect(target, None, ["Proxy-Authorization: Basic eDp5"]))
        expect(c.answer(), 407, "credential_missing")


def test_408_and_431():
    with gate(limits={"head_timeout": "300ms", "head_bytes": "1k"}) as (g, t):
        with g.client() as c:
            c.send("CONNECT slow.example:443 HT")
            started = time.monotonic()
            a = c.answer()
            expect(a, 408, "http_timeout")
            check(0.25 < time.monotonic() - started < 2)
            equal(c.read_all(), b"")
        with g.client() as c:  # says nothing at all
            expect(c.answer(), 408, "http_timeout")
        with g.client() as c:  # has been answered: silence is not worth a word
            expect(c.connect(t), 407, "credential_missing")
            equal(c.read_all(), b"")
        with g.client() as c:
            c.send(connect(t, None, ["X: " + "x" * 2000]))
            expect(c.answer(), 431, "http_too_large")


def test_attempts_are_limited():
    with gate(limits={"attempts": 3}) as (g, target), g.client() as c:
        for left in (2, 1, 0):
            a = c.connect(target)
            equal(a.code, 407)
            equal(a.field("connection"), "keep-alive" if left else "close")
        equal(c.read_all(), b"")


def test_connection_close_is_honoured():
    with gate() as (g, target), g.client() as c:
        c.send(connect(target, None, ["Connection: close"]))
        a = c.answer()
        equal((a.code, a.field("connection")), (407, "close"))
        equal(c.read_all(), b"")


def test_429_requests():
    with gate(group_main={"requests": 2}) as (g, target):
        token = V.token("member 0")
        for _ in range(2):
            with g.client() as c:
                equal(c.connect(target, token).code, 200)
        with g.client() as c:
            a = c.connect(target, token)
            expect(a, 429, "quota_requests")
            left = (V.epoch + 1) * V.length - time.time()
            check(abs(int(a.field("retry-after")) - left) < 5)
            check('"requests";r=0' in a.field("ratelimit"))
            equal(a.json()["violated-policies"], ["requests"])
            # Another proof of the same member is the same member.
            expect(c.connect(target, V.token("again 0")), 429,
                   "quota_requests")
            # Others are not touched.
            equal(c.connect(target, V.token("member 1")).code, 200)


def test_a_nullifier_alone_asks_nothing():
    """Who has a member's nullifier from elsewhere, and no proof for it, gets the
    same answer whatever that member does here."""
    forged = dict(V.proof("member 0"), points=V.proof("member 1")["points"])

    def ask(g, target):
        with g.client() as c:
            a = c.connect(target, token_of(forged))
            expect(a, 407, "proof_invalid")
            return sorted(a.fields), a.body

    with gate(group_main={"requests": 2, "tunnels": 1}) as (g, target):
        before = ask(g, target)
        for _ in range(2):
            with g.client() as c:
                equal(c.connect(target, V.token("member 0")).code, 200)
                equal(ask(g, target), before)
            wait_until(lambda: g.metric("postern_tunnels") == 0)
        with g.client() as c:
            expect(c.connect(target, V.token("member 0")), 429,
                   "quota_requests")
        equal(ask(g, target), before)


def test_429_tunnels_and_rate():
    with gate(group_main={"tunnels": 2}) as (g, target):
        token = V.token("member 0")
        with g.client() as a, g.client() as b, g.client() as c:
            equal(a.connect(target, token).code, 200)
            equal(b.connect(target, token).code, 200)
            expect(c.connect(target, token), 429, "quota_tunnels")
            a.sock.close()
            wait_until(lambda: g.metric("postern_tunnels") == 1)
            equal(c.connect(target, token).code, 200)
    with gate(group_main={"rate": "2/1h"}) as (g, target):
        for _ in range(2):
            with g.client() as c:
                equal(c.connect(target, V.token("member 0")).code, 200)
        with g.client() as c:
            a = c.connect(target, V.token("member 0"))
            expect(a, 429, "quota_rate")
            check(1700 < int(a.field("retry-after")) <= 1801)


def test_502_and_504():
    with NameServer({}) as dns, socket.socket() as full:
        # A listener whose queue is full does not answer.
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        fillers = []
        for _ in range(4):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
            fillers.append(s)
        closed = free_port()
        with gate(egress={
                "dns": f"127.0.0.1:{dns.port}", "dns_timeout": "400ms",
                "connect_timeout": "500ms", "race_delay": "50ms",
                "except": f"127.0.0.1:{closed} 127.0.0.1:{port}"}) as (g, _):
            token = V.token("member 0")
            with g.client() as c:
                for target, code, error in (
                        ("nothing.example.org:443", 502, "dns_not_found"),
                        (f"127.0.0.1:{closed}", 502, "connect_refused"),
                        (f"127.0.0.1:{port}", 504, "connect_timeout"),
                ):
                    a = c.connect(target, token)
                    expect(a, code, error, target)
        for s in fillers:
            s.close()


def test_dns_failures():
    names = {"broken.example": "servfail", "silent.example": "silent"}
    with NameServer(names) as dns, gate(egress={
            "dns": f"127.0.0.1:{dns.port}", "dns_timeout": "400ms",
            "allow": ".example"}) as (g, _), g.client() as c:
        token = V.token("member 0")
        expect(c.connect("broken.example:443", token), 502, "dns_failed")
        expect(c.connect("none.example:443", token), 502, "dns_not_found")
        expect(c.connect("silent.example:443", token), 504, "dns_timeout")


def test_a_name_leads_to_its_address():
    with folder() as where, Server(echo) as site, \
            NameServer({"site.example": ["127.0.0.1"]}) as dns:
        config = configuration(where, site.port, egress={
            "dns": f"127.0.0.1:{dns.port}", "allow": "site.example",
            "ports": site.port})
        with Gateway(where, config) as g, g.client() as c:
            a = c.connect(f"Site.Example.:{site.port}", V.token("member 0"))
            equal(a.code, 200)
            c.send(b"x")
            equal(c.read(1), b"x")
            check({name for name, _ in dns.queries} == {"site.example"})


def test_503_when_full():
    with gate(limits={"sessions": 4}) as (g, target):
        idle = [g.client() for _ in range(4)]
        for c in idle:  # each has its session once it has had an answer
            equal(c.connect(target).code, 407)
        with g.client() as c:
            a = c.answer()
            expect(a, 503, "overloaded")
            check(int(a.field("retry-after")) > 0)
        idle.pop().sock.close()
        wait_until(lambda: g.metric("postern_sessions") == 3)
        with g.client() as c:
            equal(c.connect(target, V.token("member 0")).code, 200)
        for c in idle:
            c.sock.close()
        check(g.metric("postern_connections_refused_total") == 1)


def test_per_destination_limit():
    with gate(egress={"per_destination": 2}) as (g, target):
        clients = [g.client() for _ in range(3)]
        for i in (0, 1):
            equal(clients[i].connect(target, V.token(f"member {i}")).code, 200)
        expect(clients[2].connect(target, V.token("member 2")), 503,
               "target_limit")
        clients[0].sock.close()
        wait_until(lambda: g.metric("postern_tunnels") == 1)
        equal(clients[2].connect(target, V.token("member 2")).code, 200)
        for c in clients:
            c.sock.close()


def test_well_known():
    with gate(group_main={"requests": 7, "ports": "443 8000-8010"},
              gateway={"publish_members": "on"}) as (g, _), g.client() as c:
        a = c.get("/.well-known/postern")
        equal((a.code, a.field("content-type")), (200, "application/json"))
        said = a.json()
        equal(said["scope"], str(V.epoch))
        equal(said["next_scope"], str(V.epoch + 1))
        equal(said["message"], "1")
        equal(said["epoch_end"], (V.epoch + 1) * V.length)
        root = said["roots"][0]
        equal((root["root"], root["depth"], root["members"], root["current"]),
              (V.proof("member 0")["merkleTreeRoot"], 3, 8, True))
        group = said["groups"][0]
        equal((group["name"], group["requests"], group["ports"]),
              ("main", 7, [443, [8000, 8010]]))
        # The list, in the order of the tree.
        for path in (group["members_path"], "/.well-known/postern/members"):
            equal(c.get(path).body.decode().split(), V.members)
        equal(c.get("/.well-known/postern/members/none").code, 404)
        # Not sent again to who has it.
        c.send("GET /.well-known/postern/members HTTP/1.1\r\nHost: gate\r\n"
               f"If-None-Match: {c_etag(g)}\r\n\r\n")
        b = c.answer(tunnel=False)
        equal((b.code, b.body), (304, b""))


def c_etag(g):
    with g.client() as c:
        return c.get("/.well-known/postern/members").field("etag")


def test_well_known_head_and_off():
    with gate() as (g, _), g.client() as c:
        c.send("HEAD /.well-known/postern HTTP/1.1\r\nHost: gate\r\n\r\n")
        a = c.answer()
        equal(a.code, 200)
        check(int(a.field("content-length")) > 100)
        equal(c.get("/.well-known/postern").code, 200)
    with gate(gateway={"well_known": "off"}) as (g, _), g.client() as c:
        equal(c.get("/.well-known/postern").code, 404)


def test_a_long_member_list_to_a_slow_reader():
    """Larger than every buffer on the way, and nobody else is held up."""
    many = V.members + [str(10 ** 70 + i) for i in range(30000)]
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port,
                               gateway={"publish_members": "on"})
        V.write(where, members=many)
        with Gateway(where, config) as g, g.client() as c, g.client() as d:
            c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            c.send("GET /.well-known/postern/members HTTP/1.1\r\n"
                   "Host: gate\r\n\r\n")
            time.sleep(0.3)
            equal(d.get("/.well-known/postern").code, 200)
            equal(c.answer(tunnel=False).body.decode().split(), many)
            equal(c.get("/.well-known/postern").code, 200)


def test_realm_and_slots():
    with gate(gateway={"realm": "gate", "slots": 2},
              group_main={"requests": 1}) as (g, target):
        with g.client() as c:
            said = c.get("/.well-known/postern").json()
            equal(said["realm"], "gate")
            equal(said["scopes"], [V.proof(f"slot {i}")["scope"]
                                   for i in (0, 1)])
            expect(c.connect(target, V.token("member 0")), 407,
                   "scope_unknown")
        # Each slot has a quota of its own.
        for slot in (0, 1):
            with g.client() as c:
                equal(c.connect(target, V.token(f"slot {slot}")).code, 200)
        with g.client() as c:
            expect(c.connect(target, V.token("slot 1")), 429, "quota_requests")


def test_groups_have_their_own_limits():
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port)
        config["group others"] = {
            "members": V.write(where, "others", V.others), "requests": 1}
        with Gateway(where, config) as g:
            target = f"127.0.0.1:{site.port}"
            for name, quota, codes in (("other 0", 1, [200, 429]),
                                       ("member 0", 1000, [200, 200])):
                for code in codes:
                    with g.client() as c:
                        a = c.connect(target, V.token(name))
                        equal(a.code, code)
                        # Before the count and after it: this group's limits.
                        check(f'"requests";q={quota}' in
                              a.field("ratelimit-policy"))


def proxy_line(circuit):
    return (f"PROXY TCP6 fc00:dead:beef:4dad::{circuit >> 16:x}:"
            f"{circuit & 0xffff:x} ::1 {circuit & 0xffff} 80\r\n")


def test_the_proxy_line():
    with gate(gateway={"proxy_line": "required"}) as (g, target):
        token = V.token("member 0")
        for shape in ("one read", "two reads", "byte by byte"):
            with g.client() as c:
                text = proxy_line(0x10017) + connect(target, token)
                if shape == "one read":
                    c.send(text)
                elif shape == "two reads":
                    c.send(proxy_line(23))
                    time.sleep(0.05)
                    c.send(connect(target, token))
                else:
                    c.sock.setsockopt(socket.IPPROTO_TCP,
                                      socket.TCP_NODELAY, 1)
                    for byte in text.encode():
                        c.send(bytes([byte]))
                equal(c.answer().code, 200, shape)
        for bad in (connect(target, token), "PROXY UNKNOWN\r\n",
                    "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
                    "PROXY TCP6 ::1 ::1 1 2\r\n"):
            with g.client() as c:
                c.send(bad)
                equal(c.read_all(), b"", bad)
        check(g.metric("postern_sessions_ended_total",
                       reason="proxy_line") == 4)
    with gate() as (g, target), g.client() as c:
        c.send(proxy_line(1) + connect(target, V.token("member 0")))
        expect(c.answer(), 400, "http_syntax")


def test_circuits_are_limited():
    limits = {"circuit_connections": 2, "circuit_failures": 1}
    with gate(gateway={"proxy_line": "required"}, limits=limits) as (g, t):
        def on(circuit):
            c = g.client()
            c.send(proxy_line(circuit))
            return c
        with on(1) as a, on(1) as b:
            equal(a.connect(t).code, 407)
            equal(b.connect(t).code, 407)
            with on(1) as c:
                expect(c.answer(), 429, "circuit_limit")
            with on(2) as c:
                equal(c.connect(t).code, 407)
        # Proofs that fail: then the connection is closed, and the circuit gets
        # no other.
        forged = token_of(dict(V.proof("member 0"),
                               nullifier=V.nullifier("member 1")))
        with on(3) as c:
            # An honest mistake is not held against it.
            for _ in range(3):
                equal(c.connect(t, V.token("past")).code, 407)
            equal(c.connect(t, forged).field("connection"), "keep-alive")
            equal(c.connect(t, forged).field("connection"), "close")
        with on(3) as c:
            expect(c.answer(), 429, "circuit_limit")
        with on(4) as c:
            equal(c.connect(t, V.token("member 0")).code, 200)
    with gate(gateway={"proxy_line": "required"},
              limits={"circuit_rate": "2/1h"}) as (g, t), g.client() as c:
        c.send(proxy_line(9))
        equal([c.connect(t).code for _ in range(3)], [407, 407, 429])


def test_identical_proofs_share_one_check():
    with gate() as (g, target):
        clients = [g.client() for _ in range(20)]
        for c in clients:
            c.send(connect(target, V.token("member 0")))
        equal({c.answer().code for c in clients}, {200})
        verified = g.metric("postern_proofs_total", result="verified")
        shared = g.metric("postern_checks_shared_total")
        cached = g.metric("postern_proofs_total", result="cached")
        equal(verified + shared + cached, 20)
        check(verified <= 2, f"{verified} checks")
        for c in clients:
            c.sock.close()


def test_a_bad_proof_among_good_ones():
    """Proofs that wait are checked together; each gets its own verdict."""
    with gate(limits={"workers": 1}) as (g, target):
        wanted = []
        for i in range(8):
            wanted.append((V.token(f"member {i}"), 200))
            wanted.append((token_of(dict(
                V.proof(f"member {i}"),
                nullifier=V.nullifier(f"member {(i + 1) % 8}"))), 407))
        clients = [g.client() for _ in wanted]
        for c, (token, _) in zip(clients, wanted):
            c.send(connect(target, token))
        equal([c.answer().code for c in clients], [w for _, w in wanted])
        equal(g.metric("postern_proofs_total", result="verified"), 8)
        equal(g.metric("postern_proofs_total", result="invalid"), 8)
        check(g.metric("postern_batch_largest_proofs") > 1, "a batch")
        equal(g.metric("postern_pairing_seconds_count"), 16)
        for c in clients:
            c.sock.close()


def test_reset_in_every_state():
    """A client that is gone leaves nothing behind, wherever it was."""
    names = {"silent.example": "silent"}
    with NameServer(names) as dns, gate(
            egress={"dns": f"127.0.0.1:{dns.port}", "allow": ".example"}
            ) as (g, target):
        token = V.token("member 0")
        for text in ("", "CONN", connect(target), connect(target, token),
                     connect("silent.example:443", token),
                     connect(target, V.token("wrong message"))):
            for kind in ("reset", "close", "shutdown"):
                c = Client(g.port)
                c.send(text)
                if kind == "reset":
                    c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      struct.pack("ii", 1, 0))
                elif kind == "shutdown":
                    c.sock.shutdown(socket.SHUT_WR)
                c.sock.close()
        wait_until(lambda: g.metric("postern_sessions") == 0, 15,
                   "no session left")
        with g.client() as c:
            equal(c.connect(target, token).code, 200)


main(globals())
