#!/usr/bin/env python3
"""`postern client` through a real tor and two gateways: curl, git, Python, a
browser; slots, roots, quotas, failure of a gateway."""

import contextlib
import base64
import hashlib
import http.server
import os
import socket
import ssl
import subprocess
import threading

from clientlib import PosternClient
from lib import (Client, Gateway, Member, Members, NameServer, certificate,
                 check, equal, folder, free_port, main, onion_name, postern,
                 wait_until)
from torlib import TorNet

QUOTA = 40
PAGE = "hello from outside"
SLOTS = 4


class Site:
    """An HTTPS site of files on loopback: a page and a git repository."""

    def __init__(self, where, *names):
        self.root = where / "site"
        self.root.mkdir()
        (self.root / "index.html").write_text(
            f"<html><title>t</title><body><p id=p>{PAGE}</p>"
            "<script>document.title = 'run';"
            "document.getElementById('p').dataset.seen = location.host;"
            "</script></body></html>\n")
        self.cert, key = certificate(where, *names)
        root = self.root

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __init__(self, *args):
                super().__init__(*args, directory=str(root))

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.server.daemon_threads = True
        # Not in accept: a handshake is the connection's own business.
        self.server.socket = context.wrap_socket(
            self.server.socket, server_side=True,
            do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,),
                         daemon=True).start()

    def add_repository(self, where):
        env = dict(os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@a",
                   GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@a",
                   GIT_CONFIG_GLOBAL="/dev/null")
        work, bare = where / "work", self.root / "repo.git"
        for command in (["init", "-q", "-b", "main", work],
                        ["-C", work, "commit", "-q", "--allow-empty", "-m",
                         "the first"],
                        ["clone", "-q", "--bare", work, bare],
                        ["-C", bare, "update-server-info"]):
            subprocess.run(["git", *map(str, command)], check=True, env=env)

    def spki(self):
        """The SHA-256 of its public key, as Chromium wants it."""
        pem = subprocess.run(
            ["openssl", "x509", "-in", self.cert, "-pubkey", "-noout"],
            check=True, capture_output=True).stdout
        der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"],
                             input=pem, check=True,
                             capture_output=True).stdout
        return base64.b64encode(hashlib.sha256(der).digest()).decode()


class World:
    """One network for all tests here."""

    NAMES = ["site.example"] + [f"s{i}.example" for i in range(6)]

    def __init__(self, stack):
        self.where = stack.enter_context(folder())
        self.site = Site(self.where, *self.NAMES)
        self.site.add_repository(self.where)
        self.names = stack.enter_context(
            NameServer({name: ["127.0.0.1"] for name in self.NAMES}))
        ports = free_port(), free_port()
        second = self.where / "hs2"
        self.net = stack.enter_context(TorNet(ports[0], onion_extra=(
            f"HiddenServiceDir {second}\n"
            f"HiddenServicePort 80 127.0.0.1:{ports[1]}\n"
            "HiddenServiceExportCircuitID haproxy")))
        self.onions = [self.net.onion, (second / "hostname").read_text().strip()]
        self.members = Members(self.where, size=8, secrets=3)
        self.gates = []
        for i, (port, hostname) in enumerate(
                zip(ports, [self.net.hostname_file, second / "hostname"])):
            home = self.where / f"gate{i}"
            home.mkdir()
            gateway = {"listen": f"127.0.0.1:{port}", "proxy_line": "required",
                       "onion": hostname, "publish_members": "on",
                       "root_lifetime": "0s"}
            if i == 1:
                gateway.update(slots=SLOTS, realm="second")
            self.gates.append(stack.enter_context(Gateway(home, {
                "gateway": gateway,
                "group main": {"members": self.members.file,
                               "requests": QUOTA},
                "egress": {"ports": self.site.port,
                           "allow": " ".join(self.NAMES),
                           "dns": f"127.0.0.1:{self.names.port}",
                           "except": f"127.0.0.1:{self.site.port}"},
            })))

    def url(self, name="site.example", path=""):
        return f"https://{name}:{self.site.port}/{path}"

    def client(self, member, *args, gateways=None, **how):
        return PosternClient(self.where, self.members[member].file,
                             gateways or self.onions[0], self.net.socks, *args,
                             **how)


def fetch(client, name="site.example", **how):
    code, text, error = client.curl(world.url(name), "--cacert",
                                    world.site.cert, **how)
    return error if code else text


