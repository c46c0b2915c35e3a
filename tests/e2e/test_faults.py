#!/usr/bin/env python3
"""Each call that can fail fails in turn, and the gateway answers or refuses: it
does not crash, hang or leak, lets no unproven request pass and loses none that
it granted.

By default a sample of the calls, spread over all of them, that fits in some
seconds; FAULTS=all takes every one (make check-faults). A failure names the
kind and the number of the call: FAULTS=kind:number runs that one alone.
"""

import contextlib
import re
import signal
import time

from faultlib import KINDS, WANTED, Faults, Found, interposer, numbers
from lib import (Gateway, Server, Vectors, check, echo, equal, folder, main,
                 postern, token_of, wait_until)

V = Vectors()
QUOTA = 1000000
LIBRARY = interposer()
# A run that takes longer than this hangs.
PATIENCE = 30


def configuration(where, *ports):
    return {
        "gateway": dict(V.gateway),
        "group main": {"members": V.write(where), "requests": QUOTA,
                       "tunnels": "unlimited"},
        "egress": {"allow": "*", "except": [f"127.0.0.1:{p}" for p in ports]},
        "ledger": {"journal": where / "journal", "sync": "always"},
        "control": {"socket": where / "control.sock"},
    }


class World:
    """A folder, a site to reach, a gateway with calls that fail."""

    def __init__(self):
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        self.where = self._stack.enter_context(folder())
        site = self._stack.enter_context(Server(echo))
        self.target = f"127.0.0.1:{site.port}"
        self.faults = Faults(self.where, LIBRARY)
        self._stack.callback(self.faults.close)
        # Where only requests that do not pass want to go.
        self.forbidden = self._stack.enter_context(Server(echo))
        self.config = configuration(self.where, site.port, self.forbidden.port)
        self.granted = 0
        return self

    def __exit__(self, *what):
        return self._stack.__exit__(*what)

    def gateway(self):
        (self.where / "log").write_text("")
        return Gateway(self.where, self.config, wait=False,
                       env=self.faults.env)

    def ask(self, g, token):
        """One request: the answer, or None where the connection was cut.
        After a 200 bytes go through, or the tunnel is cut."""
        with contextlib.suppress(OSError, IndexError), g.client(5) as c:
            a = c.connect(self.target, token)
            if a.code == 200:
                self.granted += 1
                with contextlib.suppress(ConnectionError):
                    c.send(b"x" * 100)
                    equal(c.read(100), b"x" * 100, "through the tunnel")
            return a
        return None

    def refuse(self, g):
        """Requests that must not pass, whatever fails."""
        forged = dict(V.proof("member 0"), points=V.proof("member 1")["points"])
        target = f"127.0.0.1:{self.forbidden.port}"
        for token in (token_of(forged), None):
            with contextlib.suppress(OSError, IndexError), g.client(5) as c:
                a = c.connect(target, token, early=b"smuggled")
                check(a.code != 200, "an unproven request passed")
        equal(self.forbidden.connections, 0, "connections unproven")

    def scenario(self, g):
        """What a day brings: in any order of failures none of it raises."""
        self.ask(g, V.token("member 0"))
        self.refuse(g)
        with contextlib.suppress(OSError, IndexError, ValueError):
            g.http("/metrics")
        postern("ctl", "-c", g.file, "status", code=None)

    def alive(self, g, what):
        code = g.process.poll()
        check(code is None, f"{what}: the gateway ended with {code}:\n"
              f"{g.log()[-3000:]}")

    def left(self, g, what):
        """How many requests are left after one more of member 0."""
        try:
            a = wait_until(lambda: self.good(g), 10, "a proof passes again")
        except AssertionError as e:
            raise AssertionError(f"{what}: {e}\n{g.log()[-3000:]}") from None
        return int(re.search(r"r=(\d+)", a.field("ratelimit"))[1])

    def good(self, g):
        a = self.ask(g, V.token("member 0"))
        return a if a is not None and a.code == 200 else None


def settled(g):
    """Whether it is ready or has ended."""
    if g.process.poll() is not None:
        return True
    try:
        return g.http("/readyz")[0] in (200, 503)
    except (OSError, IndexError, ValueError):
        return False


def one_start(w, kind, number):
    what = f"{kind}:{number} at the start"
    w.faults.arm(kind, number)
    g = w.gateway()
    g.start()
    try:
        wait_until(lambda: settled(g), PATIENCE, f"{what}: ready or refused")
        if g.process.poll() is None:
            w.scenario(g)
            w.alive(g, what)
            w.faults.disarm()
            check(w.left(g, what) <= QUOTA - w.granted, f"{what}: one was lost")
            equal(g.stop(), 0, f"{what}: exit code\n{g.log()[-3000:]}")
        else:
            # Refused: by an exit code of its own and with a word of why.
            code = g.process.returncode
            check(0 < code < 20, f"{what}: exit {code}\n{g.log()[-3000:]}")
            check(g.log() != "", f"{what}: ended without a word")
        return g.process.returncode != 0
    finally:
        g.kill()
        w.faults.disarm()


