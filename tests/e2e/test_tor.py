#!/usr/bin/env python3
"""Stock curl through a real tor, the gateway, and out: with proofs that the
official JavaScript packages minted."""

import base64
import contextlib
import json
import socket
from pathlib import Path

from lib import (Gateway, Members, NameServer, TlsSite, check, equal, folder,
                 free_port, main, official_proofs, postern, today, token_of,
                 wait_until)
from torlib import Curl, TorNet

QUOTA = 6
PAGE = "hello from outside"


class World:
    """One network for all tests here: it takes 20 s to come up."""

    def __init__(self, stack):
        where = stack.enter_context(folder())
        self.site = stack.enter_context(TlsSite(where, ["site.example"]))
        names = stack.enter_context(NameServer({"site.example": ["127.0.0.1"]}))
        port = free_port()
        self.net = stack.enter_context(TorNet(port))
        self.members = Members(where, size=8, secrets=3)
        self.gate = stack.enter_context(Gateway(where, {
            "gateway": {"listen": f"127.0.0.1:{port}", "proxy_line": "required",
                        "onion": self.net.hostname_file},
            "group main": {"members": self.members.file, "requests": QUOTA},
            "egress": {"ports": self.site.port, "allow": "site.example",
                       "dns": f"127.0.0.1:{names.port}",
                       "except": f"127.0.0.1:{self.site.port}"},
            "limits": {"circuit_failures": 3},
        }))
        self.message = int.from_bytes(self.onion_key(), "big")
        self.url = f"https://site.example:{self.site.port}/"
        a, b, c = self.members.members
        day = today()
        fresh_a, fresh_b, fresh_c, stale, other = official_proofs(self.members, [
            (a, day, self.message), (b, day, self.message),
            (c, day, self.message), (c, day - 2, self.message), (c, day, 1)])
        self.token = {"a": token_of(fresh_a), "b": token_of(fresh_b),
                      "c": token_of(fresh_c), "stale": token_of(stale),
                      "other": token_of(other)}
        # The same proof with another nullifier: well formed, and false.
        forged = dict(fresh_c, nullifier=fresh_a["nullifier"])
        self.token["forged"] = token_of(forged)

    def onion_key(self):
        return base64.b32decode(self.net.onion.split(".")[0].upper())[:32]

    def curl(self, token=None, circuit=None):
        header = None
        if token:
            header = f"Proxy-Authorization: Semaphore {self.token[token]}"
        return Curl(self.net, self.url, header, circuit, self.site.cert)


def test_a_member_goes_out():
    got = world.curl("a")
    equal((got.connect, got.code, got.exit), (200, 200, 0), got.error)
    check(PAGE in got.text, got.text)


def test_without_a_proof_the_answer_says_what_to_do():
    before = world.site.connections
    got = world.curl()
    equal(got.connect, 407, got.error)
    check("Proxy-Authenticate: Semaphore " in got.text, got.text)
    check(f'scope="{today()}"' in got.text, got.text)
    check(f'message="{world.message}"' in got.text, got.text)
    equal(world.site.connections, before, "connections to the site")


def test_a_wrong_a_stale_and_another_gateways_proof_are_refused():
    before = world.site.connections
    for token in "forged", "stale", "other":
        got = world.curl(token, circuit=f"refused-{token}")
        equal(got.connect, 407, f"{token}: {got.error}")
    equal(world.site.connections, before, "connections to the site")


def test_over_quota_the_answer_is_429():
    codes = [world.curl("b").connect for _ in range(QUOTA + 1)]
    equal(codes, [200] * QUOTA + [429])
    got = world.curl("b")
    check("Retry-After: " in got.text, got.text)
    equal(world.curl("a").connect, 200, "another member")


def test_two_circuits_are_told_apart():
    for _ in range(4):
        world.curl("forged", circuit="bad")
    got = world.curl("a", circuit="bad")
    check(got.connect != 200, "a circuit that sent bad proofs still passes")
    equal(world.curl("a", circuit="good").connect, 200, "another circuit")


def test_a_restart_of_tor_does_not_hurt_the_gateway():
    world.net.restart("onion")
    for _ in range(5):  # the client may hold a circuit to the old tor
        got = world.curl("c", circuit="after")
        if got.connect == 200:
            break
    equal(got.connect, 200, got.error)
    equal(world.gate.process.poll(), None, "the gateway's exit")


