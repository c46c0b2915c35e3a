#!/usr/bin/env python3
"""postern setup: what it asks and writes, that it leaves the rest alone, and
that it starts all of it and sees the onion answer, through a private tor
network."""

import contextlib
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import time

from lib import (BIN, check, equal, folder, free_port, main, postern,
                 wait_until)
from torlib import TorNet


ONION = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion"


class Place:
    """A torrc, a configuration and a member file of one's own."""

    def __init__(self, where, onion=None, listen="127.0.0.1:8080"):
        self.torrc, self.conf = where / "torrc", where / "postern.conf"
        self.members = where / "members"
        self.files = (self.torrc, self.conf, self.members)
        self.onion = onion or where / "hs"
        self.args = ["--torrc", self.torrc, "-c", self.conf, "-m", self.members,
                     "--journal", where / "journal", "--listen", listen,
                     "--control", where / "control", "--onion-dir", self.onion]

    def setup(self, *more, code=0):
        return postern("setup", *self.args, *more, code=code)

    def state(self):
        return [f.read_text() if f.exists() else None for f in self.files]

    def unasked(self):
        """Options but for those that it may ask for."""
        asked = ("--torrc", "-m", "--listen")
        return [a for i, a in enumerate(self.args)
                if a not in asked and (i == 0 or self.args[i - 1] not in asked)]

    def asking(self, *more):
        return Terminal([BIN, "setup", *map(str, [*self.unasked(), *more])])


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(command[0], command)
        self.said = ""

    def hear(self, what, seconds=20):
        """Wait for WHAT in what comes next; all up to there."""
        end = time.monotonic() + seconds
        while what not in self.said:
            if not select.select([self.fd], [], [],
                                 max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {what!r} in {self.said!r}")
            try:
                piece = os.read(self.fd, 4096)
            except OSError:  # how Linux says that nobody is there any more
                piece = b""
            if not piece:
                raise AssertionError(f"no {what!r} at the end of {self.said!r}")
            self.said += piece.decode().replace("\r\n", "\n")
        head, found, self.said = self.said.partition(what)
        return head + found

    def answer(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def end(self):
        with contextlib.suppress(OSError):
            while piece := os.read(self.fd, 4096):
                self.said += piece.decode().replace("\r\n", "\n")
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def patched(old, hunks):
    """OLD with a unified diff's hunks: what patch(1) would make of it."""
    source, out, at = old.splitlines(), [], 0
    for line in hunks:
        if line.startswith("@@"):
            first, length, begin, _ = map(int, re.findall(r"\d+", line))
            start = first - (length > 0)
            out += source[at:start]
            at = start
            equal(begin - 1, len(out) - (begin == 0), "where a hunk begins")
        elif line.startswith("+"):
            out.append(line[1:])
        else:
            equal(line[1:], source[at], "context")
            out.append(line[1:])
            at += 1
    return "".join(line + "\n" for line in out + source[at:])


def diffs(text):
    """The hunks of each file in TEXT, by its name."""
    files = {}
    for line in text.splitlines():
        if line.startswith("+++ "):
            hunks = files.setdefault(line[4:], [])
        elif line[:1] in "@+ " and line and files:
            hunks.append(line)
    return files


def test_a_dry_run_shows_and_writes_nothing():
    with folder() as where:
        place = Place(where)
        said = place.setup("--dry-run")
        equal(place.state(), [None, None, None], "files")
        check(f"+HiddenServiceDir {place.onion}\n" in said, said)
        check("+proxy_line = required\n" in said, said)


def test_what_it_shows_is_what_it_writes():
    with folder() as where:
        place = Place(where)
        place.torrc.write_text("# mine\nSocksPort 9050")
        # Keys go to several places, near to each other and not.
        far = "".join(f"# {i}\n" for i in range(9))
        place.conf.write_text(f"{far}[egress]\n#\n#\n[gateway]\n# x\n{far}"
                              f"[ledger]\n{far}")
        before = place.state()
        shown = diffs(place.setup("--dry-run"))
        equal(sorted(shown), sorted(map(str, place.files)))
        place.setup("--no-start")
        for path, old, new in zip(place.files, before, place.state()):
            equal(patched(old or "", shown[str(path)]), new, path.name)
        check(sum(h.startswith("@@") for h in shown[str(place.conf)]) > 1)


def test_what_it_writes_is_taken_by_tor_and_by_the_gateway():
    with folder() as where:
        place = Place(where)
        place.setup("--no-start")
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
        place.setup("--no-start")
        before = place.state()
        said = place.setup("--no-start")
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
        postern("setup", *place.unasked(), "--yes", "--no-start", "--torrc",
                place.torrc)
        after = place.state()
        equal(after[2], before[2], "members")
        for old, new in zip(before[:2], after[:2]):
            lines = iter(new.splitlines())
            check(all(line in lines for line in old.splitlines()),
                  f"not in order, or not all: {new}")
        check(after[1].count("listen =") == 1, after[1])
        check("[group members]" not in after[1], after[1])
        check("HiddenServicePort 80 127.0.0.1:9999\n" in after[0], after[0])
        check(after[1].startswith("# mine\n[gateway]\nonion = "),
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


def test_a_flag_against_the_configuration():
    with folder() as where:
        place = Place(where, listen="127.0.0.1:8081")
        place.setup("--no-start")
        before = place.state()
        other = Place(where, listen="127.0.0.1:8082")
        run = subprocess.run([BIN, "setup", *map(str, other.args)],
                             capture_output=True, text=True, check=False)
        equal(run.returncode, 2, run.stdout)
        check("--listen: " in run.stderr and "127.0.0.1:8081" in run.stderr,
              run.stderr)
        equal(place.state(), before)


def test_questions():
    with folder() as where:
        place = Place(where)
        port = free_port()
        t = place.asking("--wait", "0")
        t.hear("Tor's configuration [/etc/tor/torrc]: ")
        t.answer("torrc")
        t.hear("torrc: give the whole path")
        t.hear("]: ")
        t.answer(f"{where}/none/torrc")
        t.hear("there is no such folder")
        t.hear("]: ")
        t.answer(str(place.torrc))
        check("[127.0.0.1:80" in t.hear("]: "), "a port is offered")
        t.answer("99999999")
        t.hear("give an address and a port")
        t.hear("]: ")
        t.answer(str(port))
        t.hear("The member file [/etc/postern/members]: ")
        t.answer(str(place.members))
        shown = t.hear("[Y/n]: ")
        check(f"+HiddenServicePort 80 127.0.0.1:{port}\n" in shown, shown)
        check(f"+members = {place.members}\n" in shown, shown)
        t.answer("n")
        equal(t.end(), 2)
        check("nothing has been changed" in t.said, t.said)
        equal(place.state(), [None, None, None])
        # No answer is no.
        t = place.asking()
        t.hear("]: ")
        os.write(t.fd, b"\x04")
        equal(t.end(), 2)
        check("nothing has been changed" in t.said, t.said)


def test_a_gateway_that_would_not_run_is_not_started():
    with folder() as where, TorLike(where) as tor:
        place = Place(where)
        place.torrc.write_text(f"PidFile {tor}\n")
        place.onion.mkdir()
        (place.onion / "hostname").write_text("not an onion\n")
        run = subprocess.run([BIN, "setup", *map(str, place.args)], check=False,
                             capture_output=True, text=True)
        equal(run.returncode, 2, run.stdout)
        check("hostname: " in run.stdout, run.stdout)
        check("nothing is started" in run.stderr, run.stderr)
        check(not (where / "control").exists())


def test_a_log_that_is_none():
    """The journal's folder is the gateway's user's, who may have put a pipe or
    a link there: root waits for nobody, and writes to nothing of its own."""
    with folder() as where, TorLike(where) as tor:
        place = Place(where, listen=f"127.0.0.1:{free_port()}")
        place.torrc.write_text(f"PidFile {tor}\n")
        place.onion.mkdir()
        (place.onion / "hostname").write_text(f"{ONION}\n")
        log = pathlib.Path(f"{where / 'journal'}.log")
        precious = where / "precious"
        precious.write_text("as it was\n")
        for put in (lambda: os.mkfifo(log), lambda: log.symlink_to(precious),
                    lambda: log.hardlink_to(precious)):
            put()
            run = subprocess.run([BIN, "setup", *map(str, place.args)],
                                 check=False, capture_output=True, text=True,
                                 timeout=30)
            equal(run.returncode, 2, run.stdout)
            check(f"{log}: " in run.stderr, run.stderr)
            equal(precious.read_text(), "as it was\n")
            check(not (where / "control").exists())
            log.unlink()


@contextlib.contextmanager
def TorLike(where):
    """The pid file of a process called tor, which HUP does not hurt."""
    program = where / "tor"
    program.symlink_to("/bin/sleep")
    process = subprocess.Popen(
        [program, "60"], preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN))
    (where / "pid").write_text(f"{process.pid}\n")
    try:
        yield where / "pid"
    finally:
        process.kill()
        process.wait()


def test_all_of_it_from_the_questions_to_the_answering_onion():
    with folder() as where, TorNet(free_port()) as net:
        place = Place(where)
        place.torrc = net.dir / "onion" / "torrc"
        port = free_port()
        t = place.asking("--socks", net.socks, "--wait", "90")
        t.hear("]: ")
        t.answer(str(place.torrc))
        t.hear("]: ")
        t.answer(f"127.0.0.1:{port}")
        t.hear("]: ")
        t.answer(str(place.members))
        t.hear("[Y/n]: ")
        t.answer("")
        said = t.hear("in the background: process ")
        pid = int(t.hear(",")[:-1])
        try:
            t.hear("a member's line", 120)
            t.end()
            onion = (place.onion / "hostname").read_text().strip()
            check(onion != net.onion)
            check("check: 0 errors" in said, said)
            check(f" -g {onion} -m members\n" in t.said, t.said)
            # Once more: nothing changes, and the same gateway runs on.
            before = place.state()
            again = place.setup("--torrc", place.torrc, "--listen",
                                f"127.0.0.1:{port}", "--socks", net.socks,
                                "--wait", "30")
            equal(again.count("nothing to change"), 3, again)
            check("runs already" in again, again)
            equal(place.state(), before)
        finally:
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not os.path.exists(f"/proc/{pid}") or "State:\tZ" in
                   open(f"/proc/{pid}/status").read(), 20, "the gateway ends")


main(globals())
