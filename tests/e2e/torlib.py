"""A private Tor network and stock curl, for what crosses a real tor."""

import os
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TORNET = HERE / "tornet"


class TorNet:
    """Authorities, one onion service, one client: `with TorNet(port) as net`.

    GATE is what the onion service forwards to: a port on loopback, or any
    target of HiddenServicePort. net.onion is the address, net.socks the
    client's SOCKS port as host:port.
    """

    def __init__(self, gate, **settings):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="postern-tor-"))
        self.env = dict(os.environ, GATE_TARGET=(
            f"127.0.0.1:{gate}" if isinstance(gate, int) else gate))
        # A safety net: the tors go when this process does.
        self.env["TORNET_OWNER_PID"] = str(os.getpid())
        self.env.update({"TORNET_" + k.upper(): str(v)
                         for k, v in settings.items()})

    def _run(self, *args):
        return subprocess.run([str(TORNET), args[0], str(self.dir), *args[1:]],
                              env=self.env, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def __enter__(self):
        try:
            lines = self._run("up").splitlines()
        except BaseException:
            self.__exit__()
            raise
        self.settings = dict(line.split("=", 1) for line in lines)
        self.onion = self.settings["ONION"]
        self.socks = self.settings["SOCKS"]
        return self

    def __exit__(self, *_):
        subprocess.run([str(TORNET), "down", str(self.dir)], check=False,
                       env=self.env, stdout=subprocess.DEVNULL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def restart(self, node):
        self._run("restart", node)

    @property
    def hostname_file(self):
        return self.dir / "onion" / "hs" / "hostname"


class Curl:
    """What one run of curl gave: its exit code, the page, the gate's answer."""

    def __init__(self, net, url, header=None, circuit=None, cacert=None,
                 timeout=60):
        command = ["curl", "--silent", "--show-error", "--max-time",
                   str(timeout), "--preproxy", self.preproxy(net, circuit),
                   "-x", f"http://{net.onion}:80", "--dump-header", "-",
                   "--output", "-", "--write-out",
                   "\n%{http_connect} %{http_code}", url]
        if header:
            command += ["--proxy-header", header]
        if cacert:
            command += ["--cacert", str(cacert)]
        run = subprocess.run(command, capture_output=True, timeout=timeout + 10,
                             check=False)
        body, _, codes = run.stdout.decode("latin-1").rpartition("\n")
        self.exit = run.returncode
        self.error = run.stderr.decode("latin-1").strip()
        self.text = body
        self.connect, self.code = (int(c) for c in codes.split())

    @staticmethod
    def preproxy(net, circuit):
        # Other credentials, another circuit (IsolateSOCKSAuth).
        login = f"{circuit}:x@" if circuit else ""
        return f"socks5h://{login}{net.socks}"
