#!/usr/bin/env python3
"""postern group follow: member lists by https with signatures, and a group of
the official Semaphore contract on a local chain; and the gateway that reads
what it writes."""

import contextlib
import http.server
import json
import os
import shutil
import ssl
import subprocess
import threading
import time
import urllib.request

from lib import (BIN, TOP, Gateway, Members, Vectors, certificate, check, echo,
                 equal, folder, main, official_proofs, postern, Server, today,
                 token_of, wait_until)

V = Vectors()


class Https:
    """An HTTPS server; ANSWER(method, path, fields, body) gives (code, fields,
    body)."""

    def __init__(self, where, answer):
        outer = self
        self.requests = []
        where.mkdir(exist_ok=True)
        self.cert, key = certificate(where, "127.0.0.1")

        class Handler(http.server.BaseHTTPRequestHandler):
            def serve(self):
                length = int(self.headers.get("content-length", 0))
                body = self.rfile.read(length)
                code, fields, data = answer(
                    self.command, self.path, self.headers, body)
                outer.requests.append((self.path, code))
                self.send_response(code)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = serve

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.server.socket = context.wrap_socket(
            self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,),
                         daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def follow(*args, code=0):
    """postern group follow; what it says."""
    run = subprocess.run([BIN, "group", "follow", *map(str, args)], text=True,
                         capture_output=True, timeout=60, check=False)
    equal(run.returncode, code, run.stderr)
    return run.stderr