def test_curl_by_connect_and_by_socks():
    with world.client(0) as client:
        client.wait_ready()
        check(PAGE in fetch(client), client.log())
        check(PAGE in fetch(client, socks=True), client.log())
        status = client.status()
        equal((status["requests"], status["opened"], status["refused"]),
              (2, 2, 0))
        gateway, = status["gateways"]
        equal(gateway["quotas"], [{"slot": 0, "requests_left": QUOTA - 2}])
        equal((gateway["state"], gateway["proofs"]), ("up", 1))
        equal(status["circuits"]["count"], 1)
        words = postern("client", "--status", "--state", client.state)
        check(f"{QUOTA - 2} requests left" in words, words)
        check("site.example" not in client.log(), client.log())
        equal(os.stat(client.state / "proofs").st_mode & 0o777, 0o600)


def test_a_wrong_token_is_refused():
    with world.client(0) as client:
        client.wait_ready()
        proxy = client.variables()["https_proxy"]
        login, at, place = proxy.rpartition("@")
        before = world.gates[0].metric("postern_connections_total")
        check(before > 0, "no such metric")
        for bad in (f"http://{place}", f"{login}x{at}{place}",
                    f"http://postern:@{place}", f"socks5h://{place}",
                    f"socks5h://postern:wrong@{place}"):
            code, _, error = client.curl(world.url(), proxy=bad)
            check(code in (56, 97), f"{code}: {error}")
        equal(client.status()["requests"], 0)
        equal(world.gates[0].metric("postern_connections_total"), before)


def test_git_clones():
    with world.client(0) as client:
        to = world.where / "clone"
        client.run("git", "clone", "-q", world.url(path="repo.git"), to,
                   env={"GIT_CONFIG_GLOBAL": "/dev/null",
                        "GIT_SSL_CAINFO": str(world.site.cert)})
        log = subprocess.run(["git", "-C", to, "log", "--format=%s"],
                             check=True, capture_output=True, text=True)
        equal(log.stdout, "the first\n")


def test_a_browser_loads_a_page():
    """Chromium knows no password for a proxy on its command line; it comes in
    as a program of the same user."""
    with world.client(0, "--same-user") as client, folder() as profile:
        client.wait_ready()
        run = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-quic", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-component-update",
             f"--user-data-dir={profile}",
             f"--proxy-server=http://127.0.0.1:{client.port}",
             f"--ignore-certificate-errors-spki-list={world.site.spki()}",
             "--timeout=60000", "--dump-dom", world.url("s0.example")],
            capture_output=True, text=True, timeout=90, check=False)
        check(PAGE in run.stdout, run.stdout + run.stderr[-2000:])
        # The script ran, and in the page of that address.
        check(f'data-seen="s0.example:{world.site.port}"' in run.stdout,
              run.stdout)


def test_run_gives_a_program_its_way_and_no_secret():
    program = (
        "import os, ssl, urllib.request as u\n"
        f"c = ssl.create_default_context(cafile={str(world.site.cert)!r})\n"
        f"print(u.urlopen({world.url('s1.example')!r}, context=c).read())\n"
        "print(sorted(k for k in os.environ if k.startswith('POSTERN')))\n"
        "print(os.environ['no_proxy'], os.listdir('/proc/self/fd'))\n"
        "raise SystemExit(7)\n")
    client = world.client(0)
    text = client.run("python3", "-c", program, code=7,
                      env={"POSTERN_PASSPHRASE": "secret",
                           "no_proxy": "site.example"})
    lines = text.splitlines()
    check(PAGE in lines[0], text)
    equal(lines[1], "[]")
    equal(lines[2], " ['0', '1', '2', '3']")  # 3: the folder itself


def test_a_unix_socket_needs_no_token():
    path = world.where / "proxy"
    with world.client(0, "--listen", f"unix:{path}") as client:
        client.wait_ready()
        equal(os.stat(path).st_mode & 0o777, 0o600)
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(str(path))
            target = f"site.example:{world.site.port}"
            s.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n"
                      .encode())
            check(s.recv(100).startswith(b"HTTP/1.1 200 "), client.log())


def test_proofs_are_kept_for_the_epoch():
    with world.client(1) as client:
        client.wait_ready()
        check(PAGE in fetch(client), client.log())
        kept = (client.state / "proofs").read_text()
        equal(client.stop(), 0)
        # Without a proving key: nothing has to be made.
        client.command[client.command.index("--zkey") + 1] = "/nowhere"
        client.start().wait_ready()
        check(PAGE in fetch(client), client.log())
        equal((client.state / "proofs").read_text(), kept)