class OwnService:
    """A gateway that asks tor for its service: no torrc, an address of its
    own."""

    def __init__(self, where, **tor):
        control = world.net.settings["CONTROL"]
        cookie = world.net.dir / "onion" / "control_auth_cookie"
        self.socket = where / "control"
        self.socks = world.net.socks
        self.config = {
            "gateway": {}, "group main": {"members": world.members.file,
                                          "requests": QUOTA},
            "egress": dict(world.gate.config["egress"]),
            "control": {"socket": self.socket},
            "tor": {"control": control, "onion_key": where / "key",
                    "cookie_file": cookie, **tor}}

    def status(self):
        return json.loads(postern("ctl", "--socket", self.socket, "--json",
                                  "status"))["result"]

    @property
    def onion(self):
        return self.status()["onion"]

    def added(self):
        return self.status()["tor"]["onion_added"]

    def answers(self, circuit=None):
        return Curl(self, world.url, circuit=circuit,
                    timeout=30).connect == 407


def tell_the_clients_tor(command):
    """Say COMMAND to the client's control port; its first answer."""
    cookie = Path(world.net.settings["CLIENT_COOKIE"]).read_bytes()
    host, port = world.net.settings["CLIENT_CONTROL"].split(":")
    with socket.create_connection((host, int(port)), 10) as s:
        s.sendall(f"AUTHENTICATE {cookie.hex()}\r\n{command}\r\n".encode())
        f = s.makefile()
        equal(f.readline(), "250 OK\n")
        return f.readline()


def test_a_service_that_tor_was_asked_for():
    """tor.onion_key, and again after a restart of tor."""
    with folder() as where:
        own = OwnService(where)
        with Gateway(where, own.config) as g:
            mine = own.onion
            check(mine != world.net.onion and len(mine) == 62, mine)
            equal((where / "key").stat().st_mode & 0o777, 0o600)
            wait_until(own.added, 20)
            wait_until(own.answers, 90, "it is reached")
            world.net.restart("onion")
            wait_until(lambda: "tor_restarted" in g.log(), 60)
            wait_until(own.added, 60)
            # As somebody who does not know of the service before.
            equal(tell_the_clients_tor("SIGNAL NEWNYM"), "250 OK\n")
            wait_until(own.answers, 90, "it is reached again")
            check(mine not in g.log())
            g.stop()
        with Gateway(where, own.config) as g:
            equal(own.onion, mine, "the key is kept")


def test_a_service_for_some():
    """tor.onion_clients, onion_pow, and a key that is kept encrypted."""
    with folder() as where:
        (where / "passphrase").write_text("correct horse\n")
        (where / "passphrase").chmod(0o600)
        own = OwnService(where, onion_pow="on", onion_clients=where / "clients",
                         onion_key_passphrase_file=where / "passphrase")
        stranger = "descriptor:x25519:beaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
            "aaaaaaaaaaaa\n"
        (where / "clients").write_text(stranger)
        with Gateway(where, own.config) as g:
            mine = own.onion
            wait_until(own.added, 20)
            line = postern("identity", "tor-key", "--onion", mine, "-o",
                           where / "me.auth_private")
            g.stop()
        sealed = (where / "key").read_text()
        check(sealed.startswith("postern onion key 1 encrypted\n"), sealed)
        (where / "clients").write_text(f"# me\n{line}{stranger}")
        with Gateway(where, own.config) as g:
            equal(own.onion, mine, "the key is kept")
            wait_until(lambda: own.status()["tor"]["onion_published"], 60)
            check(not own.answers("keyless"), "found without a key")
            address, _, _, secret = (where / "me.auth_private").read_text() \
                .strip().split(":")
            equal(address, mine.split(".")[0])
            key = base64.b64encode(base64.b32decode(secret.upper() + "===="))
            said = tell_the_clients_tor(
                f"ONION_CLIENT_AUTH_ADD {address} x25519:{key.decode()}")
            check(said.startswith("25"), said)
            wait_until(lambda: own.answers("key"), 90, "found with the key")
            g.stop()
        refused_starts(where, own.config)


def refused_starts(where, config):
    """What of the two files stops a gateway, and how it says so."""
    for name, text, says in (
            ("passphrase", "wrong\n", "it does not open"),
            ("passphrase", "\n", "it does not open"),
            ("clients", "# nobody\n", "has no client"),
            ("clients", "descriptor:x25519:" + "a" * 52 + "\n", "line 1")):
        before = (where / name).read_text()
        (where / name).write_text(text)
        g = Gateway(where, config, wait=False)
        g.start()
        try:
            equal(g.process.wait(20), 2, text)
        finally:
            g.kill()
        check(says in g.log(), g.log())
        (where / name).write_text(before)


def test_the_log_names_nobody():
    text = world.gate.log()
    check("site.example" not in text, "a destination in the log")
    for token in world.token.values():
        check(token[:40] not in text, "a token in the log")
    check("fc00:dead:beef" not in text, "a circuit id in the log")


if __name__ == "__main__":
    with contextlib.ExitStack() as everything:
        world = World(everything)
        main(globals())
