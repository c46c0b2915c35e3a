"""`postern client` as the tests run it."""

import json
import os
import subprocess
import time

from lib import BIN, TOP, check, postern, wait_until

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
        variables = self.variables()
        proxy = proxy or variables["all_proxy" if socks else "https_proxy"]
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
