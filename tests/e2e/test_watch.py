#!/usr/bin/env python3
"""What those who watch a gateway see: the status page in a real browser, the
metrics as Prometheus reads them, the dashboard and the alerts in conf/."""

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import pty
import re
import select
import socket
import struct
import subprocess
import termios
import threading
import time

from lib import (BIN, TOP, Gateway, Server, Vectors, check, echo, equal, folder,
                 free_port, main, stop_accepting, wait_until)

V = Vectors()
CONF = TOP / "conf"


class Watched:
    """A gateway with metrics on TCP, as a browser wants them."""

    def __init__(self):
        self.folder = folder()
        self.where = self.folder.__enter__()
        self.site = Server(echo).__enter__()
        self.port = free_port()
        self.gateway = Gateway(self.where, {
            "gateway": dict(V.gateway),
            "group main": {"members": V.write(self.where), "requests": 4},
            "egress": {"allow": "*", "except": f"127.0.0.1:{self.site.port}"},
            "ledger": {"journal": self.where / "journal"},
            "control": {"socket": self.where / "control"},
            "metrics": {"listen": f"127.0.0.1:{self.port} "
                        f"unix:{self.where / 'metrics.sock'}"},
        })

    def __enter__(self):
        self.gateway.__enter__()
        return self

    def __exit__(self, *what):
        self.gateway.__exit__(*what)
        self.site.__exit__(*what)
        self.folder.__exit__(*what)

    def ask(self, name):
        with self.gateway.client() as c:
            return c.connect(f"127.0.0.1:{self.site.port}",
                             V.token(name)).code

    def get(self, path):
        """Head and body at the metrics listener."""
        with self.gateway.admin() as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            data = b""
            while piece := s.recv(65536):
                data += piece
        head, body = data.decode().split("\r\n\r\n", 1)
        return head, body


def browse(profile, *args):
    return subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
         "--no-first-run", "--disable-sync", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update",
         "--enable-logging=stderr", f"--user-data-dir={profile}", *args],
        capture_output=True, text=True, timeout=60, check=False)


def answered(page):
    """The legend of the first chart, as a map."""
    chart = page[page.index('id="answers"'):page.index('id="verify"')]
    return dict(re.findall(r"</i>([a-z ]+) <b>(\d+)</b>", chart))


def test_the_page_in_a_browser():
    with Watched() as w, folder() as profile:
        equal([w.ask("member 0") for _ in range(6)],
              [200] * 4 + [429] * 2)
        equal(w.ask("other 0"), 407)
        wait_until(lambda: answered(w.get("/")[1])["opened"] == "4", 5)
        head, page = w.get("/")
        # The policy allows what is in the page by its hash, and no more.
        policy = re.search(r"Content-Security-Policy: (.*)\r", head)[1]
        for tag in ("style", "script"):
            text = re.search(f"<{tag}>(.*?)</{tag}>", page, re.S)[1]
            digest = base64.b64encode(
                hashlib.sha256(text.encode()).digest()).decode()
            check(f"{tag}-src 'sha256-{digest}'" in policy, policy)
        check("default-src 'none'" in policy and "unsafe" not in policy)
        # As a browser makes it: the script has run, nothing was refused.
        url = f"http://127.0.0.1:{w.port}/"
        run = browse(profile, "--dump-dom", url)
        check('aria-pressed="false">Pause' in run.stdout,
              run.stdout[-500:] + run.stderr[-2000:])
        check("Refused" not in run.stderr and "violates" not in run.stderr,
              run.stderr)
        equal(answered(run.stdout), {
            "opened": "4", "not proven": "1", "over quota": "2",
            "not allowed": "0", "failed": "0", "malformed": "0"})
        # And with its style: not a white sheet.
        for size, scheme in ("1280,1400", 1), ("500,1400", 0):
            shot = profile / f"{scheme}.png"
            browse(profile, f"--screenshot={shot}", f"--window-size={size}",
                   f"--blink-settings=preferredColorScheme={scheme}", url)
            check(shot.stat().st_size > 30000, shot.stat().st_size)
        for private in (V.nullifier("member 0"), str(w.site.port),
                        V.members[0]):
            check(private not in page, private)


# --- prometheus ---------------------------------------------------------------