def test_each_call_of_the_start_fails():
    with World() as w:
        with w.gateway() as g:
            wait_until(lambda: settled(g), PATIENCE, "ready")
            counts = w.faults.counts()
            equal(g.stop(), 0)
        runs = refused = fired = 0
        found = Found()
        for kind in KINDS:
            for n in numbers(kind, counts[kind], 8 if kind == "alloc" else 2):
                with found.collect():
                    refused += one_start(w, kind, n)
                fired += w.faults.fired
                runs += 1
        print(f"{runs} starts, {fired} calls failed, {refused} refused")
        found.none()
        check(":" in WANTED or fired > runs / 2, "the faults did not happen")


def one_day(w, g, kind, number, times=1):
    what = f"{kind}:{number} while it works"
    w.faults.arm(kind, number, times)
    w.scenario(g)
    w.alive(g, what)
    fired = w.faults.fired
    w.faults.disarm()
    check(w.left(g, what) <= QUOTA - w.granted, f"{what}: one was lost")
    return fired


def test_each_call_of_a_working_gateway_fails():
    with World() as w:
        with w.gateway() as g:
            wait_until(lambda: settled(g), PATIENCE, "ready")
            w.scenario(g)
            before = w.faults.counts()
            w.scenario(g)
            after = w.faults.counts()
            runs = fired = 0
            found = Found()
            for kind in KINDS:
                for n in numbers(kind, after[kind] - before[kind] + 2, 12):
                    with found.collect():
                        fired += one_day(w, g, kind, n)
                    w.alive(g, f"{kind}:{n}")
                    runs += 1
            print(f"{runs} days, {fired} calls failed")
            found.none()
            check(":" in WANTED or fired > runs / 2,
                  "the faults did not happen")
            g.kill()
        # What was told is in the journal.
        with w.gateway() as g:
            wait_until(lambda: settled(g), PATIENCE, "ready again")
            check(w.left(g, "after a kill")
                  <= QUOTA - w.granted, "a kill lost one")
            equal(g.stop(), 0, "exit code")


def test_all_calls_of_a_kind_fail_for_a_while():
    with World() as w:
        with w.gateway() as g:
            wait_until(lambda: settled(g), PATIENCE, "ready")
            w.scenario(g)
            fired = 0
            found = Found()
            for kind in KINDS if WANTED else ("alloc", "sync"):
                if not numbers(kind, 1, 1):
                    continue
                with found.collect():
                    fired += one_day(w, g, kind, 1, 10**6)
                w.alive(g, kind)
            print(f"{fired} calls failed")
            found.none()
            check(":" in WANTED or fired > 3,
                  "the faults did not happen")
            equal(g.stop(), 0, "exit code")


def one_reload(w, g, kind, number):
    what = f"{kind}:{number} in a reload"
    V.write(w.where, members=V.members)
    w.faults.arm(kind, number)
    seen = g.log().count("reload")
    g.send_signal(signal.SIGHUP)
    with contextlib.suppress(AssertionError):
        wait_until(lambda: g.log().count("reload") > seen, 1, "the reload")
    w.scenario(g)
    w.alive(g, what)
    fired = w.faults.fired
    w.faults.disarm()
    check(w.left(g, what) <= QUOTA - w.granted, f"{what}: one was lost")
    return fired


def test_each_call_of_a_reload_fails():
    with World() as w:
        with w.gateway() as g:
            wait_until(lambda: settled(g), PATIENCE, "ready")
            w.scenario(g)
            before = w.faults.counts()
            g.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            after = w.faults.counts()
            runs = fired = 0
            found = Found()
            for kind in KINDS:
                for n in numbers(kind, after[kind] - before[kind], 5):
                    with found.collect():
                        fired += one_reload(w, g, kind, n)
                    w.alive(g, f"{kind}:{n}")
                    runs += 1
            print(f"{runs} reloads, {fired} calls failed")
            found.none()
            check(":" in WANTED or fired > runs / 2,
                  "the faults did not happen")
            equal(g.stop(), 0, "exit code")


def test_each_call_of_the_stop_fails():
    with World() as w:
        with w.gateway() as g:
            wait_until(lambda: settled(g), PATIENCE, "ready")
            w.scenario(g)
            before = w.faults.counts()
            equal(g.stop(), 0)
            after = w.faults.counts()
        for kind in KINDS:
            for n in numbers(kind, after[kind] - before[kind], 2):
                with w.gateway() as g:
                    wait_until(lambda: settled(g), PATIENCE, "ready")
                    w.scenario(g)
                    w.faults.arm(kind, n)
                    try:
                        code = g.stop()
                    except AssertionError as e:
                        raise AssertionError(f"{kind}:{n}: {e}") from None
                    w.faults.disarm()
                    check(0 <= code < 20, f"{kind}:{n} at the stop: exit "
                          f"{code}\n{g.log()[-3000:]}")


if __name__ == "__main__":
    main(globals())
