#!/usr/bin/env python3
"""Bad days, in short: the scenarios of tests/load with small numbers, and name
servers that lie."""

import contextlib
import socket
import sys

from lib import (TOP, Gateway, NameServer, Server, Vectors, check, echo, equal,
                 folder, main, wait_until)

sys.path.insert(0, str(TOP / "tests" / "load"))
import scenarios  # noqa: E402  pylint: disable=wrong-import-position

V = Vectors()


def test_heads_that_never_end():
    scenarios.loris(connections=200, deadline=2, probe=1)


def test_garbage():
    scenarios.garbage(rate=1000, seconds=2)


def test_a_member_past_its_quota_from_many_circuits():
    figures = scenarios.quota(circuits=50, requests=20, each=4)
    equal(figures["passed"], 20)


def test_kill_while_clients_work():
    scenarios.kill(rounds=4)


def test_reloads_under_load():
    scenarios.reload(times=30)


def test_readers_that_do_not_read():
    scenarios.readers(tunnels=50, seconds=1)


# --- name servers that lie ----------------------------------------------------

# What no name may lead to, however it is written (RFC 6890 and its registries).
INSIDE = [
    "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1",
    "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.8", "198.18.0.1",
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::1", "2002:a00:1::",
    "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1", "fec0::1",
    "2001:db8::1", "::127.0.0.1",
]
# An address that the configuration lets pass: it stands for one outside.
OUTSIDE = "127.0.0.2"
NOT_PUBLIC = "an address that is not public"


@contextlib.contextmanager
def lied_to(answers):
    """A gateway whose name server says ANSWERS, and a trap on this machine that
    counts who comes: (gateway, name server, trap)."""
    with folder() as where, Server(echo, OUTSIDE) as site, \
            Server(echo, port=site.port) as trap, NameServer(answers) as dns:
        config = {
            "gateway": dict(V.gateway),
            "group main": {"members": V.write(where), "requests": 10000,
                           "tunnels": "unlimited"},
            "egress": {"allow": ".example", "ports": trap.port,
                       "except": f"{OUTSIDE}:{trap.port}",
                       "dns": f"127.0.0.1:{dns.port}", "dns_timeout": "1s",
                       "connect_timeout": "500ms"},
            "ledger": {"journal": where / "journal"},
            # It asks every time: what it is told may change at any moment.
            "limits": {"attempts": 1000},
        }
        with Gateway(where, config) as g:
            yield g, dns, trap
            equal(trap.connections, 0, "connections to this machine")
            equal(g.stop(), 0, "exit code")


def ask(g, name, port):
    with g.client() as c:
        a = c.connect(f"{name}:{port}", V.token("member 0"))
        return a.code, a.field("proxy-status") or ""


def test_names_that_lead_inside():
    names = {f"n{i}.example": [a] for i, a in enumerate(INSIDE)}
    with lied_to(names) as (g, _, trap):
        for name, (address,) in names.items():
            code, why = ask(g, name, trap.port)
            equal(code, 403, f"{address} {why}")
            check(NOT_PUBLIC in why, f"{address} {why}")


def test_one_inside_among_those_outside():
    """An answer with one bad address is bad, wherever it stands."""
    names = {}
    for i, address in enumerate(INSIDE[:8] + ["::1", "::ffff:10.0.0.1"]):
        names[f"first{i}.example"] = [address, OUTSIDE]
        names[f"last{i}.example"] = [OUTSIDE, address]
    with lied_to(names) as (g, _, trap):
        for name, said in names.items():
            code, why = ask(g, name, trap.port)
            equal(code, 403, f"{said} {why}")
            check(NOT_PUBLIC in why, f"{said} {why}")


def test_an_answer_that_changes():
    """Rebinding: first outside, then inside. What was looked up is what is
    connected to, and each request looks anew."""
    with lied_to({"re.example": ["127.0.0.1"]}) as (g, dns, trap):
        for i in range(6):
            dns.answers["re.example"] = [OUTSIDE if i % 2 else "127.0.0.1"]
            code, why = ask(g, "re.example", trap.port)
            if i % 2:
                equal(code, 200, why)
            else:
                equal(code, 403, why)
                check(NOT_PUBLIC in why, why)


def test_chains_of_names():
    """What counts is where a chain ends, however long it is; a name that the
    policy would refuse does not matter on the way, as the address does."""
    names = {
        "short.example": {"via": ["localhost"], "lead": ["127.0.0.1"]},
        "long.example": {"via": [f"c{i}.example" for i in range(12)],
                         "lead": ["::1", OUTSIDE]},
        "loop.example": {"via": ["loop.example"], "lead": []},
        "open.example": {"via": ["gone.example"], "lead": []},
        "good.example": {"via": ["a.example", "b.example"], "lead": [OUTSIDE]},
    }
    with lied_to(names) as (g, _, trap):
        for name in ("short.example", "long.example"):
            code, why = ask(g, name, trap.port)
            equal(code, 403, f"{name} {why}")
            check(NOT_PUBLIC in why, f"{name} {why}")
        for name in ("loop.example", "open.example"):
            equal(ask(g, name, trap.port)[0], 502, name)
        equal(ask(g, "good.example", trap.port)[0], 200)


def test_fifty_answers():
    inside = [f"10.0.0.{i}" for i in range(1, 51)]
    with lied_to({"many.example": inside, "all.example": [OUTSIDE] * 50,
                  "hidden.example": [OUTSIDE] * 49 + ["127.0.0.1"]}) as (
                      g, _, trap):
        equal(ask(g, "many.example", trap.port)[0], 403)
        # Those that are looked at are those that are used.
        code, why = ask(g, "hidden.example", trap.port)
        check(code in (200, 403), f"{code} {why}")
        equal(ask(g, "all.example", trap.port)[0], 200)


def test_answers_that_are_none():
    names = {"no.example": "nxdomain", "fail.example": "servfail",
             "silent.example": "silent", "empty.example": [],
             "cut.example": "truncated"}
    wanted = {"no.example": (502, "dns_error"), "fail.example": (502, ""),
              "silent.example": (504, "dns_timeout"),
              "empty.example": (502, ""), "cut.example": (502, "")}
    with lied_to(names) as (g, _, trap):
        for name, (code, word) in wanted.items():
            got, why = ask(g, name, trap.port)
            equal(got, code, f"{name} {why}")
            check(word in why, f"{name} {why}")
        # It has lost nothing by all of that.
        wait_until(lambda: g.metric("postern_sessions") <= 1, 5)


def test_literals_and_names_of_this_machine():
    """What is written as an address, in any way, is no name to look up."""
    with lied_to({}) as (g, dns, trap):
        for text in ("127.0.0.1", "[::1]", "127.1", "2130706433",
                     "0x7f000001", "0177.0.0.1", "localhost",
                     "[::ffff:127.0.0.1]", "127.0.0.1.", "localhost.",
                     "sub.localhost", "[fe80::1%25eth0]"):
            with g.client() as c:
                try:
                    code = c.connect(f"{text}:{trap.port}",
                                     V.token("member 0")).code
                except (ConnectionError, socket.timeout):
                    code = 0
            check(code in (400, 403, 502), f"{text}: {code}")
        names = {name for name, _ in dns.queries}
        check(not names & {"127.0.0.1", "127.1", "2130706433"}, names)


if __name__ == "__main__":
    main(globals())
