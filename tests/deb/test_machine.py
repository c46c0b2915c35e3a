#!/usr/bin/env python3
"""The package on a fresh Debian with a systemd of its own, from installation to
purge, as its operator and a member go about it, through a private tor network.

The machine is a debootstrap root that systemd-nspawn boots; it shares the
network of this one, so its tor reaches the private network's authorities on
loopback. Needs root and a Debian mirror. DEB_ROOT names a root that debootstrap
--include=systemd-sysv has made already, DEB_PACKAGE a package.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "e2e"))

# pylint: disable=wrong-import-position
from lib import (NameServer, TlsSite, check, equal, free_port,  # noqa: E402
                 main, wait_until)
from torlib import TorNet  # noqa: E402

MIRROR = "http://deb.debian.org/debian"
APT = ("apt-get -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "
       "-o Dpkg::Options::=--force-confold")
CONF = "/etc/postern/postern.conf"
MEMBERS = "/etc/postern/members"
PAGE = "hello from outside"


class Machine:
    """A booted root: `with Machine(root) as m`, and m.run(COMMAND)."""

    def __init__(self, root):
        self.root = root

    def __enter__(self):
        self.log = open(f"{self.root}.log", "w", encoding="utf-8")
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--directory", self.root, "--boot",
             "--register=no", "--keep-unit", "--hostname=fresh"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.leader = None
        try:
            wait_until(self._is_up, 90, "a booted machine")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _is_up(self):
        # Its first process is nspawn's child, but not the first child.
        children = pathlib.Path(f"/proc/{self.nspawn.pid}/task/"
                                f"{self.nspawn.pid}/children").read_text()
        self.leader = children.split()[0] if children else None
        # What a container has not may fail.
        return self.leader is not None and self.code(
            "systemctl is-system-running | grep -Ex 'running|degraded'") == 0

    def __exit__(self, *_):
        self.nspawn.terminate()  # halts it
        try:
            self.nspawn.wait(60)
        except subprocess.TimeoutExpired:
            self.nspawn.kill()
            self.nspawn.wait()
        self.log.close()

    def _run(self, command, user, timeout):
        enter = ["nsenter", "--all", "--target", self.leader, "env", "-i",
                 "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                 "DEBIAN_FRONTEND=noninteractive", "HOME=/root"]
        words = ["runuser", "-l", user, "-c", command] if user else [
            "sh", "-c", command]
        return subprocess.run([*enter, *words], text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)

    def code(self, command):
        return self._run(command, None, 60).returncode

    def run(self, command, user=None, code=0, timeout=300):
        """What COMMAND prints, errors last."""
        done = self._run(command, user, timeout)
        if done.returncode != code:
            raise AssertionError(f"{command}: exit {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return (done.stdout + done.stderr).strip()


def make_root(where):
    root = where / "root"
    if "DEB_ROOT" in os.environ:
        subprocess.run(["cp", "-a", os.environ["DEB_ROOT"], root], check=True)
    else:
        subprocess.run(["debootstrap", "--variant=minbase",
                        "--include=systemd-sysv", "bookworm", root, MIRROR],
                       stdout=subprocess.DEVNULL, check=True)
    return root


def next_release(package, out):
    """The same with another number and another sample configuration."""
    tree = out.parent.parent / "next"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*", "Version: 0.1.1",
                              control.read_text()))
    with open(tree / CONF[1:], "a", encoding="utf-8") as f:
        f.write("# of the next release\n")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, out],
                   stdout=subprocess.DEVNULL, check=True)


def torrc_of(net, socks):
    """A torrc as a machine has one, in the private network."""
    shared = (net.dir / "defaults").read_text().splitlines()
    kept = [line for line in shared
            if not line.startswith(("RunAsDaemon", "__Owning", "GeoIP"))]
    return "\n".join([*kept, f"SocksPort 127.0.0.1:{socks}", ""])


class World:
    """All tests here are one story, in order."""

    def __init__(self, stack):
        where = pathlib.Path(tempfile.mkdtemp(prefix="postern-machine-"))
        stack.callback(subprocess.run, ["rm", "-rf", "--one-file-system",
                                        where], check=False)
        package = os.environ.get("DEB_PACKAGE") or subprocess.run(
            [TOP / "conf/debian/build", where / "deb"], check=True, text=True,
            stdout=subprocess.PIPE).stdout.strip()
        self.site = stack.enter_context(TlsSite(where, ["site.example"]))
        self.names = stack.enter_context(
            NameServer({"site.example": ["127.0.0.1"],
                        "www.iana.org": ["192.0.43.8"]}))
        net = stack.enter_context(TorNet(free_port()))
        self.socks = f"127.0.0.1:{free_port()}"
        root = make_root(where)
        shutil.copy(package, root / "first.deb")
        next_release(package, root / "next.deb")
        shutil.copy(self.site.cert, root / "site.pem")
        shutil.copy(TOP / "tests/vectors/semaphore-7.zkey", root / "srv")
        (root / "etc/tor").mkdir()
        (root / "etc/tor/torrc").write_text(
            torrc_of(net, self.socks.rpartition(":")[2]))
        self.root = root
        self.machine = stack.enter_context(Machine(root))
        self.onion = None

    def fetch(self):
        """A page, by a member's curl through the member's client."""
        port = free_port()
        return self.machine.run(
            f"postern client -i me.id -g {self.onion} -m members "
            f"-t {self.socks} -z /srv/semaphore-7.zkey -l 127.0.0.1:{port} "
            "--run -- curl -sS --max-time 90 --cacert /site.pem "
            f"https://site.example:{self.site.port}/", user="ann")


def unit(what):
    return world.machine.run(f"systemctl show -P {what} postern")


def control(what):
    return world.machine.run(f"postern ctl {what}")


def test_install():
    m = world.machine
    m.run("apt-get update -qq")
    m.run(f"{APT} install tor curl /first.deb", timeout=600)
    equal(m.run("postern --version"), "postern 0.1.0")
    equal((unit("ActiveState"), unit("UnitFileState")), ("inactive", "disabled"))
    # What members are let to: the operator's own lines.
    conf = (world.root / CONF[1:]).read_text()
    lines = (f"ports = {world.site.port}", f"dns = 127.0.0.1:{world.names.port}",
             f"except = 127.0.0.1:{world.site.port}")
    conf = conf.replace("[egress]\n", "\n".join(["[egress]", *lines, ""]))
    # Which is not a public name.
    conf = conf.replace("\nallow = *\n", "\nallow = * site.example\n")
    (world.root / CONF[1:]).write_text(conf)


def test_setup():
    m = world.machine
    command = f"postern setup --socks {world.socks} --wait 120"
    shown = m.run(f"{command} --dry-run")
    check("+HiddenServiceDir /var/lib/tor/postern\n" in shown, shown)
    check("HiddenServiceDir" not in m.run("cat /etc/tor/torrc"))
    said = m.run(command, timeout=400)
    check("check: 0 errors" in said, said)
    world.onion = re.search(r"onion address:\s+([a-z2-7]{56}\.onion)", said)[1]
    check(f"-g {world.onion} -m members" in said, said)
    equal((unit("ActiveState"), unit("UnitFileState"), unit("User")),
          ("active", "enabled", "postern"))
    again = m.run(command, timeout=400)
    equal(again.count("nothing to change"), 3, again)
    check("dry-run" not in again and world.onion in again, again)


def test_a_member():
    m = world.machine
    m.run("useradd --create-home ann")
    line = m.run("postern identity new --plain -o me.id", user="ann")
    commitment = re.search(r"\b\d{60,}\b", line)[0]
    check("1 members" in control(f"members add members {commitment}"))
    m.run(f"cp {MEMBERS} /home/ann/members")
    check(PAGE in world.fetch())
    check("ok 1" in control("status"), control("status"))


def test_the_unit():
    m = world.machine
    # Reloading is told by the gateway itself.
    m.run("systemctl reload postern")
    equal(unit("ActiveState"), "active")
    exposure = m.run("systemd-analyze security postern --no-pager | tail -n 1")
    check(float(re.search(r"(\d+\.\d+) ", exposure)[1]) <= 1.3, exposure)
    walls = re.search(r"walls +(.*)", control("status"))[1]
    check("no calls" not in walls and "no privileges" not in walls, walls)
    # It comes back, with what was counted.
    pid = unit("MainPID")
    m.run(f"kill -KILL {pid}")
    wait_until(lambda: unit("ActiveState") == "active" and
               unit("MainPID") not in ("0", pid), 30, "another process")
    check("1 nullifiers" in control("status"), control("status"))
    log = m.run("journalctl -u postern -o cat --no-pager")
    check("ready: the gateway is open" in log, log)
    check("site.example" not in log and world.onion not in log)


def test_check_looks_as_the_units_user():
    m = world.machine
    m.run(f"chmod 600 {MEMBERS}")
    said = m.run("postern check", code=1)
    check(f"{MEMBERS}: error" in said and "Permission denied" in said, said)
    m.run(f"chmod 644 {MEMBERS}")
    said = m.run("postern check")
    check("looked at as the user postern" in said, said)
    said = m.run("postern check", user="ann", code=1)
    check("as another user than postern" in said, said)


def test_upgrade():
    m = world.machine
    sums = f"sha256sum {CONF} {MEMBERS} /etc/tor/torrc"
    before, pid = m.run(sums), unit("MainPID")
    m.run(f"{APT} install /next.deb")
    equal(m.run("dpkg-query -W -f '${Version}' postern"), "0.1.1")
    equal(m.run(sums), before)
    equal((unit("ActiveState"), unit("UnitFileState")), ("active", "enabled"))
    check(unit("MainPID") != pid, "the new program runs")
    check(PAGE in world.fetch())
    check("1 nullifiers" in control("status"), "and knows who was there")


def test_purge():
    m = world.machine
    pid = unit("MainPID")
    m.run(f"{APT} purge postern")
    equal(m.code(f"kill -0 {pid}"), 1, "the gateway has ended")
    left = m.run("find / -xdev -path /proc -prune -o -path /home -prune -o "
                 "-name '*postern*' -print")
    # The onion service is tor's, with the key that is its address.
    equal(left, "/var/lib/tor/postern")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skip: a machine of its own needs root")
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    with contextlib.ExitStack() as everything:
        world = World(everything)
        main(globals())
