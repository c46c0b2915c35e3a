"""A real Redis server (Debian's), for tests of a shared ledger."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from lib import wait_until


class Redis:
    """redis-server at a unix socket in a folder of its own: `with Redis() as r`.

    Every write is on the disk before it is answered. SETTINGS are options of
    the server's, with _ for -.
    """

    def __init__(self, **settings):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="postern-redis-",
                                                 dir=base))
        # A gateway that has dropped its user must get there.
        self.dir.chmod(0o755)
        self.socket = self.dir / "socket"
        self.settings = {"port": 0, "unixsocket": self.socket,
                         "unixsocketperm": 777, "dir": self.dir, "save": "",
                         "appendonly": "yes", "appendfsync": "always",
                         "bind": "127.0.0.1"}
        self.settings.update((k.replace("_", "-"), v)
                             for k, v in settings.items())
        self.password = settings.get("requirepass")
        self.process = None

    @property
    def url(self):
        return f"unix:{self.socket}"

    def start(self):
        args = [str(w) for k, v in self.settings.items()
                for w in ("--" + k, v)]
        self.process = subprocess.Popen(
            ["redis-server", *args], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        wait_until(lambda: "PONG" in self.ask("ping"), 20, "redis-server")
        return self

    def ask(self, *words):
        """What redis-cli says."""
        login = ["-a", self.password, "--no-auth-warning"] \
            if self.password else []
        return subprocess.run(
            ["redis-cli", "-s", str(self.socket), *login, *map(str, words)],
            capture_output=True, text=True, timeout=30,
            check=False).stdout.strip()

    def counted(self, prefix="postern"):
        """The requests of all members."""
        return sum(int(self.ask("hget", key, "n"))
                   for key in self.ask("keys", f"{prefix}:*:*").split())

    def kill(self):
        if self.process and self.process.poll() is None:
            # One that is stopped too.
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)