def promtool(*args, data=None):
    run = subprocess.run(["promtool", *map(str, args)], input=data, text=True,
                         capture_output=True, timeout=60, check=False)
    equal(run.returncode, 0, run.stdout + run.stderr)
    return run.stdout + run.stderr


def test_prometheus_finds_no_fault():
    with Watched() as w:
        w.ask("member 0")
        head, text = w.get("/metrics")
        check("text/plain; version=0.0.4" in head)
        equal(promtool("check", "metrics", data=text), "")


def test_alerts():
    check("SUCCESS" in promtool("check", "rules", CONF / "alerts.yml"))
    promtool("test", "rules", TOP / "tests/e2e/alerts_test.yml")
    # Each alert is among those that are tested.
    alerts = re.findall(r"alert: (\w+)", (CONF / "alerts.yml").read_text())
    tested = re.findall(r"alertname: (\w+)",
                        (TOP / "tests/e2e/alerts_test.yml").read_text())
    check(len(alerts) > 5)
    equal(set(alerts), set(tested))


def names(text):
    return set(re.findall(r"\bpostern_\w+", text))


def test_dashboard_and_alerts_know_our_metrics():
    with Watched() as w:
        w.ask("member 0")
        text = w.get("/metrics")[1]
    there = {line.split("{")[0].split(" ")[0] for line in text.splitlines()
             if not line.startswith("#")}
    # Those of a gateway with tor, a mixnet, a shared ledger: from the source.
    source = (TOP / "src/daemon/metrics.c").read_text()
    there |= {"postern_" + n for n in re.findall(r'"((?:tor|mix|shared)_\w+)"',
                                                 source)}
    board = json.loads((CONF / "grafana.json").read_text())
    used = set()
    ids = []
    for panel in board["panels"]:
        ids.append(panel["id"])
        check(panel["title"] and panel["gridPos"]["w"] <= 24, panel)
        for target in panel["targets"]:
            found = names(target["expr"])
            check(found, target)
            used |= found
    equal(len(ids), len(set(ids)))
    used |= names((CONF / "alerts.yml").read_text())
    equal(used - there, set())
    # The expressions are ones that Prometheus can read.
    with folder() as where:
        rules = {"groups": [{"name": "board", "rules": [
            {"record": f"a:b{i}", "expr": t["expr"].replace(
                "$__rate_interval", "5m")}
            for i, t in enumerate(t for p in board["panels"]
                                  for t in p["targets"])]}]}
        (where / "rules.yml").write_text(json.dumps(rules))
        check("SUCCESS" in promtool("check", "rules", where / "rules.yml"))


# --- ctl ----------------------------------------------------------------------


def ctl(w, *args, code=0):
    run = subprocess.run([BIN, "ctl", "--socket", str(w.where / "control"),
                          *args], capture_output=True, text=True, timeout=60,
                         check=False)
    equal(run.returncode, code, f"{args}: {run.stdout}{run.stderr}")
    return run.stdout + run.stderr


def test_members_by_ctl():
    """The file is edited as a whole, and the answer comes when it counts."""
    new = V.others[0]
    with Watched() as w:
        V.write(w.where, members=V.members[:7])
        wait_until(lambda: w.gateway.metric("postern_group_members") == 7, 5)
        equal(w.ask("smaller 0"), 200)
        check("main: 8 members" in ctl(w, "members", "add", "main",
                                       V.members[7]))
        equal(w.gateway.metric("postern_group_members", group="main"), 8)
        equal(w.ask("member 0"), 200)
        equal(ctl(w, "members", "list", "main").split(), V.members)
        check("a member already" in ctl(w, "members", "add", "main",
                                        V.members[7], code=1))
        check("no such member" in ctl(w, "members", "remove", "main", new,
                                      code=1))
        check("not a commitment" in ctl(w, "members", "add", "main", "x",
                                        code=2))
        check("no group other" in ctl(w, "members", "list", "other", code=2))
        check("COMMITMENT..." in ctl(w, "members", "dance", "main", code=2))
        ctl(w, "members", "remove", "main", V.members[7])
        equal(w.gateway.metric("postern_group_members", group="main"), 7)
        check(V.members[7] not in w.gateway.log())


