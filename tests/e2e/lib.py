"""Parts of the end-to-end tests: a gateway process and all that is around it.

A test program is a Python file of functions named test_...; it ends with
`main(globals())`, prints "ok" and "FAIL" lines and a last line
"N passed, N failed". Everything is on loopback.
"""

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
BIN = os.environ.get("POSTERN_BIN", str(TOP / "build" / "postern"))
# A build with a sanitizer has no walls that would be in its way.
WALLS = not re.search("-(address|undefined|thread|memory)", str(BIN))

# --- running tests ------------------------------------------------------------


def main(names):
    """Run the test_ functions of a module (or those named as arguments)."""
    passed = failed = 0
    for name, test in list(names.items()):
        if not name.startswith("test_") or not callable(test):
            continue
        if len(sys.argv) > 1 and not any(a in name for a in sys.argv[1:]):
            continue
        start = time.monotonic()
        try:
            test()
            passed += 1
            word = "ok  "
        except Exception:  # a test fails in any way it likes
            traceback.print_exc(file=sys.stdout)
            failed += 1
            word = "FAIL"
        print(f"{word} {name[5:].replace('_', ' ')} "
              f"({time.monotonic() - start:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(0 if passed and not failed else 1)


def check(condition, what=""):
    if not condition:
        raise AssertionError(what)


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


def wait_until(condition, seconds=10, what="a condition"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {seconds} s")


# Below the ports that the kernel gives to clients (from 32768 on), which may be
# taken before the server is there, and above those of tornet.
PORTS = range(22000, 32000)


def free_port():
    """A port for a server to be, and nobody else's: all tests of this machine
    that run at a time take theirs in turn, from one counter in a file."""
    counter = pathlib.Path(tempfile.gettempdir(),
                           f"postern-test-port-{os.getuid()}")
    with open(counter, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        port = int(file.read() or random.choice(PORTS))
        for _ in PORTS:
            port = port + 1 if port + 1 in PORTS else PORTS[0]
            with contextlib.suppress(OSError), socket.socket() as s:
                s.bind(("127.0.0.1", port))
                file.truncate(0)
                file.write(b"%d" % port)
                return port
    raise AssertionError("no port is free")


@contextlib.contextmanager
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="postern-test-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def postern(*args, stdin=None, env=None, code=0):
    """Run a command of postern; its standard output."""
    run = subprocess.run([BIN, *map(str, args)], input=stdin, text=True,
                         capture_output=True, timeout=120, check=False,
                         env=dict(os.environ, **(env or {})))
    if code is not None and run.returncode != code:
        raise AssertionError(f"postern {' '.join(map(str, args))}: exit "
                             f"{run.returncode}, not {code}: {run.stderr}")
    return run.stdout

# --- members and proofs -------------------------------------------------------


class Member:
    def __init__(self, where, name, export=None):
        self.file = where / f"{name}.id"
        seed = ["--from", export] if export else []
        postern("identity", "new", "--plain", *seed, "-o", self.file)
        shown = json.loads(postern("identity", "show", "--json", "--secret",
                                   self.file))
        self.commitment = shown["commitment"]
        self.export = shown["export"]


class Members:
    """A member file with SIZE members; members[i] is one with its secret."""

    def __init__(self, where, size=8, secrets=2, name="members"):
        self.file = where / name
        self.members = [Member(where, f"{name}-{i}") for i in range(secrets)]
        # The others only fill the tree: any number below r will do.
        fill = [str(int.from_bytes(os.urandom(31), "big") + 1)
                for _ in range(size - secrets)]
        self.file.write_text("".join(
            f"{c}\n" for c in [m.commitment for m in self.members] + fill))

    def __getitem__(self, i):
        return self.members[i]

    def commitments(self):
        return [line for line in self.file.read_text().split("\n")
                if line and not line.startswith("#")]


def official_proofs(members, wanted):
    """Proofs by the official packages. WANTED: (member, scope, message)."""
    request = {
        "members": members.commitments(),
        "proofs": [{"identity": m.export, "scope": str(scope),
                    "message": str(message)} for m, scope, message in wanted],
    }
    run = subprocess.run(["node", str(TOP / "tests/js/mint.mjs")],
                         input=json.dumps(request), text=True, check=True,
                         stdout=subprocess.PIPE, timeout=120)
    return [json.loads(line) for line in run.stdout.splitlines()]


def token_of(proof):
    """An official proof object as a token."""
    text = json.dumps(proof, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def told_by(token):
    """What of a token must not be told on: itself and its nullifier."""
    told = {token}
    with contextlib.suppress(ValueError, KeyError, TypeError):
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        told.add(json.loads(raw)["nullifier"])
    return told


def today(length=86400):
    return int(time.time()) // length


def onion_name(key=None):
    """A v3 onion address for a 32-byte key (rend-spec-v3, section 6)."""
    import hashlib
    key = key or os.urandom(32)
    check_bytes = hashlib.sha3_256(b".onion checksum" + key + b"\x03").digest()
    name = base64.b32encode(key + check_bytes[:2] + b"\x03").decode().lower()
    return name + ".onion", int.from_bytes(key, "big")


class Vectors:
    """The members and proofs of tests/vectors/gate.json, which the official
    packages made once: no prover is needed. GATEWAY is what a gateway's section
    must have so that their epoch is now."""

    def __init__(self):
        self._data = json.loads((TOP / "tests/vectors/gate.json").read_text())
        self.epoch = self._data["epoch"]
        self.members = self._data["members"]
        self.others = self._data["others"]
        # now / length = epoch and a half: far from either turn.
        self.length = int(time.time() / (self.epoch + 0.5))
        self.gateway = {"audience": 1, "epoch": f"{self.length}s"}

    def proof(self, name):
        return self._data["proofs"][name]

    def token(self, name):
        return token_of(self.proof(name))

    def nullifier(self, name):
        return self.proof(name)["nullifier"]

    def write(self, where, name="members", members=None):
        """A member file; its path."""
        path = where / name
        draft = where / f".{name}"
        draft.write_text("".join(f"{m}\n" for m in members or self.members))
        draft.rename(path)
        return path

    def turn(self, least=3):
        """An epoch and a length such that it ends soon: (epoch, next, length,
        seconds until then), at least LEAST seconds ahead."""
        now = time.time()
        best = None
        for epoch in range(60, 80):
            # The end of EPOCH is at (epoch + 1) * length.
            length = int((now + least) // (epoch + 1)) + 1
            left = (epoch + 1) * length - now
            if length <= 366 * 86400 and (best is None or left < best[3]):
                best = (epoch, epoch + 1, length, left)
        return best

# --- the world outside --------------------------------------------------------


class Server:
    """A TCP server on loopback; each connection runs HANDLE(socket)."""

    def __init__(self, handle, host="127.0.0.1", port=0):
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                outer.connections += 1
                with contextlib.suppress(OSError):
                    handle(self.request)

        class Threads(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 512
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        self.connections = 0
        self._server = Threads((host, port), Handler)
        self.host, self.port = self._server.server_address[:2]
        threading.Thread(target=self._server.serve_forever, args=(0.05,),
                         daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


def stop_accepting(listening, thread):
    """Close a listening socket, after the THREAD that accepts from it has
    ended: one that is just about to accept would do so from whatever socket
    has the descriptor's number next."""
    listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)
    check(not thread.is_alive(), "the accepting thread ends")
    listening.close()


def echo(sock):
    """Send back what comes; end when the peer has ended."""
    while data := sock.recv(65536):
        sock.sendall(data)
    sock.shutdown(socket.SHUT_WR)


def certificate(where, *names):
    """A self-signed certificate for NAMES; (certificate, key) files."""
    cert, key = where / "cert.pem", where / "key.pem"
    alt = ",".join(("IP:" if re.fullmatch(r"[0-9.]+", n) else "DNS:") + n
                   for n in names)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=postern test", "-addext",
                    f"subjectAltName={alt}", "-keyout", str(key), "-out",
                    str(cert)], check=True, capture_output=True)
    return cert, key


class TlsSite(Server):
    """An HTTPS site that answers every request with one page."""

    def __init__(self, where, names, page=b"hello from outside\n"):
        self.cert, key = certificate(where, *names)
        self.page = page
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)

        def handle(sock):
            with context.wrap_socket(sock, server_side=True) as tls:
                head = b""
                while b"\r\n\r\n" not in head:
                    data = tls.recv(65536)
                    if not data:
                        return
                    head += data
                tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n"
                            b"Connection: close\r\n\r\n%s" % (len(page), page))

        super().__init__(handle)


class NameServer:
    """A small DNS server over UDP and TCP on one loopback port.

    ANSWERS maps a name to a list of addresses, or to one of the words
    "nxdomain", "servfail", "silent", "truncated", or to {"via": names, "lead":
    addresses}: a chain of CNAMEs. Unknown names are nxdomain.
    """

    def __init__(self, answers):
        self.answers = dict(answers)
        self.queries = []
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.port = free_port()
        self._udp.bind(("127.0.0.1", self.port))
        self._tcp = socket.create_server(("127.0.0.1", self.port))
        self._closing = False
        self._threads = [threading.Thread(target=loop, daemon=True)
                         for loop in (self._serve_udp, self._serve_tcp)]
        for thread in self._threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop_accepting(self._tcp, self._threads[1])
        self._closing = True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wake:
            wake.sendto(b"", ("127.0.0.1", self.port))
        self._threads[0].join(10)
        self._udp.close()

    def _serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                query, peer = self._udp.recvfrom(4096)
                if self._closing:
                    return
                answer = self._answer(query, udp=True)
                if answer:
                    self._udp.sendto(answer, peer)

    def _serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._tcp.accept()
                with sock, contextlib.suppress(OSError, struct.error):
                    length, = struct.unpack("!H", sock.recv(2))
                    answer = self._answer(sock.recv(length), udp=False)
                    if answer:
                        sock.sendall(struct.pack("!H", len(answer)) + answer)

    def _answer(self, query, udp):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
            at += 1 + query[at]
        question = query[12:at + 5]
        kind, = struct.unpack("!H", query[at + 1:at + 3])
        name = ".".join(labels).lower()
        self.queries.append((name, kind))
        said = self.answers.get(name, "nxdomain")
        flags, records = 0x8180, []
        if said == "silent":
            return None
        if said == "nxdomain":
            flags |= 3
        elif said == "servfail":
            flags |= 2
        elif said == "truncated" and udp:
            flags |= 0x0200
        elif said != "truncated":
            family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
            owner = b"\xc0\x0c"  # the name that was asked for
            if isinstance(said, dict):
                for name in said["via"]:
                    data = b"".join(bytes([len(part)]) + part.encode()
                                    for part in name.split(".")) + b"\0"
                    records.append(owner + struct.pack(
                        "!HHIH", 5, 1, 30, len(data)) + data)
                    owner = data
                said = said["lead"]
            for address in said if family else []:
                if (":" in address) == (kind == 28):
                    data = socket.inet_pton(family, address)
                    records.append(owner + struct.pack(
                        "!HHIH", kind, 1, 30, len(data)) + data)
        return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) \
            + question + b"".join(records)

# --- the gateway --------------------------------------------------------------


class Gateway:
    """`postern run` with a configuration: `with Gateway(where, {...}) as gate`.

    CONFIG maps a section to its keys; a value may be a list. Listening
    addresses for clients and metrics are filled in where they are missing.
    """

    def __init__(self, where, config, wait=True, env=None, debug=True):
        self.dir, self.env, self.wait = where, env or {}, wait
        self.config = {s: dict(keys) for s, keys in config.items()}
        gateway = self.config.setdefault("gateway", {})
        self.port = free_port()
        gateway.setdefault("listen", f"127.0.0.1:{self.port}")
        self.metrics_socket = where / "metrics.sock"
        self.config.setdefault("metrics", {}).setdefault(
            "listen", f"unix:{self.metrics_socket}")
        if debug:
            self.config.setdefault("log", {}).setdefault("level", "debug")
        self.file = where / "postern.conf"
        self.log_file = where / "log"
        self.process = None
        self.secrets = set()  # what clients have named: not for the log

    def write(self):
        lines = []
        for section, keys in self.config.items():
            lines.append(f"[{section}]")
            for key, value in keys.items():
                if isinstance(value, (list, tuple)):
                    value = " ".join(map(str, value))
                lines.append(f"{key} = {value}")
        self.file.write_text("\n".join(lines) + "\n")

    def start(self):
        self.write()
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [BIN, "run", "-c", str(self.file)], stderr=log,
                stdout=subprocess.DEVNULL, env=dict(os.environ, **self.env))
        if self.wait:
            wait_until(self.ready, 20, "the gateway ready")
        return self

    def ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the gateway ended: {self.log()}")
        try:
            return self.http("/readyz")[0] == 200
        except OSError:
            return False

    def log(self):
        return self.log_file.read_text(errors="replace")

    def admin(self):
        """A connection to the metrics listener."""
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        try:
            s.connect(str(self.metrics_socket))
        except OSError:
            s.close()
            raise
        return s

    def http(self, path):
        """GET from the metrics listener: (code, body)."""
        with self.admin() as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n"
                      "Connection: close\r\n\r\n".encode())
            data = b""
            while piece := s.recv(65536):
                data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        return int(head.split()[1]), body.decode()

    def metric(self, name, **labels):
        """The value of a metric (0 where it is not there)."""
        for line in self.http("/metrics")[1].splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if not match or match[1] != name:
                continue
            got = dict(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
            if all(got.get(k) == v for k, v in labels.items()):
                return float(match[3])
        return 0.0

    def send_signal(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM, seconds=20):
        """End it; its exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the gateway did not end") from None

    def end(self, seconds=20):
        """End it now, as the second SIGTERM does: by its own hand, so that a
        sanitizer tells what it leaked and gcov keeps what it counted."""
        if self.process is None or self.process.poll() is not None:
            return
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                equal(self.process.wait(0.1), 0, "the gateway's exit status")
                return
        self.kill()
        raise AssertionError("the gateway did not end")

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.end()
        except AssertionError:
            kind = AssertionError
            raise
        finally:
            self.kill()
            if kind not in (None, SystemExit):
                print(f"--- the gateway's log\n{self.log()[-4000:]}")

    def client(self, timeout=15):
        return Client(self.port, timeout)


class Answer:
    def __init__(self, code, fields, body):
        self.code, self.fields, self.body = code, fields, body

    def field(self, name):
        return self.fields.get(name.lower())

    def json(self):
        return json.loads(self.body)


class Client:
    """A raw connection to the gateway, as tor would make it."""

    def __init__(self, port, timeout=15, secrets=None):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout)
        self.rest = b""
        self.secrets = set() if secrets is None else secrets
        self.secrets.add(f":{self.sock.getsockname()[1]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data if isinstance(data, bytes) else data.encode())

    def _more(self):
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError("closed")
        self.rest += data

    def answer(self, tunnel=True):
        """Read an answer; after a 200 to CONNECT (TUNNEL) there is no body."""
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        fields = {}
        for line in lines:
            name, _, value = line.partition(":")
            name = name.lower()
            value = value.strip()
            fields[name] = f"{fields[name]}, {value}" if name in fields \
                else value
        code = int(status.split()[1])
        length = 0 if code == 200 and tunnel else \
            int(fields.get("content-length", 0))
        while len(self.rest) < length:
            self._more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return Answer(code, fields, body)

    def connect(self, target, token=None, early=b""):
        head = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
        self.secrets.add(target)
        if token:
            head += f"Proxy-Authorization: Semaphore {token}\r\n"
            self.secrets.update(told_by(token))
        self.send(head.encode() + b"\r\n" + early)
        return self.answer()

    def get(self, path):
        self.send(f"GET {path} HTTP/1.1\r\nHost: gate\r\n\r\n")
        return self.answer(tunnel=False)

    def read(self, length):
        while len(self.rest) < length:
            self._more()
        data, self.rest = self.rest[:length], self.rest[length:]
        return data

    def read_all(self):
        with contextlib.suppress(ConnectionError):
            while True:
                self._more()
        data, self.rest = self.rest, b""
        return data


def at_once(clients, target, token):
    """The codes that all CLIENTS get, which ask at the same moment."""
    start = threading.Barrier(len(clients))
    codes = []

    def go(c):
        start.wait()
        codes.append(c.connect(target, token).code)

    threads = [threading.Thread(target=go, args=(c,)) for c in clients]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for c in clients:
        c.sock.close()
    return codes
