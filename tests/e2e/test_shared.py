#!/usr/bin/env python3
"""Several gateways, one budget: the ledger in a real server that dies, stalls
and comes back, as clients, the operator and the log see it."""

import contextlib
import json
import signal
import time

from lib import (Gateway, Server, Vectors, at_once, certificate, check, echo,
                 equal, folder, free_port, main, postern, wait_until)
from redislib import Redis

V = Vectors()


def write_key(where):
    key = where / "ledger.key"
    postern("ledger", "key", "-o", key)
    return key


class Several:
    """N gateways in front of one site, and the server that they count in."""

    def __init__(self, n=3, requests=7, server=None, **ledger):
        self.n, self.requests, self.ledger = n, requests, ledger
        self.redis = server or Redis()
        self.stack = contextlib.ExitStack()

    def config(self, where, name):
        place = where / name
        place.mkdir()
        return place, {
            "gateway": dict(V.gateway),
            "group main": {"members": V.write(place), "requests": self.requests,
                           "tunnels": "unlimited"},
            "egress": {"allow": "*", "except": f"127.0.0.1:{self.site.port}"},
            "control": {"socket": place / "control"},
            "ledger": {"shared": self.redis.url,
                       "shared_key_file": self.key, **self.ledger},
        }

    def __enter__(self):
        enter = self.stack.enter_context
        self.where = enter(folder())
        self.redis = enter(self.redis)
        self.site = enter(Server(echo))
        self.target = f"127.0.0.1:{self.site.port}"
        self.key = write_key(self.where)
        self.gates = [enter(Gateway(*self.config(self.where, f"g{i}")))
                      for i in range(self.n)]
        return self

    def __exit__(self, *args):
        return self.stack.__exit__(*args)

    def __getitem__(self, i):
        return self.gates[i]

    def ask(self, i, name="member 0"):
        with self.gates[i].client() as c:
            return c.connect(self.target, V.token(name))

    def race(self, connections, name="member 0"):
        """The codes of so many connections, at all gateways at once."""
        return sorted(at_once([self.gates[i % self.n].client()
                               for i in range(connections)], self.target,
                              V.token(name)))


def status(g):
    return json.loads(postern("ctl", "-c", g.file, "--json", "status"))


def shared_status(g):
    told = status(g)
    return told.get("result", told)["shared_ledger"]


def test_one_budget_at_three_gateways():
    with Several(requests=20) as s:
        codes = s.race(150)
        equal(codes, [200] * 20 + [429] * 130)
        equal(s.redis.counted(), 20)
        # Another member has one too; a restart forgets nothing.
        equal(s.ask(0, "member 1").code, 200)
        equal(s[1].stop(), 0)
        s[1].start()
        equal(s.ask(1).code, 429)
        # The keys there are tags; of proofs and nullifiers nothing is there.
        everything = (s.redis.dir / "appendonlydir").rglob("*")
        kept = b"".join(p.read_bytes() for p in everything if p.is_file())
        check(b"postern:" in kept, "the keys of the ledger")
        for name in ("member 0", "member 1"):
            nullifier = int(V.nullifier(name))
            raw = nullifier.to_bytes(32, "big")
            for form in (str(nullifier).encode(), raw, raw.hex().encode(),
                         raw.hex()[:24].encode()):
                check(form not in kept, "a nullifier is in the ledger")
        for g in s.gates:
            check("postern:" not in g.log(), "a key of the ledger is logged")


def test_the_server_dies_and_comes_back():
    with Several(n=1, requests=50, shared_timeout="300ms") as s:
        equal(s.ask(0).code, 200)
        s.redis.kill()
        answer = s.ask(0)
        equal(answer.code, 503)
        check("ledger of requests" in answer.body.decode(), answer.body)
        check(int(answer.fields["retry-after"]) > 0, "Retry-After")
        wait_until(lambda: s[0].http("/readyz")[0] == 503, 10, "not ready")
        check("shared ledger" in s[0].http("/readyz")[1])
        equal(s[0].metric("postern_shared_ledger_up"), 0)
        check(not shared_status(s[0])["up"])
        wait_until(lambda: "ledger_lost" in s[0].log(), 10, "ledger_lost")
        s.redis.start()
        wait_until(s[0].ready, 10, "ready again")
        equal(s.ask(0).code, 200)
        equal(s.redis.counted(), 2)
        check(s[0].metric("postern_shared_ledger_up") == 1)
        wait_until(lambda: s[0].log().rfind("ledger_back") >
                   s[0].log().rfind("ledger_lost"), 10, "ledger_back")


def test_it_stalls():
    with Several(n=2, requests=50, shared_timeout="300ms") as s:
        equal(s.ask(0).code, 200)
        s.redis.process.send_signal(signal.SIGSTOP)
        before = time.monotonic()
        equal(s.ask(0).code, 503)
        check(time.monotonic() - before < 5, "it took too long")
        s.redis.process.send_signal(signal.SIGCONT)
        wait_until(s[0].ready, 10, "ready again")
        equal(s.ask(1).code, 200)
        # What was counted for nobody is taken back.
        wait_until(lambda: s.redis.counted() == 2, 10, "two are counted")


