#!/usr/bin/env python3
"""Each call that can fail fails in turn in the commands that members and mix
operators run: `prove`, `client` and `mix node`. They do what was asked or end
with a word; what runs on works again when the fault is gone.

A sample by default, as in test_faults.py; FAULTS there says which.
"""

import contextlib
import os
import re
import signal
import subprocess

from clientlib import ZKEY, PosternClient, StrictTor
from faultlib import KINDS, WANTED, Faults, Found, interposer, numbers
from lib import (BIN, Gateway, Members, NameServer, TlsSite, check, equal,
                 folder, main, onion_name, postern, wait_until)
from mixlib import Network

LIBRARY = interposer()
# A run that takes longer than this hangs.
PATIENCE = 60
PAGE = "hello from outside"


def each(counts, most, most_alloc, one):
    """Run ONE(kind, number) for the calls that are to fail; it returns how many
    did."""
    runs = fired = 0
    found = Found()
    for kind in KINDS:
        for n in numbers(kind, counts[kind],
                         most_alloc if kind == "alloc" else most):
            with found.collect():
                fired += one(kind, n)
            runs += 1
    print(f"{runs} runs, {fired} calls failed")
    found.none()
    check(":" in WANTED or fired > runs / 2, "the faults did not happen")


def ended_with_a_word(code, words, what):
    """Not by a signal, a sanitizer or a leak, and not silently."""
    check(0 < code < 20, f"{what}: exit {code}\n{words[-3000:]}")
    check(words != "", f"{what}: ended without a word")


# --- prove --------------------------------------------------------------------


def test_prove():
    with folder() as where:
        members = Members(where, size=5, secrets=1)
        faults = Faults(where, LIBRARY)
        command = [BIN, "prove", "--identity", members[0].file, "--members",
                   members.file, "--zkey", ZKEY, "--depth", "7", "--scope",
                   "1", "--message", "2", "--json"]

        def prove():
            return subprocess.run(
                [*map(str, command)], capture_output=True, text=True,
                check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                env=dict(os.environ, **faults.env))

        def one(kind, n):
            what = f"{kind}:{n} in prove"
            faults.arm(kind, n)
            run = prove()
            fired = faults.fired
            faults.disarm()
            if run.returncode == 0:
                equal(postern("verify", "-", stdin=run.stdout), "valid\n",
                      what)
            else:
                ended_with_a_word(run.returncode, run.stderr, what)
                equal(run.stdout, "", f"{what}: a proof all the same")
            return fired

        equal(prove().returncode, 0)
        each(faults.counts(), 2, 12, one)
        faults.close()


# --- client -------------------------------------------------------------------


@contextlib.contextmanager
def way_out():
    """A gateway behind a tor of ours, and a site behind that: how a client is
    made that has faults, those, and the site's address."""
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(folder())
        members = Members(where, size=5, secrets=1)
        onion, _ = onion_name()
        site = stack.enter_context(TlsSite(where, ["site.example"],
                                           PAGE.encode()))
        names = stack.enter_context(NameServer(
            {"site.example": ["127.0.0.1"]}))
        (where / "hostname").write_text(onion + "\n")
        gate = stack.enter_context(Gateway(where, {
            "gateway": {"onion": where / "hostname",
                        "publish_members": "on"},
            "group main": {"members": members.file, "requests": 1000000},
            "egress": {"ports": site.port, "allow": "site.example",
                       "dns": f"127.0.0.1:{names.port}",
                       "except": f"127.0.0.1:{site.port}"},
        }))
        tor = stack.enter_context(StrictTor({onion: gate.port}))
        faults = Faults(where, LIBRARY)
        stack.callback(faults.close)

        def client():
            return PosternClient(where, members[0].file, onion, tor.place,
                                 env=faults.env)

        yield client, faults, f"https://site.example:{site.port}/"


def proxy_of(c):
    """As `--env` tells it; or, where that could not be written, as people read
    it in what the client says."""
    with contextlib.suppress(AssertionError):
        return c.variables()["https_proxy"]
    place = re.search(r"ready: .* at (\S+)", c.log())
    check(place, "the client is not ready")
    token = (c.state / "token").read_text().strip()
    return f"http://postern:{token}@{place[1]}"


