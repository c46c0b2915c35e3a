#!/usr/bin/env python3
"""What is counted, and that it lasts: races, restarts, kill -9, full disks, the
turn of an epoch."""

import contextlib
import os
import signal
import subprocess
import threading
import time

from lib import (Gateway, Server, Vectors, at_once, check, echo, equal, folder,
                 main, wait_until)

V = Vectors()


def configuration(where, site_port, requests=10, **more):
    config = {
        "gateway": dict(V.gateway),
        "group main": {"members": V.write(where), "requests": requests,
                       "tunnels": "unlimited"},
        "egress": {"allow": "*", "except": f"127.0.0.1:{site_port}"},
        "ledger": {"journal": where / "journal"},
    }
    for section, keys in more.items():
        config.setdefault(section.replace("_", " "), {}).update(keys)
    return config


@contextlib.contextmanager
def world(**more):
    """(folder, target, configuration)"""
    with folder() as where, Server(echo) as site:
        yield where, f"127.0.0.1:{site.port}", configuration(
            where, site.port, **more)


def ask(g, target, name):
    """One request on a connection of its own: the code."""
    with g.client() as c:
        return c.connect(target, V.token(name)).code


def left(g, target, name, most=100):
    """How many requests a member has left: by using them up."""
    used = 0
    while used < most and ask(g, target, name) == 200:
        used += 1
    return used


def race(g, target, name, connections):
    """The codes that so many connections get, all at once."""
    return at_once([g.client() for _ in range(connections)], target,
                   V.token(name))


def test_not_one_more_than_the_quota_passes():
    with world(requests=7) as (where, target, config), \
            Gateway(where, config) as g:
        # Fresh: all wait for one check. Then: all from the cache.
        codes = race(g, target, "member 0", 50)
        equal(sorted(codes), [200] * 7 + [429] * 43)
        equal(sorted(race(g, target, "member 0", 50)), [429] * 50)


def test_not_one_more_tunnel_than_allowed():
    with world(requests=100, group_main={"tunnels": 5}) as (
            where, target, config), Gateway(where, config) as g:
        codes = race(g, target, "member 1", 50)
        equal(codes.count(429), 45)
        wait_until(lambda: g.metric("postern_tunnels") == 0)
        equal(sorted(race(g, target, "member 1", 50)).count(200), 5)


def test_bad_proofs_use_up_nothing():
    """A proof that does not hold, with the nullifier of a member's."""
    from lib import token_of
    with world(requests=2) as (where, target, config), \
            Gateway(where, config) as g:
        points = V.proof("member 1")["points"]
        forged = token_of(dict(V.proof("member 0"), points=points))
        for _ in range(5):
            with g.client() as c:
                equal(c.connect(target, forged).code, 407)
        equal(left(g, target, "member 0"), 2)


def test_counts_survive_a_restart():
    with world(requests=5) as (where, target, config):
        with Gateway(where, config) as g:
            equal([ask(g, target, "member 0") for _ in range(3)], [200] * 3)
            equal(ask(g, target, "member 1"), 200)
            equal(g.stop(), 0)
        with Gateway(where, config) as g:
            equal(left(g, target, "member 0"), 2)
            equal(left(g, target, "member 1"), 4)
            equal(left(g, target, "member 2"), 5)


def test_counts_survive_kill_9():
    with world(requests=30) as (where, target, config):
        used = 0
        for _ in range(4):
            with Gateway(where, config) as g:
                for _ in range(3):
                    equal(ask(g, target, "member 0"), 200)
                    used += 1
                g.kill()
        with Gateway(where, config) as g:
            equal(left(g, target, "member 0"), 30 - used)


def test_kill_9_while_many_work():
    """What a client was told is counted; what it was not told may be."""
    with world(requests=400, egress={"per_destination": "unlimited"}) as (
            where, target, config):
        granted, others = 0, set()
        for _ in range(3):
            with Gateway(where, config) as g:
                told, stop = [], threading.Event()

                def work():
                    with contextlib.suppress(OSError, ConnectionError,
                                             IndexError):
                        while not stop.is_set():
                            code = ask(g, target, "member 0")
                            if code == 200:
                                told.append(1)
                            elif code != 429:
                                others.add(code)

                threads = [threading.Thread(target=work) for _ in range(8)]
                for t in threads:
                    t.start()
                time.sleep(0.3)
                g.kill()
                stop.set()
                for t in threads:
                    t.join()
                granted += len(told)
        # Another answer would be counted, too.
        equal(others, set())
        with Gateway(where, config) as g:
            rest = left(g, target, "member 0", 500)
            check(rest <= 400 - granted,
                  f"{granted} were granted and {rest} of 400 are left")
            # At most what was under way was counted without being told.
            check(rest >= 400 - granted - 3 * 8, f"{rest} left")