def current_members():
    """How many the first gateway knows, asked as its tor would."""
    gate = world.gates[0]
    port = int(gate.config["gateway"]["listen"].rpartition(":")[2])
    with Client(port) as c:
        c.send("PROXY TCP6 fc00:dead:beef:4dad::0:99 ::1 1 80\r\n")
        roots = c.get("/.well-known/postern").json()["roots"]
    return next(r["members"] for r in roots if r["current"])


def test_a_root_that_moves_and_a_member_that_goes():
    """The gateway takes the former root no longer at all."""
    with world.client(1) as client:
        client.wait_ready()
        check(PAGE in fetch(client), client.log())
        kept = (client.state / "proofs").read_text()
        newcomer = Member(world.where, "newcomer")
        postern("group", "add", world.members.file, newcomer.commitment)
        wait_until(lambda: current_members() == 9, 20, "a member more")
        # One connection finds out, gets the list, makes a proof and is there.
        check(PAGE in fetch(client), client.log())
        check((client.state / "proofs").read_text() != kept, "the old proof")

        postern("group", "remove", world.members.file,
                world.members[1].commitment)
        wait_until(lambda: current_members() == 8, 20, "a member less")
        code, text, _ = client.curl(world.url(), "--dump-header", "-")
        check(code == 56 and "HTTP/1.1 403 " in text, text)
        gone = client.wait_trouble("not_member")
        check("curator" in gone["cure"], gone)
    with world.client(2) as client:
        client.wait_ready()
        check(PAGE in fetch(client), client.log())


def test_slots_part_the_sites():
    with world.client(0, gateways=world.onions[1]) as client:
        client.wait_ready()
        names = World.NAMES[1:]
        for name in names:
            check(PAGE in fetch(client, name), client.log())
        gateway, = client.status()["gateways"]
        equal((gateway["slots"], gateway["proofs"]), (SLOTS, SLOTS))
        used = {q["slot"]: QUOTA - q["requests_left"]
                for q in gateway["quotas"]}
        equal(sum(used.values()), len(names), f"requests by slot {used}")
        check(len(used) > 1, f"one slot for {len(names)} sites")
        # The same site meets the same slot again.
        check(PAGE in fetch(client, names[0]), client.log())
        again = {q["slot"]: QUOTA - q["requests_left"]
                 for q in client.status()["gateways"][0]["quotas"]}
        equal(set(again), set(used))
        equal(client.status()["circuits"]["count"], len(names))


def test_the_quota_is_told():
    with world.client(0) as client:
        client.wait_ready()
        for _ in range(QUOTA + 1):
            code, text, _ = client.curl(world.url(), "--cacert",
                                        world.site.cert, "--dump-header", "-")
            if code:
                break
        check("HTTP/1.1 429 " in text and "Retry-After: " in text, text)
        equal(client.status()["gateways"][0]["quotas"],
              [{"slot": 0, "requests_left": 0}])
        check("all requests of this epoch are used" in client.log(),
              client.log())
        code, _, error = client.curl(world.url(), socks=True)
        equal(code, 97, error)


def test_with_two_gateways_one_may_fail():
    heavy = [f"{world.onions[0]}*1000", world.onions[1]]
    with world.client(0, gateways=heavy) as client:
        client.wait_ready()
        # The first has no quota left for this member: the second has.
        check(PAGE in fetch(client), client.log())
        world.gates[0].stop()
        check(PAGE in fetch(client, "s5.example"), client.log())
        first, second = client.status()["gateways"]
        equal(second["state"], "up")
        check(first["state"] in ("down", "trouble", "up"), first)


def test_a_wrong_onion_is_told():
    der = subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519",
                          "-outform", "der"], check=True, capture_output=True)
    der = subprocess.run(["openssl", "pkey", "-inform", "der", "-pubout",
                          "-outform", "der"], input=der.stdout, check=True,
                         capture_output=True)
    name, _ = onion_name(der.stdout[-32:])
    with world.client(0, gateways=name) as client:
        trouble = client.wait_trouble("onion_unreachable", 90)
        check("check the address" in trouble["cure"], trouble)


if __name__ == "__main__":
    with contextlib.ExitStack() as everything:
        world = World(everything)
        main(globals())