def fetches(c, url):
    with contextlib.suppress(subprocess.TimeoutExpired, AssertionError):
        return PAGE in c.curl(url, "--insecure", timeout=5,
                              proxy=proxy_of(c))[1]
    return False


def works_again(c, url, what):
    try:
        wait_until(lambda: fetches(c, url), PATIENCE, "a page again")
    except AssertionError as e:
        raise AssertionError(f"{what}: {e}\n{c.log()[-3000:]}") from None


def test_client_starts():
    with way_out() as (client, faults, url):
        def one(kind, n):
            what = f"{kind}:{n} at the client's start"
            faults.arm(kind, n)
            c = client()
            try:
                with contextlib.suppress(AssertionError):
                    c.start()
                fired = faults.fired
                if c.process.poll() is not None:
                    ended_with_a_word(c.process.returncode, c.log(), what)
                    return fired
                faults.disarm()
                works_again(c, url, what)
                equal(c.stop(), 0, f"{what}: exit code")
                return fired
            finally:
                faults.disarm()
                c.__exit__(None)

        with client() as c:
            counts = faults.counts()
            works_again(c, url, "without a fault")
        each(counts, 1, 3, one)


def test_client_works():
    with way_out() as (client, faults, url), client() as c:
        def one(kind, n):
            what = f"{kind}:{n} in a client"
            faults.arm(kind, n)
            fetches(c, url)
            fired = faults.fired
            faults.disarm()
            check(c.process.poll() is None, f"{what}: the client ended with "
                  f"{c.process.returncode}\n{c.log()[-3000:]}")
            works_again(c, url, what)
            return fired

        works_again(c, url, "without a fault")
        before = faults.counts()
        check(fetches(c, url), "a page")
        after = faults.counts()
        each({kind: after[kind] - before[kind] for kind in KINDS}, 3, 8, one)
        equal(c.stop(), 0, "exit code")


# --- mix node -----------------------------------------------------------------


def arrives(net, sink):
    """A message gets through and its answer back."""
    return net.send(sink.address, "x", "--mean", 1, "--timeout", 2,
                    code=None).strip() == "echo: x"


def test_mix_node():
    with contextlib.ExitStack() as stack:
        net = Network(stack)
        sink = stack.enter_context(net.sink())
        node = net.layers()[1]
        faults = Faults(net.where, LIBRARY)
        stack.callback(faults.close)

        def works(what):
            try:
                wait_until(lambda: arrives(net, sink), PATIENCE, "an answer")
            except AssertionError as e:
                raise AssertionError(
                    f"{what}: {e}\n{''.join(node.log)[-3000:]}") from None

        def one_start(kind, n):
            what = f"{kind}:{n} at a node's start"
            if node.run.poll() is None:
                equal(node.stop(), 0, "exit code")
            faults.arm(kind, n)
            with contextlib.suppress(AssertionError):
                node.start()
            fired = faults.fired
            faults.disarm()
            if node.run.poll() is None and node.address:
                works(what)
            else:
                node.run.wait(PATIENCE)
                wait_until(lambda: node.log, 5, f"{what}: a word")
                ended_with_a_word(node.run.returncode, "".join(node.log), what)
            return fired

        def one_day(kind, n):
            what = f"{kind}:{n} in a node"
            faults.arm(kind, n)
            arrives(net, sink)
            fired = faults.fired
            faults.disarm()
            check(node.run.poll() is None, f"{what}: the node ended with "
                  f"{node.run.returncode}\n{''.join(node.log)[-3000:]}")
            works(what)
            return fired

        node.stop()
        node.env = faults.env
        node.start()
        started = faults.counts()
        each(started, 1, 3, one_start)
        if node.run.poll() is not None:
            node.start()
        works("without a fault")
        before = faults.counts()
        works("without a fault")
        after = faults.counts()
        each({kind: after[kind] - before[kind] for kind in KINDS}, 2, 6,
             one_day)
        node.signal(signal.SIGTERM)
        equal(node.run.wait(PATIENCE), 0, "exit code")


if __name__ == "__main__":
    main(globals())