def test_a_torn_tail_is_dropped_and_told():
    with world(requests=5) as (where, target, config):
        with Gateway(where, config) as g:
            equal(ask(g, target, "member 0"), 200)
            g.kill()
        with open(where / "journal", "ab") as f:
            f.write(b"half a record")
        with Gateway(where, config) as g:
            check("journal_torn" in g.log())
            equal(left(g, target, "member 0"), 4)


def refused_start(where, config):
    """What a gateway says that does not start."""
    g = Gateway(where, config, wait=False)
    g.start()
    try:
        equal(g.process.wait(20), 2, "exit code")
    finally:
        g.kill()
    return g.log()


def test_a_journal_of_another_gateway_is_refused():
    with world() as (where, target, config):
        with Gateway(where, config) as g:
            equal(ask(g, target, "member 0"), 200)
            g.stop()
        other = dict(config, gateway=dict(config["gateway"], audience=2))
        said = refused_start(where, other)
        check("postern.conf" in said and "journal" in said, said)
        check("error" in said, said)
        # The old one still has it.
        with Gateway(where, config) as g:
            equal(ask(g, target, "member 0"), 200)


def test_damage_in_the_middle_is_refused():
    with world(requests=100) as (where, target, config):
        with Gateway(where, config) as g:
            for _ in range(20):
                equal(ask(g, target, "member 0"), 200)
            g.stop()
        data = bytearray((where / "journal").read_bytes())
        data[4096 + 64 * 3 + 20] ^= 1
        (where / "journal").write_bytes(data)
        said = refused_start(where, config)
        check("journal" in said and "error" in said, said)


def test_one_journal_one_gateway():
    with world() as (where, target, config), Gateway(where, config) as g:
        other = where / "other"
        other.mkdir()
        second = {s: dict(k) for s, k in config.items()}
        second["gateway"].pop("listen", None)
        second["metrics"] = {}
        said = refused_start(other, second)
        check("journal" in said, said)
        equal(ask(g, target, "member 0"), 200)


