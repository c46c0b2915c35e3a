#!/usr/bin/env python3
"""What `postern client` does when something is not as it should be. No tor
here: its place is taken by a SOCKS server that is as strict as tor is and can
be told to fail, before a real gateway or one that lies."""

import base64
import contextlib
import hashlib
import json
import os
import socket
import struct
import subprocess
import threading
import time

from clientlib import PosternClient, StrictTor, ZKEY
from lib import (BIN, Gateway, Member, Members, NameServer, Server, TlsSite,
                 Vectors, check, equal, folder, free_port, main, onion_name,
                 postern, today, wait_until)

PAGE = "hello from outside"


def document(**changes):
    """What a gateway of one slot with one unknown root says of itself."""
    facts = {
        "version": 1, "scope": str(today()), "next_scope": str(today() + 1),
        "epoch": today(), "epoch_length": 86400,
        "epoch_end": (today() + 1) * 86400, "grace": 600, "early": 120,
        "slots": 1, "message": "0", "any_message": True,
        "roots": [{"root": "5", "depth": 3, "members": 8, "group": "main",
                   "current": True}],
        "groups": [{"name": "main", "requests": 5, "ports": [443]}],
    }
    facts.update(changes)
    return json.dumps(facts).encode()


def scope_of(realm, slot=0):
    """The scope of today in REALM (src/http/PROTOCOL.md, section 4)."""
    data = (b"postern/scope\0" + realm.encode() + b"\0"
            + struct.pack("!QH", today(), slot))
    return str(int.from_bytes(hashlib.sha256(data).digest()[:31], "big"))


def liar(body, code=200, kind="HTTP/1.1"):
    """A server that answers everything with BODY."""
    def handle(sock):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = sock.recv(4096)
            if not piece:
                return
            head += piece
        sock.sendall(f"{kind} {code} x\r\nContent-Length: {len(body)}\r\n\r\n"
                     .encode() + body)
    return Server(handle)


class Place:
    """A folder with members, and an onion name."""

    def __init__(self, stack, members=5):
        self.where = stack.enter_context(folder())
        self.members = Members(self.where, size=members, secrets=1)
        self.onion, self.message = onion_name()

    def client(self, tor, *args, **how):
        return PosternClient(self.where, self.members[0].file, self.onion, tor,
                             *args, **how)


@contextlib.contextmanager
def with_liar(body, *args, **how):
    """A client whose gateway is a liar."""
    with contextlib.ExitStack() as stack:
        place = Place(stack)
        server = stack.enter_context(liar(body, **how))
        tor = stack.enter_context(StrictTor({place.onion: server.port}))
        client = stack.enter_context(place.client(tor.place, *args))
        yield client
        equal(tor.faults, [])