class Following:
    """postern group follow as long as it lives."""

    def __init__(self, *args):
        self.process = subprocess.Popen(
            [BIN, "group", "follow", "--every", "1", *map(str, args)],
            stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


# --- lists --------------------------------------------------------------------


class List:
    """A member list on a server, as a curator keeps it."""

    def __init__(self, where):
        self.where = where
        self.files, self.key = {}, where / "curator.pub"
        self.secret = where / "curator.key"
        self.keygen(self.secret, self.key)
        self.server = Https(where / "www", self.answer)
        self.url = f"{self.server.url}/members"
        self.out = where / "members"
        self.common = ["-o", self.out, "--cacert", self.server.cert]

    @staticmethod
    def keygen(secret, public):
        subprocess.run(["minisign", "-G", "-W", "-f", "-s", secret, "-p",
                        public], check=True, capture_output=True)

    def answer(self, _method, path, fields, _body):
        data = self.files.get(path)
        if data is None:
            return 404, {}, b""
        tag = f'"{hash(data) & 0xffffffff:x}"'
        if fields.get("if-none-match") == tag:
            return 304, {"ETag": tag}, b""
        return 200, {"ETag": tag}, data

    def put(self, members, stamp, secret=None, legacy=False, head=""):
        """Publish MEMBERS behind HEAD, signed at STAMP."""
        text = (head + "".join(f"{m}\n" for m in members)).encode()
        draft = self.where / "draft"
        draft.write_bytes(text)
        subprocess.run(["minisign", "-S", *(["-l"] if legacy else []), "-s",
                        secret or self.secret, "-m", draft, "-x",
                        f"{draft}.sig", "-t", f"timestamp:{stamp}"],
                       check=True, capture_output=True)
        self.files["/members"] = text
        self.files["/members.minisig"] = (
            self.where / "draft.sig").read_bytes()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.__exit__()


def listed(path):
    return [line for line in path.read_text().splitlines()
            if not line.startswith("#")]


def test_a_list():
    with folder() as where, List(where) as site:
        site.put(V.members, 1)
        once = [*site.common, "--once", site.url]
        check("8 members" in follow(*once))
        equal(listed(site.out), V.members)
        equal(postern("group", "root", site.out).split()[3], "3")
        # The same once more: no word, and the file is as it was.
        before = site.out.stat().st_mtime_ns
        equal(follow(*once), "")
        equal(site.out.stat().st_mtime_ns, before)
        # A list that is wrong, or empty, or not there.
        for text, why in ((b"12\n0\n", "line 2: zero"), (b"# none\n", "nobody"),
                          (b"<html>", "line 1"), (None, "answers 404")):
            site.files["/members"] = text
            said = follow(*once, code=2)
            check(why in said, said)
            check("stays as it is" in said, said)
            equal(listed(site.out), V.members)


def test_only_what_changed_is_sent():
    with folder() as where, List(where) as site:
        site.put(V.members, 1)
        with Following(*site.common, site.url):
            wait_until(lambda: ("/members", 304) in site.server.requests)
            site.put(V.members[:5], 2)
            wait_until(lambda: listed(site.out) == V.members[:5])
            # Somebody deletes the file: it comes again.
            site.out.unlink()
            wait_until(lambda: site.out.exists() and
                       listed(site.out) == V.members[:5])


def test_a_list_with_a_head_of_its_own():
    """A follower's file that is published anew: the time in it is not ours."""
    heads = ("# signed 5\n", "# postern group follow https://x/\n# signed 5\n",
             "# signed 9223372036854775807\n")
    for head in heads:
        with folder() as where, List(where) as site:
            signed = [*site.common, "--once", "--key", site.key, site.url]
            site.put(V.members, 100, head=head)
            follow(*signed)
            equal(listed(site.out), V.members)
            # It is the same: no word, and nothing is written.
            equal(follow(*signed), "")
            # Older than what is here, though newer than its head says.
            site.put(V.members[:3], 50, head=head)
            said = follow(*signed, code=2)
            check("old one" in said, said)
            site.put(V.members[:4], 101, head=head)
            follow(*signed)
            equal(listed(site.out), V.members[:4])
        with folder() as where, List(where) as site:
            # Without --key such a line counts for nothing later, either.
            plain = [*site.common, "--once", site.url]
            site.put(V.members, 100, head=head)
            follow(*plain)
            equal(follow(*plain), "")
            site.put(V.members[:4], 3)
            follow(*plain[:-1], "--key", site.key, site.url)
            equal(listed(site.out), V.members[:4])


def test_signatures():
    with folder() as where, List(where) as site:
        once = [*site.common, "--once", "--key", site.key, site.url]
        site.put(V.members, 100)
        follow(*once)
        equal(listed(site.out), V.members)
        # The key itself works as well as its file; so does the older kind.
        key = site.key.read_text().splitlines()[1]
        site.put(V.members[:7], 101, legacy=True)
        follow(*site.common, "--once", "--key", key, site.url)
        equal(listed(site.out), V.members[:7])
        good = dict(site.files)

        def refused(why):
            said = follow(*once, code=2)
            check(why in said, said)
            equal(listed(site.out), V.members[:7])

        # A list without the curator.
        site.files["/members"] += b"12345\n"
        refused("not of this list")
        site.files = dict(good)
        site.files["/members.minisig"] = good["/members.minisig"].replace(
            b"timestamp:101", b"timestamp:901")
        refused("not of this list")
        site.files["/members.minisig"] = b"untrusted comment: x\nAAAA\n"
        refused("not a signature")
        del site.files["/members.minisig"]
        refused("answers 404")
        # Another curator.
        site.keygen(where / "other.key", where / "other.pub")
        site.put(V.members[:3], 500, secret=where / "other.key")
        refused("another key")
        # An old list, with its own good signature.
        site.put(V.members, 100)
        refused("old one")
        site.put(V.members, 102)
        follow(*once)
        equal(listed(site.out), V.members)


def test_what_is_refused_at_once():
    key = "RWQDogOTpSo311DaPtXPDjz+QgYwblF18YwRcGzpDSeggno1QOPcvFDA"
    address = "0x" + "1" * 40
    for args, why in (
            (["https://x/"], "--output"),
            (["-o", "f", "http://x/"], "not an https"),
            (["-o", "f", "--key", "nonsense", "https://x/"], "minisign"),
            (["-o", "f", "--key", key[:-4], "https://x/"], "minisign"),
            (["-o", "f", "https://x/", "https://y/"], "one URL"),
            (["-o", "f", "--group", "1", "https://x/"], "need --contract"),
            (["-o", "f", "--signature", "https://y/", "https://x/"], "--key"),
            (["-o", "f", "--contract", address, "https://x/"], "--group"),
            (["-o", "f", "--contract", address[:-1], "--group", "1",
              "https://x/"], "40 hex"),
            (["-o", "f", "--contract", address, "--group", "1", "--agree", "1",
              "https://x/", "https://y/"], "--agree"),
            (["-o", "f", "--every", "0", "https://x/"], "--every"),
    ):
        said = follow(*args, code=2)
        check(why in said, said)


@contextlib.contextmanager
def gateway(where, group, **more):
    with Server(echo) as target, Gateway(where, {
            "gateway": {"root_lifetime": 0, "anonymity_floor": 1, **more},
            "group main": {"requests": 1000, **group},
            "egress": {"ports": target.port, "literals": "on",
                       "except": f"127.0.0.1:{target.port}"}}) as g:
        g.target = f"127.0.0.1:{target.port}"
        yield g


def code(g, token):
    with g.client() as c:
        return c.connect(g.target, token).code


def test_a_gateway_takes_the_list():
    with folder() as where, List(where) as site:
        site.put(V.others, 1)
        with Following(*site.common, "--key", site.key, site.url):
            wait_until(site.out.exists)
            with gateway(where, {"members": site.out}, **V.gateway) as g:
                equal(code(g, V.token("member 0")), 407)
                site.put(V.members, 2)
                wait_until(lambda: code(g, V.token("member 0")) == 200)


# --- a chain ------------------------------------------------------------------


class Chain:
    """tests/js/chain.mjs."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["node", TOP / "tests/js/chain.mjs"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        first = json.loads(self.process.stdout.readline())
        self.rpc = f"http://127.0.0.1:{first['port']}"
        self.contract = first["contract"]

    def do(self, what, **args):
        self.process.stdin.write(json.dumps({"do": what, **args}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, body):
        request = urllib.request.Request(self.rpc, body)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Node(Https):
    """An endpoint of CHAIN's, which may be told to say something else."""

    def __init__(self, where, chain):
        self.chain, self.twist = chain, None
        super().__init__(where, self.relay)

    def relay(self, _method, _path, _fields, body):
        data = self.chain.ask(body)
        if self.twist:
            data = self.twist(json.loads(body), json.loads(data))
            if isinstance(data, dict):
                data = json.dumps(data).encode()
        return 200, {"Content-Type": "application/json"}, data


@contextlib.contextmanager
def chain_of_three(where):
    """A chain, three endpoints, and a file with all their certificates."""
    with Chain() as chain, contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(Node(where / f"node{i}", chain))
                 for i in range(3)]
        bundle = where / "nodes.pem"
        bundle.write_text("".join(n.cert.read_text() for n in nodes))
        yield chain, nodes, bundle