def test_a_full_disk_refuses_and_recovers():
    """A file size limit is a full disk that needs no disk. SIGXFSZ is ignored
    by whoever started the gateway, as a write must fail and not kill."""
    import resource
    with world(requests=60) as (where, target, config):
        g = Gateway(where, config)
        g.write()
        limit = 4096 + 64 * 10

        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE,
                               (limit, resource.RLIM_INFINITY))

        with open(g.log_file, "ab") as log:
            pipe = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=log)
            from lib import BIN
            g.process = subprocess.Popen([BIN, "run", "-c", str(g.file)],
                                         stderr=pipe.stdin, preexec_fn=small)
        pipe.stdin.close()
        try:
            wait_until(g.ready, 20, "ready")
            codes = [ask(g, target, "member 0") for _ in range(15)]
            passed = codes.count(200)
            check(0 < passed <= 10, codes)
            equal(codes, [200] * passed + [503] * (15 - passed))
            with g.client() as c:
                a = c.connect(target, V.token("member 0"))
                equal((a.code, a.json()["error"]), (503, "journal_failed"))
            wait_until(lambda: g.http("/readyz")[0] == 503, 5, "not ready")
            check("journal" in g.http("/readyz")[1])
            check(g.metric("postern_journal_healthy") == 0)
            # Room again.
            resource.prlimit(g.process.pid, resource.RLIMIT_FSIZE,
                             (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            wait_until(lambda: ask(g, target, "member 1") == 200, 10,
                       "it recovers")
            wait_until(lambda: g.http("/readyz")[0] == 200, 5, "ready")
            g.stop()
        finally:
            g.kill()
            pipe.wait(5)
        check("journal_failed" in g.log() and "journal_back" in g.log())
        # Not one was lost on the way.
        with Gateway(where, config) as g:
            equal(left(g, target, "member 0"), 60 - passed)


def test_sync_interval():
    with world(requests=20, ledger={"sync": "interval",
                                    "interval": "100ms"}) as (
            where, target, config):
        with Gateway(where, config) as g:
            equal([ask(g, target, "member 0") for _ in range(5)], [200] * 5)
            wait_until(lambda: g.metric("postern_journal_unsynced_records")
                       == 0, 5, "synced")
            g.kill()  # written at once: a kill loses nothing
        with Gateway(where, config) as g:
            equal(left(g, target, "member 0"), 15)


def test_impatience_does_not_cut_its_end_short():
    """However many SIGTERM come, it closes what it has open and says so."""
    with world() as (where, _, config):
        for _ in range(3):
            with Gateway(where, config) as g:
                while g.process.poll() is None:
                    g.process.terminate()
                equal(g.process.returncode, 0, "exit status")


def test_without_a_journal_a_restart_forgets():
    with world(requests=3) as (where, target, config):
        del config["ledger"]
        for _ in range(2):
            with Gateway(where, config) as g:
                equal(left(g, target, "member 0"), 3)
                check("gives every member its quota back" in g.log())


def test_the_turn_of_an_epoch():
    epoch, following, length, _ = V.turn(4)
    with world(requests=2, gateway={"epoch": f"{length}s", "grace": "3s",
                                    "early": "1s"}) as (
            where, target, config):
        end = following * length
        with Gateway(where, config) as g:
            def code(name, wait=0):
                with g.client() as c:
                    return c.connect(target, V.token(name))
            now, soon = f"epoch {epoch}", f"epoch {following}"
            equal(code(now).code, 200)
            if time.time() < end - 1.2:
                equal(code(soon).json()["error"], "epoch_future")
            # Shortly before its time the next one is good.
            time.sleep(max(0, end - 0.7 - time.time()))
            equal(code(soon).code, 200)
            # After the turn both are, each with its own count.
            time.sleep(max(0, end + 0.3 - time.time()))
            equal([code(now).code, code(now).code], [200, 429])
            equal([code(soon).code, code(soon).code], [200, 429])
            with g.client() as c:
                said = c.get("/.well-known/postern").json()
                equal(said["scope"], str(following))
            # And after the time of grace the old one is not.
            time.sleep(max(0, end + 3.3 - time.time()))
            a = code(now)
            equal((a.code, a.json()["error"]), (407, "epoch_past"))
            check(f'scope="{following}"' in a.field("proxy-authenticate"))
            wait_until(lambda: "epoch_turned" in g.log(), 3, "it is logged")
            g.stop()


def test_bytes_are_counted_and_limited():
    with world(requests=10, group_main={"bytes_down": "100k",
                                        "bytes_up": "300k"}) as (
            where, target, config):
        with Gateway(where, config) as g:
            with g.client() as c:
                a = c.connect(target, V.token("member 0"))
                check('"bytes-down";r=102400' in a.field("ratelimit"))
                c.send(b"x" * 60000)
                equal(len(c.read(60000)), 60000)
            with g.client() as c:
                equal(c.connect(target, V.token("member 0")).code, 200)
                with contextlib.suppress(OSError):
                    c.send(b"x" * 60000)
                got = b""
                with contextlib.suppress(OSError):
                    while data := c.sock.recv(65536):
                        got += data
                equal(len(c.rest + got), 102400 - 60000,
                      "not one byte more passes")
            with g.client() as c:
                a = c.connect(target, V.token("member 0"))
                equal((a.code, a.json()["error"]), (429, "quota_bytes"))
                equal(a.json()["violated-policies"], ["bytes-down"])
            equal(ask(g, target, "member 1"), 200)
            equal(g.metric("postern_tunnel_bytes_total", direction="down"),
                  102400)
            g.stop()
        with Gateway(where, config) as g:  # bytes survive as well
            with g.client() as c:
                a = c.connect(target, V.token("member 0"))
                equal((a.code, a.json()["error"]), (429, "quota_bytes"))


def test_the_journal_holds_no_nullifier():
    with world() as (where, target, config), Gateway(where, config) as g:
        equal(ask(g, target, "member 0"), 200)
        g.stop()
        raw = (where / "journal").read_bytes()
        nullifier = int(V.nullifier("member 0"))
        for form in (nullifier.to_bytes(32, "big"),
                     nullifier.to_bytes(32, "little"),
                     str(nullifier).encode()):
            check(form[:8] not in raw)
        equal(os.stat(where / "journal").st_mode & 0o777, 0o600)


main(globals())