@contextlib.contextmanager
def with_gate(zkey=ZKEY, client_args=(), gateway=(), page=PAGE.encode(),
              members=5):
    """A client, its tor, a real gateway, and a site behind it."""
    with contextlib.ExitStack() as stack:
        place = Place(stack, members)
        site = stack.enter_context(TlsSite(place.where, ["site.example"],
                                           page))
        names = stack.enter_context(NameServer(
            {"site.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]}))
        (place.where / "hostname").write_text(place.onion + "\n")
        gate = stack.enter_context(Gateway(place.where, {
            "gateway": dict({"onion": place.where / "hostname",
                             "publish_members": "on"}, **dict(gateway)),
            "group main": {"members": place.members.file, "requests": 50},
            "egress": {"ports": site.port, "allow": "site.example b.example",
                       "dns": f"127.0.0.1:{names.port}",
                       "except": f"127.0.0.1:{site.port}"},
        }))
        tor = stack.enter_context(StrictTor({place.onion: gate.port}))
        client = stack.enter_context(
            place.client(tor.place, *client_args, zkey=zkey))
        client.url = f"https://site.example:{site.port}/"
        yield client, tor, gate, place
        equal(tor.faults, [])


def fetch(client, url=None, **how):
    code, text, error = client.curl(url or client.url, "--insecure", **how)
    return error if code else text


# --- before anything is asked ------------------------------------------------


def refused(*args, env=None):
    """What `postern client` says when it does not even start."""
    run = subprocess.run([BIN, "client", *map(str, args)], text=True,
                         capture_output=True, timeout=20, check=False,
                         stdin=subprocess.DEVNULL,
                         env=dict(os.environ, **(env or {})))
    equal(run.returncode, 2, run.stderr)
    return run.stderr


def test_the_command_line_is_read_with_care():
    onion, _ = onion_name()
    broken = ("a" if onion[0] != "a" else "b") + onion[1:]
    with folder() as where:
        me = Member(where, "me")
        base = "--identity", me.file, "--state", where / "state"
        for args, words in (
                ((), "--identity FILE"),
                (base, "--gateway ADDRESS.onion"),
                ((*base, "--gateway", broken), "typing mistake"),
                ((*base, "--gateway", "example.com"), "v3 onion address"),
                ((*base, "--gateway", onion + ":0"), "a port is 1 to 65535"),
                ((*base, "--gateway", onion, "--gateway", onion + "*2"),
                 "there twice"),
                ((*base, "--gateway", onion, "--tor", "localhost"),
                 "not ADDRESS:PORT"),
                ((*base, "--gateway", onion, "--listen", "0"),
                 "not HOST:PORT or unix:PATH"),
                ((*base, "--gateway", onion, "--isolate", "x"),
                 "one of host, connection, none"),
                ((*base, "--gateway", onion, "--audience", "-1"),
                 "not a number"),
                ((*base, "--gateway", onion, "--run"), "run what?"),
                ((*base, "--gateway", onion, "curl"), "one argument too many"),
                (("--status", "--state", where), "does a client run?"),
                (("--env", "--state", where), "does a client run?")):
            text = refused(*args)
            check(words in text, f"{args}: {text}")


def test_a_locked_identity_is_told():
    onion, _ = onion_name()
    with folder() as where:
        postern("identity", "new", "-o", where / "me",
                env={"POSTERN_PASSPHRASE": "right"})
        base = ("--identity", where / "me", "--gateway", onion, "--state",
                where / "state")
        text = refused(*base, env={"POSTERN_PASSPHRASE": "wrong"})
        check("wrong passphrase" in text, text)
        text = refused(*base)
        check("POSTERN_PASSPHRASE" in text or "passphrase" in text, text)
        os.chmod(where / "me", 0o644)
        check("chmod 600" in refused(*base), "open to others")


def test_the_state_is_for_its_owner_alone():
    onion, _ = onion_name()
    with folder() as where:
        me = Member(where, "me")
        state = where / "state"
        state.mkdir(mode=0o755)
        base = ("--identity", me.file, "--gateway", onion, "--state", state)
        check("chmod 700" in refused(*base), "the folder")
        state.chmod(0o700)
        (state / "token").write_text("short")
        (state / "token").chmod(0o600)
        check("a token is 8 to 128" in refused(*base), "the token")
        (state / "token").write_text("long-enough-a-token")
        (state / "token").chmod(0o640)
        check("chmod 600" in refused(*base), "its mode")


# --- on the way ------------------------------------------------------------------


def test_no_tor():
    with contextlib.ExitStack() as stack:
        place = Place(stack)
        client = stack.enter_context(
            place.client(f"127.0.0.1:{free_port()}"))
        check("--tor" in client.wait_trouble("no_tor")["cure"], client.log())
        code, text, _ = client.curl("https://site.example/", "-D", "-")
        check(code == 56 and "HTTP/1.1 503 " in text, text)
        equal(client.curl("https://site.example/", socks=True)[0], 97)
        equal(client.run("true", code=2), "")


def test_something_else_at_the_socks_port():
    with contextlib.ExitStack() as stack:
        place = Place(stack)
        http = stack.enter_context(liar(b"x"))
        client = stack.enter_context(place.client(f"127.0.0.1:{http.port}"))
        # It waits for a head: so does the client, for a while.
        greeting = stack.enter_context(Server(
            lambda s: (s.recv(3), s.sendall(b"220 smtp ready\r\n"))))
        other = stack.enter_context(
            place.client(f"127.0.0.1:{greeting.port}"))
        check("--tor" in other.wait_trouble("not_tor")["cure"], other.log())
        trouble = client.wait_trouble("not_tor", 20)
        check("it does not answer" in trouble["problem"], trouble)


def test_an_onion_that_is_not_there():
    with contextlib.ExitStack() as stack:
        place = Place(stack)
        tor = stack.enter_context(StrictTor({}, fail=1000, code=0xf0))
        client = stack.enter_context(place.client(tor.place))
        trouble = client.wait_trouble("onion_unreachable")
        check("no such onion service" in trouble["problem"], trouble)


def test_a_service_that_is_no_gateway():
    for body, how in ((b"<html>", {}), (b"{}", {}), (b"x", {"code": 500}),
                      (b"x", {"kind": "HTTP/1.0"}),
                      (document(scope="1"), {})):
        with with_liar(body, **how) as client:
            client.wait_trouble("not_gateway")
    with with_liar(b"x", code=404) as client:
        client.wait_trouble("not_described")


def test_a_clock_that_is_off_by_a_day():
    for days in -1, 1, 300:
        epoch = today() + days
        with with_liar(document(epoch=epoch, scope=str(epoch))) as client:
            trouble = client.wait_trouble("clock")
            check(str(epoch) in trouble["problem"], trouble)
            check("set the clock" in trouble["cure"], trouble)


def test_a_gateway_that_wants_another_gateways_proofs():
    _, message = onion_name()
    body = document(message=str(message), any_message=False)
    with with_liar(body) as client:
        client.wait_trouble("audience")
    with with_liar(body, "--audience", str(message)) as client:
        client.wait_trouble("no_members")  # one step further


def test_two_gateways_that_see_the_same_nullifier():
    for realms, warned in ((("", ""), True), (("a", "b"), False)):
        with contextlib.ExitStack() as stack:
            place = Place(stack)
            other, _ = onion_name()
            leads = {}
            for onion, realm in zip((place.onion, other), realms):
                extra = {"realm": realm, "scope": scope_of(realm)} \
                    if realm else {}
                leads[onion] = stack.enter_context(
                    liar(document(**extra))).port
            tor = stack.enter_context(StrictTor(leads))
            client = stack.enter_context(PosternClient(
                place.where, place.members[0].file, [place.onion, other],
                tor.place))
            for gateway in 0, 1:
                client.wait_trouble("no_members", gateway=gateway)
            equal("see the same nullifiers" in client.log(), warned)


def test_what_hides_badly_is_told():
    """Few members, and epochs that last longer than a day."""
    with with_gate() as (client, *_):
        client.wait_ready()
        check("has 5 members: so few" in client.log(), client.log())
        check(" hours" not in client.log(), client.log())
        equal(client.log().count("so few"), 1)
    day = 86400
    epoch = int(time.time()) // (3 * day)
    with with_liar(document(epoch=epoch, epoch_length=3 * day,
                            scope=str(epoch))) as client:
        client.wait_trouble("no_members")
        equal(client.log().count("same nullifier for 72 hours"), 1)
        check("so few" not in client.log(), client.log())


def test_member_lists():
    with with_liar(document()) as client:
        check("--members" in client.wait_trouble("no_members")["cure"],
              client.log())
    with folder() as where:
        members = where / "members"
        with with_liar(document(), "--members", members) as client:
            trouble = client.wait_trouble("members_unreadable")
            check("No such file" in trouble["problem"], trouble)
        members.write_text("5\nx\n")
        with with_liar(document(), "--members", members) as client:
            trouble = client.wait_trouble("members_unreadable")
            check("line 2" in trouble["problem"], trouble)
        members.write_text("5\n")
        with with_liar(document(), "--members", members) as client:
            check("curator" in client.wait_trouble("not_member")["cure"],
                  client.log())
    with contextlib.ExitStack() as stack:
        place = Place(stack)
        server = stack.enter_context(liar(document()))
        tor = stack.enter_context(StrictTor({place.onion: server.port}))
        client = stack.enter_context(place.client(
            tor.place, "--members", place.members.file))
        client.wait_trouble("members_old")


def test_a_member_list_at_a_url():
    """It comes over TLS, through tor, on a circuit of its own."""
    with contextlib.ExitStack() as stack:
        place = Place(stack)
        root = json.loads(postern("group", "root", "--json",
                                  place.members.file))
        facts = document(roots=[{"root": root["root"], "depth": root["depth"],
                                 "group": "main", "current": True}])
        lists = stack.enter_context(TlsSite(
            place.where, ["lists.example"], place.members.file.read_bytes()))
        gate = stack.enter_context(liar(facts))
        tor = stack.enter_context(StrictTor(
            {place.onion: gate.port, "lists.example": lists.port}))
        url = ("--members", f"https://lists.example:{lists.port}/members")
        # Whatever the environment says of proxies: that way would tell the
        # curator, and a resolver, who asks.
        around = {"NO_PROXY": "*", "no_proxy": "*", "ALL_PROXY":
                  "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1"}
        client = stack.enter_context(place.client(
            tor.place, *url, "--cacert", lists.cert, env=around))
        client.wait_ready()
        users = [(user, name) for user, name, _ in tor.users]
        equal([name for _, name in users], [place.onion, "lists.example"])
        check(users[0][0] != users[1][0], users)
        other = stack.enter_context(place.client(tor.place, *url))
        trouble = other.wait_trouble("members_unreadable")
        check("certificate" in trouble["problem"], trouble)


def test_a_missing_proving_key():
    with with_gate(zkey="/nowhere/key") as (client, *_):
        trouble = client.wait_trouble("no_proof")
        check("postern artifacts" in trouble["cure"], trouble)
        check("no proving key for depth 3" in client.log(), client.log())


# --- what it does about it ---------------------------------------------------------


def test_the_first_circuits_fail():
    with with_gate() as (client, tor, _, _):
        client.wait_ready()
        equal(fetch(client).strip(), PAGE)
        tor.fail = 2
        tor.users.clear()
        equal(fetch(client).strip(), PAGE)
        users = [user for user, *_ in tor.users]
        equal((len(users), len(set(users))), (3, 3), "a fresh circuit each")
        tor.fail = 3  # as often as it tries
        code, text, _ = client.curl(client.url, "-D", "-")
        check(code == 56 and "HTTP/1.1 504 " in text, text)


def test_isolation():
    for words, same, other in (("host", 1, 2), ("connection", 2, 3),
                               ("none", 1, 1)):
        with with_gate(client_args=("--isolate", words)) as (
                client, tor, _, _):
            client.wait_ready()
            tor.users.clear()
            fetch(client)
            fetch(client)
            equal(len({user for user, *_ in tor.users}), same, words)
            fetch(client, client.url.replace("site", "b"))
            equal(len({user for user, *_ in tor.users}), other, words)
            check(all("example" not in user for user, *_ in tor.users))


def test_what_the_gateway_says_of_the_destination():
    with with_gate() as (client, *_):
        client.wait_ready()
        for url, code, reply, words in (
                ("https://elsewhere.example/", 403, 2, "not allowed"),
                ("https://site.example:1/", 403, 2, "port not allowed"),
                ("https://[2001:db8::1]/", 403, 2, "not allowed")):
            exit_code, text, _ = client.curl(url, "-D", "-")
            check(exit_code == 56 and f"HTTP/1.1 {code} " in text, text)
            exit_code, _, error = client.curl(url, socks=True)
            check(exit_code == 97 and f"({reply})" in error, error)
            check(words in client.log(), client.log())
        check("elsewhere" not in client.log(), client.log())


def test_a_gateway_steers_no_terminal():
    """What a gateway says goes to the member's terminal as words alone."""
    with with_gate() as (client, tor, _, place), contextlib.ExitStack() as stack:
        client.wait_ready()
        said = "\x1b]0;title\x07\x1b[2J\x9b1m\u202eno\npostern client: \xfc"
        body = json.dumps({"error": "target_denied", "detail": said}).encode()
        evil = stack.enter_context(liar(body, 403))
        tor.leads[place.onion] = evil.port
        _, text, _ = client.curl("https://site.example/", "-D", "-")
        check("HTTP/1.1 403 " in text, text)
        wait_until(lambda: "refused: " in client.log())
        last = client.log_file.read_bytes().split(b"refused: ")[1]
        words, rest = last.split(b"\n", 1)
        check(words.startswith(b"?]0;title??[2J??1m???no?postern client: ??"),
              words)
        equal(rest, b"")


def test_requests_that_are_none():
    with with_gate() as (client, *_):
        client.wait_ready()
        for data, answer in (
                (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 407 "),
                (b"CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 400 "),
                (b"\x16\x03\x01\r\n", b"HTTP/1.1 400 "),
                (b"\4\1\0\120\1\2\3\4\0", b"HTTP/1.1 400 "),
                (b"\5\1\0", b"\5\xff"),
                (b"A" * 9000, b"HTTP/1.1 431 ")):
            with socket.create_connection(("127.0.0.1", client.port), 10) as s:
                s.sendall(data)
                got = s.recv(4096)
                check(got.startswith(answer), f"{data[:20]}: {got}")
        code, _, error = client.curl("http://site.example/")
        check(code in (0, 22), error)  # told, and nothing leaks
        # Slowly, and with the first bytes of the tunnel behind the head.
        variables = client.variables()
        login = variables["http_proxy"].split("//")[1].split("@")[0]
        head = ("CONNECT site.example:1 HTTP/1.0\r\nProxy-Authorization: "
                f"Basic {base64.b64encode(login.encode()).decode()}\r\n\r\n")
        with socket.create_connection(("127.0.0.1", client.port), 30) as s:
            for byte in head.encode():
                s.sendall(bytes([byte]))
            check(s.recv(100).startswith(b"HTTP/1.1 403 "), client.log())


def test_the_former_root_serves_while_the_gateway_takes_it():
    with with_gate() as (client, _, gate, place):
        client.wait_ready()
        kept = (client.state / "proofs").read_text()
        postern("group", "add", place.members.file,
                Member(place.where, "new").commitment)
        wait_until(lambda: gate.metric("postern_group_members",
                                       group="main") == 6, 20, "the new root")
        equal(fetch(client).strip(), PAGE)
        equal((client.state / "proofs").read_text(), kept)


def over_the_turn(least):
    """See the turn of an epoch that ends in LEAST seconds or more. False: this
    machine was too slow for that."""
    *_, length, left = Vectors().turn(least)
    ends = time.time() + left
    with with_gate(gateway={"epoch": f"{length}s"}) as (client, _, gate, _):
        client.wait_ready()

        def proofs():
            text = (client.state / "proofs").read_text()
            return len(json.loads(text)["proofs"])
        wait_until(lambda: proofs() == 2 or time.time() > ends, 120, "proofs")
        before = client.status()["gateways"][0]
        equal(fetch(client).strip(), PAGE)
        if time.time() > ends:
            return False
        equal(proofs(), 2, "one for this epoch and one for the next")
        time.sleep(max(0, ends - time.time()) + 1)
        equal(fetch(client).strip(), PAGE)
        after = client.status()["gateways"][0]
        equal(after["epoch"], before["epoch"] + 1)
        # A fresh nullifier, with all of its quota.
        equal(after["quotas"], [{"slot": 0, "requests_left": 49}])
        # Neither was refused and made again.
        equal(gate.metric("postern_proofs_total", result="verified"), 2)
    return True


def test_the_next_epoch_is_proved_before_it_begins():
    check(any(over_the_turn(least) for least in (6, 30, 90)), "too slow")


def test_much_at_once():
    page = os.urandom(3 << 20)
    with with_gate(page=page) as (client, *_):
        client.wait_ready()
        got = []

        def one(socks):
            variables = client.variables()
            run = subprocess.run(
                ["curl", "-sSk", "--max-time", "60", "-x",
                 variables["all_proxy" if socks else "https_proxy"],
                 client.url], capture_output=True, timeout=70, check=False)
            got.append(run.stdout == page)
        threads = [threading.Thread(target=one, args=(i % 2 == 0,))
                   for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(got, [True] * 12)
        wait_until(lambda: client.status()["tunnels"] == 0, 10, "all closed")


def test_a_terminal_sees_the_progress():
    with with_gate(members=8) as (client, *_):
        client.wait_ready()
        client.stop()
        check("making the proof" not in client.log(), "not for a file")
        (client.state / "proofs").unlink()
        ours, theirs = os.openpty()
        again = subprocess.Popen(client.command + ["--listen", "127.0.0.1:0"],
                                 stderr=theirs, stdin=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):
            while b"ready: " not in text:
                text += os.read(ours, 4096)
        again.terminate()
        equal(again.wait(20), 0)
        os.close(ours)
        for words in (b"through tor", b"reading the member list",
                      b"making the proof", b"made the proof"):
            check(words in text, text)
        # Each takes the place of the one before.
        check(b"\r\x1b[K" in text and b"\n" not in
              text[:text.index(b"ready: ")], text)


def test_the_end_takes_its_files_along():
    with with_gate() as (client, *_):
        client.wait_ready()
        equal(client.stop(), 0)
        equal(sorted(p.name for p in client.state.iterdir()),
              ["proofs", "token"])


if __name__ == "__main__":
    main(globals())