def fields_of(path):
    return dict(line.split(" ", 1) for line in listed(path))


def wrong_root(request, answer):
    """Another root, where the root is asked for."""
    data = request["params"][0].get("data", "") if request["method"] == \
        "eth_call" else ""
    if data.startswith("0xdabc4d51"):  # getMerkleTreeRoot(uint256), by ethers
        answer["result"] = "0x" + "%064x" % 12345
    return answer


def test_a_contract():
    with folder() as where, chain_of_three(where) as (chain, nodes, bundle):
        out = where / "root"
        group = chain.do("create")["group"]
        root = chain.do("add", group=group, members=V.members)["root"]
        block = chain.do("mine", blocks=4)["block"]
        args = ["-o", out, "--cacert", bundle, "--contract", chain.contract,
                "--group", group, "--confirmations", "3"]
        urls = [n.url for n in nodes]
        once = [*args, "--once", *urls]
        said = follow(*once)
        check(f"8 members at block {block - 3}" in said, said)
        got = fields_of(out)
        equal((got["root"], got["depth"], got["size"]), (root, "3", "8"))
        check(abs(int(got["time"]) - time.time()) < 300)
        equal(got["root"],
              postern("group", "root", V.write(where)).split()[1])
        equal(follow(*once), "", "nothing is new")

        # What has not got its confirmations does not count.
        new = chain.do("remove", group=group, member=V.members[7])["root"]
        follow(*once)
        equal(fields_of(out)["root"], root)
        chain.do("mine", blocks=3)

        def refused(why, *more):
            before = out.read_text()
            said = follow(*args, "--once", *more, *urls, code=2)
            check(why in said, said)
            equal(out.read_text(), before)

        # One of three lies: all must agree, unless two are enough.
        nodes[2].twist = wrong_root
        refused("do not agree")
        follow(*args, "--once", "--agree", "2", *urls)
        equal(fields_of(out)["root"], new)
        chain.do("mine", blocks=1)

        # Two of three lie, each in its own way.
        nodes[1].twist = lambda q, a: dict(a, result="0x" + "0" * 63 + "1") \
            if q["method"] == "eth_call" else a
        refused("must agree", "--agree", "2")
        nodes[2].twist = None

        # Answers that are none.
        for twist, why in (
                (lambda q, a: b"nonsense", "not JSON"),
                (lambda q, a: dict(a, id=77), "another question"),
                (lambda q, a: dict(a, error={"code": 1, "message": "no\n"}),
                 "the node answers: no?"),
                (lambda q, a: dict(a, result=None), "malformed"),
                (lambda q, a: dict(a, result="0x"), "malformed"),
                (lambda q, a: dict(a, result="0x" + "f" * 64)
                 if q["method"] == "eth_call" else a, "malformed"),
                (lambda q, a: dict(a, result="0x")
                 if q["method"] == "eth_call" else a, "no Semaphore contract"),
        ):
            nodes[1].twist = twist
            refused(why)
        nodes[1].twist = None
        refused("no Semaphore contract", "--contract", "0x" + "12" * 20)
        refused("no group with this number", "--group", "77")
        refused("too short", "--confirmations", "999999")
        nodes[1].server.shutdown()
        nodes[1].server.server_close()
        refused("2 of 3 endpoints answer")