def test_a_gateway_makes_no_file():
    """Root edits the file that the gateway names. A gateway that somebody has
    taken over can name any, and has none made by it."""
    with folder() as where:
        door = socket.socket(socket.AF_UNIX)
        path, victim = where / "control", where / "victim"
        door.bind(str(path))
        door.listen()

        def answer():
            with contextlib.suppress(OSError):
                while True:
                    with door.accept()[0] as s:
                        s.recv(4096)
                        s.sendall(json.dumps({
                            "version": 1, "ok": True, "result": {"groups": [
                                {"name": "main", "file": str(file)}]}}
                        ).encode() + b"\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        for file, content in ((victim, None), ("", None), ("victim", None),
                              (victim, "root::0:0::/:\n")):
            if content:
                victim.write_text(content)
            run = subprocess.run(
                [BIN, "ctl", "--socket", path, "members", "add", "main", "5"],
                capture_output=True, text=True, timeout=20, cwd=where)
            equal(run.returncode, 2, run.stderr)
            check(("no file" in run.stderr) == (content is None), run.stderr)
            equal(victim.exists() and victim.read_text(), content or False)
        stop_accepting(door, thread)


def test_epoch_journal_and_level():
    with Watched() as w:
        w.ask("member 0")
        epoch = json.loads(ctl(w, "--json", "epoch"))["result"]
        check(epoch["begins"] <= time.time() < epoch["ends"], epoch)
        equal(epoch["nullifiers"], 1)
        check("nullifiers  1" in ctl(w, "epoch"))
        check("well" in ctl(w, "journal", "check"))
        before = json.loads(ctl(w, "--json", "journal", "check"))["result"]
        ctl(w, "journal", "compact")
        wait_until(lambda: json.loads(ctl(w, "--json", "journal", "check"))
                   ["result"]["compactions"] > before["compactions"], 10)
        check("journal check, or" in ctl(w, "journal", "burn", code=1))
        equal(w.ask("member 0"), 200)  # counts are all there
        equal([w.ask("member 0") for _ in range(3)], [200, 200, 429])
        ctl(w, "log", "level", "error")
        equal(json.loads(ctl(w, "--json", "status"))["result"]["log_level"],
              "error")
        check("too many words" in ctl(w, "log", "level", "x", "y", code=2))


def test_journal_check_reads_the_disk():
    with Watched() as w:
        for _ in range(3):
            equal(w.ask("member 0"), 200)
            wait_until(lambda: w.gateway.metric(
                "postern_journal_unsynced_records") == 0, 5)
        check("every record holds" in ctl(w, "journal", "check"))
        with open(w.where / "journal", "r+b") as f:
            f.seek(4096 + 20)
            byte = f.read(1)[0]
            f.seek(4096 + 20)
            f.write(bytes([byte ^ 1]))
        check("damaged after 0 records" in ctl(w, "journal", "check", code=1))
        # What is in memory is right, and mends it.
        ctl(w, "journal", "compact")
        wait_until(lambda: subprocess.run(
            [BIN, "ctl", "--socket", str(w.where / "control"), "journal",
             "check"], capture_output=True, timeout=20,
            check=False).returncode == 0, 10)
        equal([w.ask("member 0") for _ in range(2)], [200, 429])


def test_top():
    with Watched() as w:
        equal([w.ask("member 0") for _ in range(5)], [200] * 4 + [429])
        said = ctl(w, "top", "--once")
        check(re.search(r"opened +4 \[#+-*\]", said), said)
        check(re.search(r"over quota +1 \[", said), said)
        check(re.search(r"75-100 % +1 \[", said), said)
        check("\033" not in said)
        check("wants a terminal" in ctl(w, "top", code=2))
        # On a terminal: drawn to its size, anew when that changes, until q.
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(BIN, [BIN, "ctl", "--socket", str(w.where / "control"),
                           "top"])
        size(fd, 10, 40)
        shown = read_until(fd, "q ends")
        check(shown.startswith("\033[?1049h"), shown)
        size(fd, 40, 100)
        shown = read_until(fd, "75-100 %")
        os.write(fd, b"q")
        shown = read_until(fd, "\033[?1049l")
        equal(os.waitpid(pid, 0)[1], 0)
        os.close(fd)


def size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))


def read_until(fd, text):
    shown = ""
    end = time.monotonic() + 10
    while text not in shown and time.monotonic() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                shown += os.read(fd, 65536).decode()
            except OSError:
                break
    check(text in shown, repr(shown))
    return shown


main(globals())
