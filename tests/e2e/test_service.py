#!/usr/bin/env python3
"""The gateway as a service: what it tells a service manager, sockets that are
handed over, the unit file's walls, and the walls of a running gateway."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

from lib import (BIN, TOP, WALLS, Gateway, Server, Vectors, check, echo, equal,
                 folder, main, onion_name, postern, wait_until)

V = Vectors()


def configuration(where, port, **more):
    config = {
        "gateway": dict(V.gateway),
        "group main": {"members": V.write(where), "requests": 1000},
        "egress": {"allow": "*", "except": f"127.0.0.1:{port}"},
        "ledger": {"journal": where / "journal"},
        "control": {"socket": where / "control"},
    }
    for section, keys in more.items():
        config.setdefault(section.replace("_", " "), {}).update(keys)
    return config


class Manager:
    """Where a gateway says how it is doing, as systemd would listen."""

    def __init__(self, where, name=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(10)
        self.path = name or str(where / "notify")
        self.socket.bind(self.path.replace("@", "\0", 1))

    def hear(self):
        data = self.socket.recv(4096).decode()
        return dict(line.split("=", 1) for line in data.split("\n"))


@contextlib.contextmanager
def gate(env=None, **more):
    with folder() as where, Server(echo) as site:
        g = Gateway(where, configuration(where, site.port, **more), env=env)
        g.where, g.site = where, site
        try:
            yield g
        finally:
            g.kill()


def address(g):
    return json.loads(postern("ctl", "--socket", g.where / "control", "--json",
                              "status"))["result"]["onion"]


def test_the_hostname_file_is_handed_over():
    with gate() as g:
        onion, _ = onion_name()
        tors, handed = g.where / "hostname", g.where / "credentials"
        handed.mkdir()
        g.config["gateway"]["onion"] = tors
        g.env["CREDENTIALS_DIRECTORY"] = str(handed)
        # Tor's own is not there; the unit's copy is.
        (handed / "onion").write_text(onion + "\n")
        with g:
            equal(address(g), onion)
        # Nothing to hand over: the unit gives another text.
        (handed / "onion").write_text("none")
        g.wait = False
        g.start()
        equal(g.process.wait(10), 2)
        check(str(tors) in g.log(), g.log())
        tors.write_text(onion + "\n")
        g.wait = True
        with g:
            equal(address(g), onion)


def test_readiness_reload_and_the_end_are_told():
    with gate() as g:
        manager = Manager(g.where)
        g.env["NOTIFY_SOCKET"] = manager.path
        g.start()
        equal(manager.hear().get("READY"), "1")
        for good in (True, False):
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            if not good:
                g.file.write_text("[nonsense\n")
            g.send_signal(signal.SIGHUP)
            said = manager.hear()
            equal(said.get("RELOADING"), "1")
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            check(before <= int(said["MONOTONIC_USEC"]) <= now, said)
            # It goes on with the old one where the new one is wrong.
            equal(manager.hear().get("READY"), "1")
        g.send_signal(signal.SIGTERM)
        equal(manager.hear().get("STOPPING"), "1")
        equal(g.stop(), 0)


def test_signs_of_life():
    with gate() as g:
        manager = Manager(g.where, f"@postern-test-{os.getpid()}")
        g.env["NOTIFY_SOCKET"] = manager.path
        g.env["WATCHDOG_USEC"] = "4000000"
        g.start()
        equal(manager.hear().get("READY"), "1")
        times = []
        for _ in range(3):
            equal(manager.hear(), {"WATCHDOG": "1"})
            times.append(time.monotonic())
        for a, b in zip(times, times[1:]):
            check(1 < b - a < 3.9, b - a)
        # Nobody listens any more: the gateway does not mind.
        manager.socket.close()
        time.sleep(2.5)
        equal(g.http("/readyz")[0], 200)
        equal(g.stop(), 0)


def test_a_watchdog_of_somebody_else():
    with gate() as g:
        manager = Manager(g.where)
        g.env.update(NOTIFY_SOCKET=manager.path, WATCHDOG_USEC="2000000",
                     WATCHDOG_PID="1", LISTEN_FDS="3", LISTEN_PID="1")
        g.start()
        equal(manager.hear().get("READY"), "1")
        manager.socket.settimeout(2.5)
        try:
            said = manager.hear()
        except TimeoutError:
            said = None
        equal(said, None)
        equal(g.stop(), 0)


def test_sockets_are_handed_over():
    """Clients wait while one gateway ends and the next one starts."""
    with gate() as g, socket.create_server(("127.0.0.1", 0)) as listening:
        g.write()
        port = listening.getsockname()[1]
        target = f"127.0.0.1:{g.site.port}"

        def start():
            fd = listening.fileno()
            log = open(g.log_file, "ab")
            return subprocess.Popen(
                ["sh", "-c", f'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3<&{fd}',
                 "sh", BIN, "run", "-c", str(g.file)],
                pass_fds=[fd], stderr=log)

        g.process = start()
        wait_until(g.ready, 20)
        g.port = port
        with g.client() as c:
            equal(c.connect(target, V.token("member 0")).code, 200)
        status = json.loads(subprocess.run(
            [BIN, "ctl", "--socket", g.where / "control", "--json", "status"],
            capture_output=True, check=True, timeout=10).stdout)["result"]
        equal(status["listeners"], [{"address": "fd:3", "port": port}])
        equal(g.stop(), 0)
        with g.client() as c:  # nobody is there to accept it
            g.process = start()
            equal(c.connect(target, V.token("member 0")).code, 200)
        equal(g.stop(), 0)


def test_a_bad_environment_stops_the_start():
    for env, word in (({"NOTIFY_SOCKET": "/nowhere/at/all"}, "NOTIFY_SOCKET"),
                      ({"NOTIFY_SOCKET": "relative"}, "NOTIFY_SOCKET"),
                      ({"LISTEN_FDS": "many"}, "LISTEN_FDS"),
                      ({"WATCHDOG_USEC": "-1"}, "WATCHDOG_USEC")):
        with gate(env=env) as g:
            g.wait = False
            g.start()
            equal(g.process.wait(20), 2)
            check(word in g.log(), g.log())


# --- walls --------------------------------------------------------------------

WALL_NAMES = ["privileges", "dumps", "tracing", "memory", "files", "calls"]


def walls_of(g):
    return {name: int(g.metric("postern_wall", wall=name))
            for name in WALL_NAMES}


def proc_status(g):
    text = pathlib.Path(f"/proc/{g.process.pid}/status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines())


def test_the_walls_of_a_running_gateway():
    with gate() as g:
        g.start()
        walls = walls_of(g)
        status = proc_status(g)
        equal(walls["privileges"], 1)
        equal(status["NoNewPrivs"].strip(), "1")
        if not WALLS:
            return
        equal(walls, dict.fromkeys(WALL_NAMES, 1))
        equal(status["Seccomp"].strip(), "2")
        equal(status["Seccomp_filters"].strip(), "2")
        limits = pathlib.Path(f"/proc/{g.process.pid}/limits").read_text()
        soft, hard = re.search(r"Max address space +(\S+) +(\S+)",
                               limits).groups()
        equal(soft, hard)
        equal(int(soft), int(g.metric("postern_address_space_max_bytes")))
        check(re.search(r"Max core file size +0 +0 ", limits), limits)
        # Every thread is behind the same walls.
        for task in pathlib.Path(f"/proc/{g.process.pid}/task").iterdir():
            text = (task / "status").read_text()
            check("Seccomp_filters:\t2" in text, text)
        check("walls:" in g.log() and "calls" in g.log(), g.log())
        equal(g.stop(), 0)


def test_a_gateway_without_walls():
    with gate(run={"sandbox": "off"}) as g:
        g.start()
        walls = walls_of(g)
        equal([n for n in WALL_NAMES if walls[n]], ["privileges", "dumps"])
        equal(proc_status(g)["Seccomp"].strip(), "0")
        run = subprocess.run([BIN, "check", "-c", g.file], timeout=30,
                             capture_output=True, text=True)
        check("without walls" in run.stdout + run.stderr, run)
        equal(g.stop(), 0)


def test_members_from_outside_of_the_walls():
    """A reload that names a folder which the gateway may not see says so, and
    a restart sees it."""
    if not WALLS:
        return
    with gate() as g, folder() as other:
        g.start()
        V.write(other, "theirs")
        (g.where / "link").symlink_to(other / "theirs")
        for path in (other / "theirs", g.where / "link"):
            g.config["group main"]["members"] = path
            g.write()
            before = g.log().count("members_broken")
            g.send_signal(signal.SIGHUP)
            wait_until(lambda: g.log().count("members_broken") > before, 5)
            check("restart it" in g.log().splitlines()[-2]
                  + g.log().splitlines()[-1], g.log())
        equal(g.stop(), 0)
        g.start()
        before = g.log().count("members_loaded")
        V.write(other, "theirs", members=V.members[:7])
        # A link's target is looked at every ten seconds.
        wait_until(lambda: g.log().count("members_loaded") > before, 15)
        equal(g.stop(), 0)


def test_the_units_are_hardened():
    if not shutil.which("systemd-analyze"):
        print("no systemd-analyze on this machine")
        return
    for unit in ("postern.service", "postern-follow@.service"):
        run = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--no-pager",
             "--threshold=15", str(TOP / "conf" / unit)],
            capture_output=True, text=True, timeout=60)
        check(run.returncode == 0, run.stdout + run.stderr)
        said = re.search(r"exposure level for \S+: ([0-9.]+)", run.stdout)
        check(said and float(said[1]) <= 1.5, run.stdout)
        check("Unknown" not in run.stderr, run.stderr)


def test_the_init_script():
    """It is a script that a shell can read, and it says how it is used."""
    script = TOP / "conf/postern.init"
    subprocess.run(["sh", "-n", script], check=True, timeout=10)
    text = script.read_text()
    for action in ("start", "stop", "restart", "reload", "status"):
        check(re.search(rf"^{action}\b.*\)$", text, re.M), action)


if __name__ == "__main__":
    main(globals())
