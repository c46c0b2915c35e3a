"""`postern client` as the tests run it."""

import contextlib
import json
import os
import socket
import struct
import subprocess
import threading
import time

from lib import BIN, TOP, Server, check, equal, postern, wait_until

ZKEY = TOP / "tests/vectors/semaphore-7.zkey"


class PosternClient:
    """`postern client` in the background: `with PosternClient(...) as client`.

    ARGS are its further arguments. client.port is where it listens,
    client.token what programs have to know.
    """

    def __init__(self, where, identity, gateways, tor, *args, env=None,
                 listen="127.0.0.1:0", zkey=ZKEY):
        self.state = where / f"state-{time.monotonic_ns()}"
        self.log_file = where / f"client-log-{time.monotonic_ns()}"
        self.env = dict(os.environ, **(env or {}))
        self.command = [BIN, "client", "--identity", str(identity), "--tor",
                        tor, "--state", str(self.state)]
        for gateway in [gateways] if isinstance(gateways, str) else gateways:
            self.command += ["--gateway", gateway]
        if zkey:
            self.command += ["--zkey", str(zkey)]
        self.listen = listen
        self.args = [str(a) for a in args]
        self.process = None

    def start(self):
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                self.command + ["--listen", self.listen] + self.args,
                stderr=log, stdout=subprocess.DEVNULL, env=self.env,
                stdin=subprocess.DEVNULL)
        wait_until(lambda: self._status() or self._ended(), 10,
                   "the client's status")
        return self

    def _ended(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the client ended: {self.log()}")

    def _status(self):
        run = subprocess.run(
            [BIN, "client", "--status", "--json", "--state", self.state],
            capture_output=True, text=True, timeout=20, check=False)
        return json.loads(run.stdout) if run.returncode == 0 else None

    def status(self):
        return json.loads(postern("client", "--status", "--json", "--state",
                                  self.state))

    def wait_ready(self, seconds=60):
        wait_until(lambda: self.status()["ready"] or self._ended(), seconds,
                   "the client ready")
        return self

    def wait_trouble(self, error, seconds=60, gateway=0):
        """Wait until the gateway's trouble is ERROR; its gateway's status."""
        def look():
            self._ended()
            status = self.status()["gateways"][gateway]
            return status if status.get("error") == error else None
        return wait_until(look, seconds, f"trouble {error}")

    def log(self):
        return self.log_file.read_text(errors="replace")

    def variables(self):
        """What `postern client --env` gives, as a dict."""
        lines = postern("client", "--env", "--state", self.state).splitlines()
        return {name: value.strip("'") for name, _, value in
                (line[len("export "):].partition("=") for line in lines)}

    @property
    def port(self):
        return int(self.variables()["http_proxy"].rpartition(":")[2])

    def curl(self, url, *args, socks=False, proxy=None, timeout=60):
        """Run curl; (exit code, output, error)."""
        proxy = proxy or self.variables()["all_proxy" if socks
                                          else "https_proxy"]
        run = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", str(timeout),
             "-x", proxy, *map(str, args), url], capture_output=True,
            text=True, timeout=timeout + 10, check=False)
        return run.returncode, run.stdout, run.stderr

    def run(self, *command, env=None, code=0, timeout=90):
        """`postern client --run -- COMMAND` with the same settings; what it
        printed."""
        run = subprocess.run(
            self.command + self.args + ["--run", "--", *map(str, command)],
            capture_output=True, text=True, timeout=timeout, check=False,
            env=dict(self.env, **(env or {})), stdin=subprocess.DEVNULL)
        check(run.returncode == code,
              f"exit {run.returncode}, not {code}: {run.stderr}")
        return run.stdout

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("the client did not end") from None
        return self.process.returncode

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.stop()
        finally:
            if self.process and self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        if kind not in (None, SystemExit):
            print(f"--- the client's log\n{self.log()[-3000:]}")


class StrictTor(Server):
    """A SOCKS5 server that leads onion names to ports on loopback.

    Like tor it wants the handshake step by step: a client that sends ahead is
    a failure. FAIL is how many connections are to be refused first, with CODE.
    """

    def __init__(self, leads, fail=0, code=4):
        self.leads, self.fail, self.code = leads, fail, code
        self.users, self.faults = [], []
        super().__init__(self._serve)

    def _read(self, sock, n):
        data = b""
        while len(data) < n:
            piece = sock.recv(n - len(data))
            if not piece:
                raise OSError("closed")
            data += piece
        return data

    def _quiet(self, sock):
        """Nothing more may have come."""
        sock.setblocking(False)
        try:
            if sock.recv(1, socket.MSG_PEEK):
                self.faults.append("the client sent ahead")
        except BlockingIOError:
            pass
        sock.setblocking(True)

    def _serve(self, sock):
        version, n = self._read(sock, 2)
        check(version == 5 and 2 in self._read(sock, n), "greeting")
        time.sleep(0.01)
        self._quiet(sock)
        sock.sendall(b"\5\2")
        _, n = self._read(sock, 2)
        user = self._read(sock, n)
        self._read(sock, self._read(sock, 1)[0])
        time.sleep(0.01)
        self._quiet(sock)
        sock.sendall(b"\1\0")
        equal(self._read(sock, 4), b"\5\1\0\3", "request")
        name = self._read(sock, self._read(sock, 1)[0]).decode()
        port, = struct.unpack("!H", self._read(sock, 2))
        time.sleep(0.01)
        self._quiet(sock)
        self.users.append((user.decode(), name, port))
        if self.fail > 0:
            self.fail -= 1
            sock.sendall(b"\5" + bytes([self.code]) + b"\0\1\0\0\0\0\0\0")
            return
        if name not in self.leads:
            sock.sendall(b"\5\4\0\1\0\0\0\0\0\0")
            return
        with socket.create_connection(
                ("127.0.0.1", self.leads[name])) as to:
            # In two pieces: it need not come at once.
            sock.sendall(b"\5\0\0\1\0\0")
            time.sleep(0.01)
            sock.sendall(b"\0\0\0\0")
            self._relay(sock, to)

    @staticmethod
    def _relay(a, b):
        def copy(x, y):
            with contextlib.suppress(OSError):
                while data := x.recv(65536):
                    y.sendall(data)
                y.shutdown(socket.SHUT_WR)
        other = threading.Thread(target=copy, args=(b, a), daemon=True)
        other.start()
        copy(a, b)
        other.join(10)

    @property
    def place(self):
        return f"127.0.0.1:{self.port}"