def test_counting_here_meanwhile():
    with Several(n=2, requests=10, unreachable="local",
                 shared_timeout="300ms") as s:
        for _ in range(4):
            equal(s.ask(0).code, 200)
        s.redis.kill()
        wait_until(lambda: not shared_status(s[0])["up"], 10, "away")
        check(s[0].ready(), "it goes on")
        equal([s.ask(0).code for _ in range(8)], [200] * 6 + [429] * 2)
        equal(s.ask(1).code, 200)
        equal(shared_status(s[0])["owed"], 6)
        equal(s[0].metric("postern_shared_ledger_owed_requests"), 6)
        s.redis.start()
        wait_until(lambda: s.redis.counted() == 11, 20, "all are told")
        equal(s.ask(1).code, 429)
        equal(shared_status(s[0])["owed"], 0)
        check(postern("ctl", "-c", s[0].file, "status").count("shared"), "ctl")


def findings(where, **ledger):
    """What `postern check` says of ledger's keys."""
    file = where / "check.conf"
    file.write_text("[gateway]\naudience = 1\n[ledger]\n" + "".join(
        f"{k} = {v}\n" for k, v in ledger.items()))
    told = json.loads(postern("check", "--json", "-c", file, code=None))
    return told["findings"]


def says(found, *words):
    """One of FOUND has all of WORDS; it."""
    for f in found:
        if all(w in json.dumps(f) for w in words):
            return f
    raise AssertionError(f"{words} is not in {found}")


def test_what_check_says():
    with folder() as where, Redis(requirepass="secret") as redis:
        key = write_key(where)
        password = where / "password"
        password.write_text("wrong\n")
        password.chmod(0o600)
        good = {"shared": redis.url, "shared_key_file": key,
                "shared_password_file": password}
        says(findings(where, **good), "WRONGPASS", "error")
        password.write_text("secret\n")
        for f in findings(where, **good):
            check("ledger" not in json.dumps(f), f)
        password.chmod(0o644)
        says(findings(where, **good), "chmod 600", "error")
        password.chmod(0o600)
        key.chmod(0o640)
        says(findings(where, **good), "chmod 600", "error")
        key.chmod(0o600)
        says(findings(where, **dict(good, shared_replicas=1)), "replicas",
             "error")
        says(findings(where, **dict(good, shared="redis://u:p@h")),
             "user and password", "error")
        says(findings(where, **dict(good, shared="redis://192.0.2.1")),
             "in the clear", "warning")
        says(findings(where, **dict(good, journal=where / "j")), "either")
        says(findings(where, shared=redis.url), "a key in common", "error")
        says(findings(where, unreachable="local"), "no shared ledger")
        redis.ask("config", "set", "maxmemory-policy", "allkeys-lru")
        says(findings(where, **good), "throws counts away", "error")
        redis.ask("config", "set", "maxmemory-policy", "noeviction")
        redis.ask("config", "set", "appendonly", "no")
        says(findings(where, **good), "appendonly", "warning")
        redis.kill()
        says(findings(where, **good), "can not be used", "error")
        says(findings(where, **dict(good, unreachable="local")),
             "can not be used", "warning")
        postern("ledger", "key", "-o", key, code=2)


def test_tls_user_and_walls():
    with folder() as certs:
        cert, key = certificate(certs, "localhost")
        port = free_port()
        server = Redis(tls_port=port, tls_cert_file=cert, tls_key_file=key,
                       tls_ca_cert_file=cert, tls_auth_clients="no")
        with server as redis:
            redis.ask("acl", "setuser", "postern", "on", ">word", "~postern:*",
                      "resetchannels", "-@all", "+select", "+role", "+wait",
                      "+evalsha", "+script|load", "+get", "+set", "+hset",
                      "+hget", "+hgetall", "+hdel", "+pexpire", "+pexpireat",
                      "+time", "+auth")
            password = certs / "password"
            password.write_text("word\n")
            password.chmod(0o600)

            class Running:
                """The server that runs already."""
                url = f"rediss://localhost:{port}/0"
                counted = redis.counted

                def __enter__(self):
                    return self

                def __exit__(self, *_):
                    pass

            with Several(n=2, requests=5, server=Running(), shared_user="postern",
                         shared_password_file=password,
                         shared_ca_file=cert) as s:
                equal(s.race(20), [200] * 5 + [429] * 15)
                equal(redis.counted(), 5)
                # Over the walls a new connection must be made, too.
                redis.ask("client", "kill", "type", "normal")
                wait_until(lambda: s.ask(0, "member 1").code == 200, 10,
                           "connected again")
                for g in s.gates:
                    check("word" not in g.log(), "the password is logged")


main(globals())
