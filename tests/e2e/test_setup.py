#!/usr/bin/env python3
"""postern setup: what it writes, that it leaves the rest alone, and that it
sees the onion answer, through a private tor network."""

import subprocess

from lib import BIN, check, equal, folder, free_port, main, postern
from torlib import TorNet


class Place:
    """A torrc, a configuration and a member file of one's own."""

    def __init__(self, where, onion=None, listen="127.0.0.1:8080"):
        self.torrc, self.conf = where / "torrc", where / "postern.conf"
        self.members = where / "members"
        self.files = (self.torrc, self.conf, self.members)
        self.onion = onion or where / "hs"
        self.args = ["--torrc", self.torrc, "-c", self.conf, "-m", self.members,
                     "--journal", where / "journal", "--listen", listen,
                     "--onion-dir", self.onion]

    def setup(self, *more, code=0):
        return postern("setup", *self.args, *more, code=code)

    def state(self):
        return [f.read_text() if f.exists() else None for f in self.files]


def test_a_dry_run_shows_and_writes_nothing():
    with folder() as where:
        place = Place(where)
        said = place.setup("--dry-run")
        equal(place.state(), [None, None, None], "files")
        check(f"  + HiddenServiceDir {place.onion}\n" in said, said)
        check("  + proxy_line = required\n" in said, said)


def test_what_it_writes_is_taken_by_tor_and_by_the_gateway():
    with folder() as where:
        place = Place(where)
        place.setup("--wait", "0")
        torrc = place.torrc.read_text()
        for line in ("HiddenServicePort 80 127.0.0.1:8080",
                     "HiddenServiceExportCircuitID haproxy",
                     "HiddenServiceMaxStreams 64",
                     "HiddenServiceEnableIntroDoSDefense 1"):
            check(line in torrc.splitlines(), line)
        known = subprocess.run(["tor", "--list-torrc-options"], text=True,
                               capture_output=True, check=True).stdout.split()
        equal("HiddenServicePoWDefensesEnabled 1" in torrc.splitlines(),
              "HiddenServicePoWDefensesEnabled" in known, "proof of work")
        run = subprocess.run(["tor", "--verify-config", "-f", place.torrc,
                              "--DataDirectory", where / "data"], text=True,
                             capture_output=True, check=False)
        equal(run.returncode, 0, run.stdout)


def test_a_second_call_changes_nothing():
    with folder() as where:
        place = Place(where)
        place.setup("--wait", "0")
        before = place.state()
        said = place.setup("--wait", "0")
        equal(place.state(), before, "files")
        equal(said.count("nothing to change"), 3, said)


def test_what_an_operator_wrote_stays():
    with folder() as where:
        place = Place(where)
        place.torrc.write_text("# mine\nSocksPort 9050")
        place.conf.write_text(
            "# mine\n[gateway]\nlisten = 127.0.0.1:9999\n# more\n"
            "[group staff]\nmembers = /x\nrequests = 5\n[gateway]\nslots = 2")
        place.members.write_text("# members of mine\n")
        before = place.state()
        place.setup("--wait", "0")
        after = place.state()
        equal(after[2], before[2], "members")
        for old, new in zip(before[:2], after[:2]):
            lines = iter(new.splitlines())
            check(all(line in lines for line in old.splitlines()),
                  f"not in order, or not all: {new}")
        check(after[1].count("listen =") == 1, after[1])
        check("[group members]" not in after[1], after[1])
        check(after[1].startswith("# mine\n[gateway]\nproxy_line = required\n"),
              after[1])


def test_errors_name_the_cure():
    with folder() as where:
        place = Place(where)
        run = subprocess.run([BIN, "setup", *map(str, place.args), "--tor",
                              str(where / "no-tor")], capture_output=True,
                             text=True, check=False)
        equal(run.returncode, 2, "no tor")
        check("apt-get install tor" in run.stderr, run.stderr)
        equal(place.state(), [None, None, None], "files")


def test_it_sees_the_onion_answer_through_tor():
    port = free_port()
    with folder() as where, TorNet(port) as net:
        place = Place(where, onion=net.hostname_file.parent,
                      listen=f"127.0.0.1:{port}")
        place.setup("--socks", net.socks, "--wait", "1", code=1)
        gateway = subprocess.Popen([BIN, "run", "-c", str(place.conf)],
                                   stderr=open(where / "log", "w"))
        try:
            said = place.setup("--socks", net.socks, "--wait", "60")
            check(f"onion address: {net.onion}\n" in said, said)
            check(f"postern client -i me.id -g {net.onion} -m members\n"
                  in said, said)
        finally:
            gateway.terminate()
            gateway.wait()


main(globals())
