#!/usr/bin/env python3
"""Clocks that jump, disks and memory that run out, an onion key that changes:
a clear refusal and a log line, and full recovery when the cause goes."""

import contextlib
import os
import pathlib
import resource
import shutil
import time

from lib import (Gateway, Server, Vectors, check, echo, equal, folder, main,
                 onion_name, wait_until)

V = Vectors()


@contextlib.contextmanager
def world(where, **more):
    """(target, configuration) of a gateway in WHERE with a journal."""
    with Server(echo) as site:
        config = {
            "gateway": dict(V.gateway),
            "group main": {"members": V.write(where), "requests": 6},
            "egress": {"allow": "*", "ports": site.port, "literals": "on",
                       "except": f"127.0.0.1:{site.port}"},
            "ledger": {"journal": where / "journal"},
        }
        for section, keys in more.items():
            config.setdefault(section.replace("_", " "), {}).update(keys)
        yield f"127.0.0.1:{site.port}", config


def ask(g, target, name="member 0"):
    with g.client() as c:
        a = c.connect(target, V.token(name))
        return a.code if a.code == 200 else (a.code, a.json()["error"])


def faketime():
    for path in pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"):
        return path
    raise AssertionError("needs libfaketime (apt-get install libfaketime)")


def test_the_clock_jumps_a_day_and_back():
    """An epoch ahead, and one behind: nobody gets a second quota by it."""
    with folder() as where, world(where, run={"sandbox": "off"}) as (
            target, config):
        shift = where / "shift"

        def jump(seconds):
            draft = where / ".shift"
            draft.write_text(f"{seconds:+d}\n")
            draft.rename(shift)

        jump(0)
        env = {"LD_PRELOAD": str(faketime()), "FAKETIME_NO_CACHE": "1",
               "FAKETIME_TIMESTAMP_FILE": str(shift),
               "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        with Gateway(where, config, env=env) as g:
            equal([ask(g, target) for _ in range(2)], [200, 200])
            for way in (V.length, -V.length):
                jump(way)
                wait_until(lambda: ask(g, target)[0] == 407, 10,
                           "its proof is of another day")
                time.sleep(1.1)  # the gateway looks every second
                jump(0)
                wait_until(lambda: ask(g, target) == 200, 10, "back")
            wait_until(lambda: "clock_jumped" in g.log(), 5, "it is told")
            # Two at first, one after each jump: two are left of six.
            equal([ask(g, target) for _ in range(3)],
                  [200, 200, (429, "quota_requests")])
            equal(g.stop(), 0)
        with Gateway(where, config) as g:
            equal(ask(g, target), (429, "quota_requests"), "the journal too")


def test_a_journal_folder_that_may_not_be_written():
    if os.getuid() != 0:
        print("    not root: users are not tried")
        return
    with folder() as where, world(where, run={"user": "nobody"}) as (
            target, config):
        where.chmod(0o755)
        place = where / "state"
        place.mkdir()
        config["ledger"]["journal"] = place / "journal"
        g = Gateway(where, config, wait=False).start()
        try:
            wait_until(lambda: g.process.poll() is not None, 10, "it ends")
            check("Permission denied" in g.log(), g.log())
            check(str(place) in g.log(), "names the place")
        finally:
            g.kill()
        shutil.chown(place, "nobody")
        # A place for its socket where it may always make one.
        run = where / "run"
        run.mkdir()
        shutil.chown(run, "nobody")
        config["metrics"] = {"listen": f"unix:{run}/metrics"}

        def gateway():
            made = Gateway(where, config)
            made.metrics_socket = run / "metrics"
            return made

        with gateway() as g:
            equal(ask(g, target), 200)
            # Read-only from here on: the file that is open goes on.
            shutil.chown(place, "root")
            place.chmod(0o555)
            equal([ask(g, target) for _ in range(2)], [200, 200])
            g.stop()
        place.chmod(0o755)
        shutil.chown(place, "nobody")
        with gateway() as g:
            equal([ask(g, target) for _ in range(4)],
                  [200] * 3 + [(429, "quota_requests")], "all are counted")


def address_space(pid):
    """Bytes of address space of a process."""
    pages = pathlib.Path(f"/proc/{pid}/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def test_memory_runs_out():
    """No more address space: who is in goes on, who comes is served or
    refused, and with memory again all is as before."""
    with folder() as where, world(where) as (target, config):
        config["group main"].update(requests=100000, tunnels="unlimited")
        config["egress"]["per_destination"] = "unlimited"
        config["limits"] = {"sessions": 4000}
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with Gateway(where, config) as g, contextlib.ExitStack() as stack:
            first = stack.enter_context(g.client())
            equal(first.connect(target, V.token("member 0")).code, 200)
            pid = g.process.pid
            was = resource.prlimit(pid, resource.RLIMIT_AS)
            resource.prlimit(pid, resource.RLIMIT_AS,
                             (address_space(pid), was[1]))
            codes, held = [], []
            for i in range(3000):
                c = stack.enter_context(g.client())
                try:
                    code = c.connect(target, V.token(f"member {i % 8}")).code
                except ConnectionError:
                    code = 0
                codes.append(code)
                if code == 200:
                    held.append(c)
                if len(codes) - len(held) == 20:
                    break
            check(set(codes) <= {0, 200, 503}, set(codes))
            for c in [first, *held]:
                c.send(b"still here")
                equal(c.read(10), b"still here")
            check(g.process.poll() is None, "it lives")
            resource.prlimit(pid, resource.RLIMIT_AS, was)
            wait_until(lambda: ask(g, target, "member 5") == 200, 10, "back")
            for c in [first, *held]:
                c.sock.close()
            equal(g.stop(), 0)
            check({0, 503} & set(codes), f"{len(codes)} were served: it never ran out")


def test_the_onion_key_changes():
    with folder() as where, world(where) as (target, config):
        mine, key = onion_name()
        other, _ = onion_name()
        hostname = where / "hostname"
        hostname.write_text(f"{mine}\n")
        del config["gateway"]["audience"]
        config["gateway"]["onion"] = hostname
        with Gateway(where, config) as g:
            time.sleep(0.1)

            def replace(name):
                draft = where / ".hostname"
                draft.write_text(f"{name}\n")
                draft.rename(hostname)

            # The same address in a new file is no news.
            replace(mine)
            time.sleep(11)
            equal(g.http("/readyz")[0], 200)
            replace(other)
            wait_until(lambda: g.http("/readyz")[0] == 503, 15, "not ready")
            check("another address" in g.http("/readyz")[1])
            wait_until(lambda: "onion_changed" in g.log())
            check(other not in g.log() and mine not in g.log())
            replace(mine)
            wait_until(lambda: g.http("/readyz")[0] == 200, 15, "ready")
            check("onion_back" in g.log())
            check(key > 0)


main(globals())