def test_a_gateway_follows_a_contract():
    with folder() as where, chain_of_three(where) as (chain, nodes, bundle):
        out = where / "root"
        members = Members(where)
        alice, bob = members[0], members[1]
        group = chain.do("create")["group"]
        chain.do("add", group=group, members=members.commitments())
        chain.do("mine", blocks=3)
        args = ["-o", out, "--cacert", bundle, "--contract", chain.contract,
                "--group", group, "--confirmations", "2",
                *(n.url for n in nodes)]
        tokens = [token_of(p) for p in official_proofs(
            members, [(m, today(), 1) for m in (alice, bob)])]
        with Following(*args):
            wait_until(out.exists)
            with gateway(where, {"root": out}, audience=1) as g:
                equal([code(g, t) for t in tokens], [200, 200])
                with g.client() as c:
                    equal(c.get("/.well-known/postern/members").code, 404)
                chain.do("remove", group=group, member=bob.commitment)
                chain.do("mine", blocks=2)
                wait_until(lambda: code(g, tokens[1]) == 407)
                again = token_of(chain.do(
                    "prove", group=group, identity=alice.export,
                    scope=str(today()), message="1"))
                equal(code(g, again), 200)
                equal([code(g, t) for t in tokens], [407, 407])
                equal(g.log().count("members_loaded"), 2,
                      "a later time alone is no news")


def test_a_root_grows_old():
    """Nobody passes by a root that is older than max_age, whatever happens."""
    with folder() as where:
        out = where / "root"
        list_of = V.write(where)
        shown = postern("group", "root", list_of).split()

        def write(stamp):
            draft = where / "draft"
            draft.write_text(f"root {shown[1]}\ndepth 3\nsize 8\n"
                             f"time {int(stamp)}\n")
            os.chmod(draft, 0o644)
            draft.rename(out)

        write(time.time() - 57)
        group = {"root": out, "max_age": "1m"}
        with gateway(where, group, **V.gateway) as g:
            token = V.token("member 0")
            equal(code(g, token), 200)
            wait_until(lambda: code(g, token) == 407, 20, "too old")
            equal(g.http("/readyz")[0], 503)
            check("group.max_age" in g.log(), "says why")
            write(time.time() + 3600)
            wait_until(lambda: g.log().count("group.max_age") > 1)
            equal(code(g, token), 407, "from the future")
            write(time.time())
            wait_until(lambda: code(g, token) == 200, 20, "new again")
            out.write_text("root 1\n")
            wait_until(lambda: "members_broken" in g.log())
            equal(code(g, token), 200, "the last good root stays")


def test_configuration():
    with folder() as where:
        conf = where / "conf"
        for text, why in (
                ("members = m\nroot = r", "both members and root"),
                ("members = https://x/", "postern group follow"),
                ("requests = 1", "has no members"),
                ("members = m\nmax_age = 1h", "max_age is for root"),
        ):
            conf.write_text(f"[gateway]\naudience = any\n[group a]\n{text}\n")
            run = subprocess.run([BIN, "check", "-c", conf], text=True,
                                 capture_output=True, check=False)
            check(why in run.stdout + run.stderr, run.stdout + run.stderr)


if __name__ == "__main__":
    if not shutil.which("minisign"):
        raise SystemExit("needs minisign (apt-get install minisign)")
    main(globals())
