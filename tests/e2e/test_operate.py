#!/usr/bin/env python3
"""What an operator does with a gateway: start it, change it, ask it, and read
its log, which names nobody."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import time

from lib import (BIN, TOP, Client, Gateway, NameServer, Server, Vectors, check,
                 echo, equal, folder, free_port, main, postern, token_of,
                 wait_until)

V = Vectors()


def configuration(where, *ports, **more):
    config = {
        "gateway": dict(V.gateway),
        "group main": {"members": V.write(where), "requests": 100},
        "egress": {"allow": "*", "except": [f"127.0.0.1:{p}" for p in ports]},
        "ledger": {"journal": where / "journal"},
        "control": {"socket": where / "control"},
    }
    for section, keys in more.items():
        config.setdefault(section.replace("_", " "), {}).update(keys)
    return config


@contextlib.contextmanager
def gate(**more):
    with folder() as where, Server(echo) as site:
        with Gateway(where, configuration(where, site.port, **more)) as g:
            g.where, g.site = where, site
            yield g, f"127.0.0.1:{site.port}"
            equal(g.stop(), 0, "exit code")


def ask(g, target, name):
    with g.client() as c:
        return c.connect(target, V.token(name)).code


def loaded(g):
    return g.log().count("members_loaded")


def ctl(g, *args, code=0):
    run = subprocess.run([BIN, "ctl", "--socket", str(g.where / "control"),
                          *args], capture_output=True, text=True, timeout=20)
    equal(run.returncode, code, f"{args}: {run.stderr}")
    return run.stdout + run.stderr


# --- members ------------------------------------------------------------------


def test_members_come_and_go_by_themselves():
    """The file is replaced; nobody is told; a former root holds for a time."""
    with gate(gateway={"root_lifetime": "2s"}) as (g, target):
        equal(ask(g, target, "member 0"), 200)
        equal(ask(g, target, "smaller 0"), 407)
        before = loaded(g)
        V.write(g.where, members=V.members[:7])
        wait_until(lambda: loaded(g) > before, 5, "the new list is read")
        changed = time.monotonic()
        equal(ask(g, target, "smaller 0"), 200)
        # Made just before the change: good for two seconds more.
        equal(ask(g, target, "member 0"), 200)
        equal(ask(g, target, "member 7"), 200)
        with g.client() as c:
            roots = c.get("/.well-known/postern").json()["roots"]
            equal([r["current"] for r in roots], [True, False])
        time.sleep(max(0, changed + 2.3 - time.monotonic()))
        equal(ask(g, target, "member 7"), 407)
        equal(ask(g, target, "smaller 0"), 200)


def test_out_at_once():
    with gate(gateway={"root_lifetime": 0}) as (g, target):
        equal(ask(g, target, "member 7"), 200)
        before = loaded(g)
        V.write(g.where, members=V.members[:7])
        wait_until(lambda: loaded(g) > before, 5)
        equal(ask(g, target, "member 7"), 407)
    with gate() as (g, target):  # or when the operator says so
        before = loaded(g)
        V.write(g.where, members=V.members[:7])
        wait_until(lambda: loaded(g) > before, 5)
        equal(ask(g, target, "member 7"), 200)
        ctl(g, "expel", "main")
        equal(ask(g, target, "member 7"), 407)
        equal(ask(g, target, "smaller 0"), 200)


def test_a_broken_file_keeps_the_old_members():
    with gate() as (g, target):
        for content, line, words in (
                ("\n".join(V.members[:3]) + "\n12x\n", 4, ""),
                ("\n".join(V.members + V.members[:1]) + "\n", 9, "line 1"),
                ("1\n0\n", 2, "")):
            count = g.log().count("members_broken")
            (g.where / "members").write_text(content)
            wait_until(lambda: g.log().count("members_broken") > count, 5)
            said = [line for line in g.log().splitlines()
                    if "members_broken" in line][-1]
            check(f"line={line}" in said and words in said, said)
            equal(ask(g, target, "member 0"), 200)
            equal(g.metric("postern_group_healthy", group="main"), 0)
        (g.where / "members").unlink()
        wait_until(lambda: "No such file" in g.log(), 5)
        equal(ask(g, target, "member 0"), 200)
        V.write(g.where)
        wait_until(lambda: g.metric("postern_group_healthy", group="main")
                   == 1, 5)


def test_an_empty_file_throws_nobody_out():
    with gate() as (g, target):
        for nothing in ("", "# soon\n"):
            count = g.log().count("members_broken")
            (g.where / "members").write_text(nothing)
            wait_until(lambda: g.log().count("members_broken") > count, 5)
            check("nobody is in it any more" in g.log())
            equal(ask(g, target, "member 0"), 200)
            equal(g.metric("postern_group_healthy", group="main"), 0)
        g.send_signal(signal.SIGHUP)
        wait_until(lambda: g.log().count("reload") > 0, 5)
        equal(ask(g, target, "member 0"), 200)
        V.write(g.where)
        wait_until(lambda: g.metric("postern_group_healthy", group="main")
                   == 1, 5)


def test_a_file_that_anyone_may_write_is_refused():
    with gate() as (g, target):
        os.chmod(g.where / "members", 0o666)
        wait_until(lambda: "anyone may write" in g.log(), 5)
        equal(ask(g, target, "member 0"), 200)
        os.chmod(g.where / "members", 0o644)
        wait_until(lambda: g.metric("postern_group_healthy", group="main")
                   == 1, 5)


def test_few_members_are_warned_of():
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port)
        V.write(where, members=V.members[:3])
        with Gateway(where, config) as g:
            check("members_few" in g.log())
        config["gateway"]["anonymity_floor"] = 3
        before = g.log().count("members_few")
        with Gateway(where, config) as g:
            equal(g.log().count("members_few"), before)


# --- reload -------------------------------------------------------------------


def reload(g, word="reloaded"):
    before = g.log().count(word)
    g.write()
    g.send_signal(signal.SIGHUP)
    wait_until(lambda: g.log().count(word) > before, 5, word)


def test_a_reload_takes_all_over_in_one_step():
    with gate() as (g, target):
        equal(ask(g, target, "other 0"), 407)
        with g.client() as c:
            equal(c.connect(target, V.token("member 0")).code, 200)
            g.config["group others"] = {
                "members": V.write(g.where, "others", V.others),
                "requests": 1}
            g.config["egress"]["deny"] = "*"
            reload(g)
            c.send(b"still")  # open tunnels do not notice
            equal(c.read(5), b"still")
        equal(ask(g, target, "other 0"), 200)
        equal(ask(g, target, "other 0"), 429)
        # A group that is gone is nobody's.
        del g.config["group others"]
        reload(g)
        equal(ask(g, target, "other 0"), 407)
        equal(g.metric("postern_reloads_total"), 2)


def test_a_bad_configuration_keeps_the_old():
    with gate() as (g, target):
        good = json.dumps({s: {k: str(v) for k, v in keys.items()}
                           for s, keys in g.config.items()})
        g.config["gateway"]["slots"] = "many"
        g.config["egress"]["ports"] = "http"
        reload(g, "reload_failed")
        said = g.log()
        check(re.search(r'finding.*postern\.conf:\d+.*slots', said))
        check(re.search(r'finding.*postern\.conf:\d+.*ports', said))
        equal(ask(g, target, "member 0"), 200)
        equal(g.metric("postern_reload_failures_total"), 1)
        g.config = json.loads(good)
        g.config["egress"]["except"] = target
        reload(g)
        equal(ask(g, target, "member 0"), 200)


def test_a_reload_that_comes_too_early_waits():
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port)
        with Gateway(where, config, wait=False) as g:
            while "starting" not in g.log():  # a moment later is too late
                equal(g.process.poll(), None)
            g.send_signal(signal.SIGHUP)
            wait_until(lambda: "ready:" in g.log(), 20)
            wait_until(lambda: " reloaded:" in g.log(), 10)
            equal(g.stop(), 0)


def test_what_needs_a_restart_says_so():
    with gate() as (g, target):
        g.config["limits"] = {"sessions": 77}
        reload(g)
        check("limits.sessions changes with a restart only" in g.log())
        equal(g.metric("postern_sessions_max"), 4096)


def test_many_reloads_under_load():
    with gate() as (g, target), g.client() as c:
        equal(c.connect(target, V.token("member 0")).code, 200)
        for i in range(40):
            V.write(g.where, members=V.members[:7] if i % 2 else V.members)
            g.send_signal(signal.SIGHUP)
            c.send(b"x%d" % i)
            equal(c.read(len(b"x%d" % i)), b"x%d" % i)
            equal(ask(g, target, "member 1"), 200)
        wait_until(lambda: g.metric("postern_reloads_total") >= 1)
        equal(ask(g, target, "member 2"), 200)
        equal(g.metric("postern_reload_failures_total"), 0)


# --- start --------------------------------------------------------------------


def start_fails(where, config):
    g = Gateway(where, config, wait=False)
    g.write()
    return g


def run_to_the_end(g, *args):
    run = subprocess.run([BIN, "run", "-c", str(g.file), *args],
                         capture_output=True, text=True, timeout=20)
    return run.returncode, run.stderr


def test_unsafe_files_stop_it():
    with folder() as where, Server(echo) as site:
        g = start_fails(where, configuration(where, site.port))
        os.chmod(g.file, 0o666)
        code, said = run_to_the_end(g)
        equal(code, 2)
        check("anyone may write to it (chmod o-w)" in said, said)
        os.chmod(g.file, 0o644)
        os.chmod(where / "members", 0o666)
        code, said = run_to_the_end(g)
        equal(code, 2)
        check("members: error: anyone may write" in said, said)
        os.chmod(where / "members", 0o644)
        (where / "password").write_text("secret\n")
        os.chmod(where / "password", 0o644)
        g.config["tor"] = {"control": "127.0.0.1:1",
                           "password_file": where / "password"}
        g.config["gateway"]["proxy_line"] = "required"
        g.write()
        run = subprocess.run([BIN, "check", "-c", str(g.file)],
                             capture_output=True, text=True, timeout=20)
        equal(run.returncode, 1)
        check("others may read it" in run.stdout, run.stdout)


def test_faults_are_told_with_line_and_cure():
    with folder() as where, Server(echo) as site:
        g = start_fails(where, configuration(where, site.port))
        text = g.file.read_text()
        g.file.write_text(text + "[limits]\nattempts = none\n[run]\nusr = x\n")
        lines = g.file.read_text().splitlines()
        code, said = run_to_the_end(g)
        equal(code, 2)
        for what, words in (("attempts = none", "give 1 to 1000"),
                            ("usr = x", "did you mean user?")):
            line = lines.index(what) + 1
            check(re.search(rf"{g.file}:{line}: error: .*{re.escape(words)}",
                            said), said)
        g.file.write_text(text)
        code, said = run_to_the_end(g, "--set", "gateway.epoch=1x")
        equal(code, 2)
        check("command line: error: epoch" in said, said)


def test_an_address_in_use():
    with gate() as (g, target):
        other = g.where / "other"
        other.mkdir()
        config = configuration(other)
        config["gateway"]["listen"] = f"127.0.0.1:{g.port}"
        second = start_fails(other, config)
        code, said = run_to_the_end(second)
        equal(code, 2)
        check("can not listen" in said and "another gateway" in said, said)


def test_start_with_ten_thousand_members_is_quick():
    many = V.members + [str(10 ** 70 + i) for i in range(10000)]
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port)
        V.write(where, members=many)
        times = []
        for _ in range(5):
            g = Gateway(where, config, wait=False)
            started = time.monotonic()
            g.start()
            while True:
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", g.port)).close()
                    break
                time.sleep(0.001)
            times.append(time.monotonic() - started)
            equal(g.stop(), 0)
        print(f"    open after {min(times) * 1000:.0f} ms")
        # The figure is for people, 100 ms the aim: machines differ. What
        # would be wrong on any is to wait for all 32 keys before opening.
        check(min(times) < 5, times)


def keys_of(text):
    """The keys that an INI text sets or, commented out, shows."""
    keys, section = set(), ""
    for line in text.splitlines():
        if match := re.fullmatch(r"\s*#?\[(\w+)(?: \w+)?\]", line):
            section = match[1]
        elif match := re.fullmatch(r"\s*#?([a-z0-9_]+) =.*", line):
            keys.add(f"{section}.{match[1]}")
    return keys


def test_the_pages_name_the_keys_that_there_are():
    helped = set(re.findall(r"^  ([a-z]+\.[a-z0-9_]+) = ",
                            postern("run", "--help"), re.M))
    check(len(helped) > 50, helped)
    conf = keys_of((TOP / "conf/postern.conf").read_text())
    equal(conf ^ helped, set(), "keys that only one of conf and --help has")
    readme = re.search(r"```\n(   \[gateway\]\n.*?)```",
                       (TOP / "README.md").read_text(), re.S)[1]
    shown = keys_of(readme)
    check("gateway.listen" in shown and "group.members" in shown, shown)
    equal(shown - helped, set(), "keys that only the README has")


def test_keys_of_ones_own():
    """A key takes the place of the official one of its depth, and no other."""
    vectors = TOP / "tests/vectors"
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port)
        target = f"127.0.0.1:{site.port}"
        config["gateway"]["keys"] = f"1:{vectors / 'vkey-1.json'}"
        with Gateway(where, config) as g:
            equal(ask(g, target, "member 0"), 200)
        # The proofs here are of depth 3: with another key they do not hold.
        config["gateway"]["keys"] = f"3:{vectors / 'vkey-20.json'}"
        with Gateway(where, config) as g:
            equal(ask(g, target, "member 0"), 407)
        key = json.loads((vectors / "vkey-20.json").read_text())
        key["vk_gamma_2"][0][0] = "17"
        (where / "key").write_text(json.dumps(key))
        config["gateway"]["keys"] = f"3:{where / 'key'}"
        g = start_fails(where, config)
        code, said = run_to_the_end(g)
        equal(code, 2)
        check("vk_gamma_2" in said and "postern.conf:" in said, said)
        check(finds(run_check(g), "error", "postern.conf:", "vk_gamma_2"))


def test_overrides_and_users():
    if os.geteuid() != 0:
        print("    not root: users are not tried")
        return
    with folder() as where, Server(echo) as site:
        os.chmod(where, 0o755)
        state = where / "state"
        state.mkdir()
        nobody = pwd.getpwnam("nobody")
        os.chown(state, nobody.pw_uid, nobody.pw_gid)
        config = configuration(where, site.port)
        config["ledger"]["journal"] = state / "journal"
        config["control"]["socket"] = state / "control"
        config["run"] = {"user": "nobody"}
        config["metrics"] = {"listen": f"unix:{state}/metrics"}
        g = Gateway(where, config)
        g.metrics_socket = state / "metrics"
        with g:
            with open(f"/proc/{g.process.pid}/status") as f:
                status = f.read()
            check(re.search(rf"^Uid:(\s+{nobody.pw_uid}){{4}}$", status, re.M))
            check(re.search(r"^NoNewPrivs:\s+1$", status, re.M))
            equal(ask(g, f"127.0.0.1:{site.port}", "member 0"), 200)
            equal(g.stop(), 0)


def test_a_check_with_the_eyes_of_the_gateways_user():
    if os.geteuid() != 0:
        print("    not root: users are not tried")
        return
    with folder() as where, Server(echo) as site:
        os.chmod(where, 0o755)
        config = configuration(where, site.port)
        g = Gateway(where, config)
        g.write()
        members = pathlib.Path(config["group main"]["members"])
        os.chmod(members, 0o600)
        check(not finds(run_check(g), "error", str(members), ""))
        theirs = run_check(g, "--user", "nobody")
        check(finds(theirs, "error", str(members), "Permission denied"), theirs)
        check(finds(theirs, "error", "postern.conf:", "can not be written"))
        check(finds(theirs, "note", "postern.conf", "as the user nobody"))
        check(finds(run_check(g, "--user", "nobody-there"), "error",
                    "postern.conf", "there is none"))


# --- ask ----------------------------------------------------------------------


def test_ctl():
    with gate() as (g, target):
        equal(ask(g, target, "member 0"), 200)
        status = json.loads(ctl(g, "--json", "status"))
        equal((status["version"], status["ok"]), (1, True))
        result = status["result"]
        equal((result["phase"], result["ready"]), ("open", True))
        equal(result["groups"][0]["members"], 8)
        equal(result["answers"], {"ok": 1})
        check("open" in ctl(g, "status"))
        equal(ctl(g, "log", "error"), "done\n")
        check("debug" not in json.loads(ctl(g, "--json", "status"))
              ["result"]["log_level"])
        said = ctl(g, "dance", code=2)
        check("no such command" in said and "status, reload" in said, said)
        said = ctl(g, "expel", code=2)
        check("expel GROUP: " in said, said)
        said = ctl(g, "expel", "nobodies", code=2)
        check("no group nobodies (it has main)" in said, said)
        check("a level is" in ctl(g, "log", "loud", code=1))
        check("log LEVEL: " in ctl(g, "log", code=2))
        ctl(g, "log", "debug")
        ctl(g, "reload")
        wait_until(lambda: "reloaded" in g.log())
        # A bad configuration is said at once, to who asked.
        g.config["limits"] = {"attempts": "x"}
        g.write()
        said = ctl(g, "reload", code=1)
        check("attempts" in said and "postern.conf:" in said, said)
        equal(os.stat(g.where / "control").st_mode & 0o777, 0o600)
        ctl(g, "drain")
        equal(g.process.wait(5), 0)
    run = subprocess.run([BIN, "ctl", "--socket", "/nowhere/x", "status"],
                         capture_output=True, text=True, timeout=20)
    equal(run.returncode, 2)
    check("is the gateway running" in run.stderr)


def test_ctl_requests_of_any_kind():
    """The socket is spoken to by programs too."""
    with gate() as (g, _):
        def say(data):
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(5)
                s.connect(str(g.where / "control"))
                answer = b""
                try:
                    s.sendall(data)
                    while b"\n" not in answer:
                        more = s.recv(65536)
                        if not more:
                            return None
                        answer += more
                except ConnectionError:  # closed before it took all
                    return None
                return json.loads(answer)
        for bad in (b"\n", b"{}\n", b"[]\n", b"status\n", b"\xff\xfe\n",
                    b'{"version":2,"command":"status"}\n',
                    b'{"version":1,"command":7}\n',
                    b'{"version":1,"version":1,"command":"status"}\n',
                    b'{"version":1,"command":"log","argument":[]}\n'):
            said = say(bad)
            equal((said["ok"], said["version"]), (False, 1), str(bad))
        equal(say(b"x" * 100000 + b"\n"), None)
        # Several on one connection.
        line = b'{"version":1,"command":"status"}\n'
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(5)
            s.connect(str(g.where / "control"))
            s.sendall(line * 3)
            f = s.makefile()
            for _ in range(3):
                equal(json.loads(f.readline())["ok"], True)


def test_metrics_and_health():
    with gate() as (g, target):
        equal(g.http("/healthz"), (200, "ok\n"))
        equal(g.http("/readyz"), (200, "ready\n"))
        equal(g.http("/nothing")[0], 404)
        equal(ask(g, target, "member 0"), 200)
        equal(ask(g, target, "past"), 407)
        wait_until(lambda: g.metric("postern_sessions") == 0)
        equal(g.metric("postern_requests_total", status="ok"), 1)
        equal(g.metric("postern_requests_total", status="epoch_past"), 1)
        equal(g.metric("postern_verify_seconds_count"), 1)
        equal(g.metric("postern_connect_seconds_count"), 1)
        equal(g.metric("postern_group_members", group="main"), 8)
        equal(g.metric("postern_ledger_entries"), 1)
        equal(g.metric("postern_journal_healthy"), 1)
        # Odd clients of it do no harm.
        for data in (b"POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\n",
                     b"GET /metrics", b"x" * 10000):
            with g.admin() as s:
                with contextlib.suppress(OSError):
                    s.sendall(data)
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(65536):
                        pass
        equal(g.http("/healthz"), (200, "ok\n"))


def test_nobody_holds_the_operators_doors():
    """Connections that say nothing keep out neither the monitoring nor the
    operator."""
    with gate() as (g, _), contextlib.ExitStack() as stack:
        for path in (g.metrics_socket, g.where / "control"):
            held = [stack.enter_context(socket.socket(socket.AF_UNIX))
                    for _ in range(100)]
            for s in held:
                s.connect(str(path))
            equal(g.http("/healthz"), (200, "ok\n"))
            check("open" in ctl(g, "status"))
            held[0].settimeout(5)
            equal(held[0].recv(1), b"")  # it has made room


def test_not_ready_without_members():
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port)
        (where / "members").write_text("# nobody yet\n")
        g = Gateway(where, config, wait=False)
        with g:
            wait_until(lambda: reachable(g), 10)
            wait_until(lambda: g.http("/readyz") ==
                       (503, "no group has members\n"), 10)
            V.write(where)
            wait_until(lambda: g.http("/readyz")[0] == 200, 5)
            equal(g.stop(), 0)


def reachable(g):
    with contextlib.suppress(OSError):
        return g.http("/healthz")[0] == 200
    return False


# --- check --------------------------------------------------------------------


def run_check(g, *args):
    run = subprocess.run([BIN, "check", "-c", str(g.file), "--json", *args],
                         capture_output=True, text=True, timeout=30)
    said = json.loads(run.stdout)
    equal(run.returncode, 0 if said["ok"] else 1)
    return said


def finds(said, severity, where, what):
    return any(f["severity"] == severity and where in f["where"] and
               what in f["what"] for f in said["findings"])


def test_check_finds_everything_at_once():
    with folder() as where, Server(echo) as site, \
            NameServer({"www.iana.org": ["192.0.43.8"]}) as dns:
        config = configuration(where, site.port,
                               egress={"dns": f"127.0.0.1:{dns.port}"})
        g = start_fails(where, config)
        said = run_check(g)
        check(said["ok"], said)
        # All of these at once.
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            g.config["gateway"]["listen"] = \
                f"127.0.0.1:{taken.getsockname()[1]}"
            g.config["gateway"]["onion"] = where / "hostname"
            g.config["group two"] = {"members": where / "two", "requests": 1}
            V.write(where, "two")
            g.config["group three"] = {"members": where / "none",
                                       "requests": 1}
            g.config["control"]["socket"] = where / "no/control"
            g.config["ledger"]["journal"] = where / "no/journal"
            g.write()
            (where / "hostname").write_text("not an onion\n")
            said = run_check(g)
            for severity, place, what in (
                    ("error", "postern.conf", "hostname"),
                    ("error", "two", "exactly the same members"),
                    ("error", "none", "No such file"),
                    ("error", "postern.conf:", "can not listen"),
                    ("error", "postern.conf:", "/no can not be written")):
                check(finds(said, severity, place, what),
                      f"{what} in {said['findings']}")
            check(all(f["cure"] for f in said["findings"]
                      if f["severity"] == "error"), said)
            # Those of the configuration do not hide those of the machine.
            g.config["limits"] = {"attempts": "many"}
            g.config["tor"] = {"control": f"127.0.0.1:{free_port()}"}
            g.write()
            said = run_check(g)
            for severity, place, what in (
                    ("error", "postern.conf:", "attempts"),
                    ("error", "two", "exactly the same members"),
                    ("warning", "postern.conf:", "tor does not answer")):
                check(finds(said, severity, place, what),
                      f"{what} in {said['findings']}")


def test_check_is_a_doctor():
    with folder() as where, Server(echo) as site, \
            NameServer({"www.iana.org": ["192.0.43.8"]}) as dns:
        config = configuration(where, site.port,
                               egress={"dns": f"127.0.0.1:{dns.port}"})
        g = start_fails(where, config)
        old = time.time() - 200 * 86400
        os.utime(where / "members", (old, old))
        said = run_check(g)
        check(finds(said, "note", "members", "the same for 200 days"), said)
        strict = [BIN, "check", "-c", str(g.file), "--strict"]
        V.write(where, members=V.members[:3])
        check(finds(run_check(g), "warning", "members", "has 3 members"))
        equal(subprocess.run(strict, timeout=30, check=False,
                             capture_output=True).returncode, 3)
        # What is no file has another cure than a mode.
        run = subprocess.run([BIN, "check", "-c", "/dev/null"], timeout=30,
                             capture_output=True, text=True, check=False)
        equal(run.returncode, 1)
        check("not a plain file (name the configuration" in run.stdout)


def test_check_reads_torrc():
    from lib import onion_name
    with folder() as where, Server(echo) as site:
        config = configuration(where, site.port)
        hidden = where / "hidden"
        hidden.mkdir()
        (hidden / "hostname").write_text(onion_name()[0] + "\n")
        port = free_port()
        config["gateway"].update(onion=hidden / "hostname",
                                 proxy_line="required",
                                 listen=f"127.0.0.1:{port}")
        g = start_fails(where, config)
        torrc = where / "torrc"
        for lines, severity, what in (
                ("", "warning", "no HiddenServiceDir"),
                (f"HiddenServiceDir {hidden}/\nHiddenServicePort 80 "
                 "127.0.0.1:1\n", "error", "leads to gateway.listen"),
                (f"HiddenServiceDir {hidden}\nHiddenServicePort 80 {port}\n",
                 "error", "tor sends no such line"),
                (f"HiddenServiceDir {hidden}\nHiddenServicePort 80 {port}\n"
                 "HiddenServiceExportCircuitID haproxy\n"
                 "VanguardsLiteEnabled 0\n", "warning", "finds its guard"),
                (f"HiddenServiceDir {hidden}\nHiddenServicePort 80 {port}\n"
                 "HiddenServiceExportCircuitID haproxy\n", "note",
                 "proof-of-work")):
            torrc.write_text("# tor\n" + lines)
            said = run_check(g, "--torrc", str(torrc))
            check(finds(said, severity, "torrc", what),
                  f"{what} in {said['findings']}")
        check(said["ok"], said)
        # The other way round: tor sends it and nobody wants it.
        g.config["gateway"]["proxy_line"] = "off"
        g.write()
        said = run_check(g, "--torrc", str(torrc))
        check(finds(said, "error", "torrc:4", "proxy_line is off"), said)


def test_check_beside_a_running_gateway():
    with gate() as (g, _):
        said = run_check(g)
        check(said["ok"], said)
        check(finds(said, "note", "control", "is running"), said)


# --- tor ----------------------------------------------------------------------


class OfflineTor:
    """A real tor that makes no connection, for its control port."""

    def __init__(self, where):
        self.where = where
        self.control = where / "control.sock"
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            ["tor", "-f", "/dev/null", "--quiet", "--ignore-missing-torrc",
             "--DataDirectory", str(self.where / "data"), "--SocksPort", "0",
             "--DisableNetwork", "1", "--ControlSocket",
             f"unix:{self.control}", "--CookieAuthentication", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.control.exists, 20, "tor's control socket")

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.control.unlink(missing_ok=True)


def test_tors_control_port():
    """Its state is known, its loss and its restart are noticed, and the gateway
    needs neither."""
    with folder() as where, Server(echo) as site:
        os.chmod(where, 0o700)
        tor = OfflineTor(where)
        tor.start()
        try:
            config = configuration(
                where, site.port, tor={"control": f"unix:{tor.control}"},
                gateway={"proxy_line": "required"},
                limits={"circuit_failures": 1})
            with Gateway(where, config) as g:
                g.where = where
                wait_until(lambda: g.metric("postern_tor_up") == 1, 20, "up")
                check("tor_connected" in g.log())
                said = json.loads(ctl(g, "--json", "status"))["result"]["tor"]
                equal(said["up"], True)
                check(re.match(r"0\.4\.", said["version"]), said)
                check("tor         up" in ctl(g, "status"))
                said = run_check(g)
                check(said["ok"] and not finds(said, "warning", "", "tor"),
                      said)

                def on(circuit, token):
                    with g.client() as c:
                        c.send(f"PROXY TCP6 fc00:dead:beef:4dad::0:"
                               f"{circuit:x} ::1 {circuit} 80\r\n")
                        return c.connect(f"127.0.0.1:{site.port}", token)
                # A circuit that is cut off is told to tor as well.
                forged = token_of(dict(V.proof("member 0"),
                                       nullifier=V.nullifier("member 1")))
                equal([on(5, forged).code for _ in range(3)], [407, 407, 429])
                check("circuit_closed" in g.log())  # as far as we can do
                tor.stop()
                wait_until(lambda: g.metric("postern_tor_up") == 0, 10, "down")
                check("tor_lost" in g.log())
                equal(on(6, V.token("member 0")).code, 200)
                tor.start()
                wait_until(lambda: g.metric("postern_tor_up") == 1, 20, "up")
                wait_until(lambda: "tor_restarted" in g.log(), 5)
                # Number 5 is somebody else now.
                equal(on(5, V.token("member 1")).code, 200)
                equal(g.stop(), 0)
        finally:
            tor.stop()


# --- the log ------------------------------------------------------------------


def test_the_log_names_nobody():
    """At debug, in both formats, after everything that can be done here."""
    names = {"secret-site.example": ["127.0.0.1"], "dead.example": "servfail",
             "inner.example": ["10.1.2.3"]}
    for form in ("plain", "json"):
        with NameServer(names) as dns, gate(
                gateway={"proxy_line": "required", "publish_members": "on"},
                egress={"dns": f"127.0.0.1:{dns.port}", "literals": "on"},
                limits={"circuit_failures": 1},
                log={"format": form}) as (g, target):
            port = target.split(":")[1]
            g.config["egress"].update(allow=".example",
                                      ports=f"443 {port}")
            reload(g)
            hosts = [f"secret-site.example:{port}", "dead.example:443",
                     "inner.example:443", "missing.example:443",
                     "forbidden.test:443", "192.0.2.77:443",
                     "[2001:db8::77]:443", "evil\\x1b[31m.example:443"]
            peers = []
            for i, host in enumerate(hosts):
                c = g.client()
                peers.append(c.sock.getsockname()[1])
                c.send(f"PROXY TCP6 fc00:dead:beef:4dad::{i + 7:x}:beef ::1 "
                       f"48879 80\r\n")
                with contextlib.suppress(ConnectionError):
                    c.connect(host, V.token(f"member {i % 8}"))
                    c.send(b"some private bytes")
                c.sock.close()
            forged = token_of(dict(V.proof("member 0"),
                                   nullifier=V.nullifier("member 1")))
            for _ in range(3):
                with g.client() as c, contextlib.suppress(ConnectionError):
                    c.send("PROXY TCP6 fc00:dead:beef:4dad::abcd:1234 ::1 "
                           "4660 80\r\n")
                    c.connect(hosts[0], forged)
                    c.connect(hosts[0], forged)
            with g.client() as c, contextlib.suppress(ConnectionError):
                c.send("GET /secret-path?q=secret-query HTTP/1.1\r\n"
                       "Host: x\r\n\r\n")
                c.read_all()
            V.write(g.where, members=V.members[:7])
            wait_until(lambda: loaded(g) >= 3, 5)
            g.stop()
            log = g.log()
            check(len(log.splitlines()) > 30, "a debug log says something")
            for word in ([h.split(":")[0].strip("[") for h in hosts] +
                         [V.nullifier(f"member {i}") for i in range(8)] +
                         [V.token("member 0")[:20], forged[:20]] +
                         ["secret-path", "secret-query", "private bytes",
                          "fc00:", "beef", "abcd", "2882343476", "10.1.2.3",
                          "0x", "2001:db8"] +
                         V.members + [str(i + 7 << 16 | 0xbeef)
                                      for i in range(8)]):
                check(word not in log, f"{word} in the log")
            numbers = set(re.findall(r"\d+", re.sub(
                r"\d{4}-\d\d-\d\dT[\d:]+Z", "", log)))
            for peer in peers + [int(port)]:
                check(str(peer) not in numbers, f"port {peer} in the log")
            if form == "json":
                for line in log.splitlines():
                    if not line.startswith("20"):  # before the format was set
                        json.loads(line)


def test_syslog():
    """What the machine's logger gets, where it has none that would mind."""
    if os.path.exists("/dev/log") or os.geteuid() != 0:
        print("    there is a logger here, or we are not root: not tried")
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind("/dev/log")
        try:
            s.settimeout(5)
            with gate(log={"target": "syslog"}) as (g, target):
                ask(g, target, "member 0")
                said = b""
                while b"tunnel_opened" not in said:
                    said = s.recv(4096)
                check(re.match(rb"<31>.* postern\[\d+\]: debug tunnel_opened:",
                               said), said)  # daemon.debug
                s.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        check(V.nullifier("member 0").encode()
                              not in s.recv(4096))
                check("tunnel_opened" not in g.log())
                s.settimeout(5)
        finally:
            os.unlink("/dev/log")


def test_a_log_that_nobody_reads_stops_nobody():
    with folder() as where, Server(echo) as site:
        g = Gateway(where, configuration(where, site.port))
        g.write()
        g.process = subprocess.Popen([BIN, "run", "-c", str(g.file)],
                                     stderr=subprocess.PIPE)
        try:
            wait_until(g.ready, 20, "ready")
            for _ in range(120):  # more than the 64 KiB of a pipe
                with g.client() as c:
                    for _ in range(8):
                        equal(c.connect("a.example:443").code, 407)
            for _ in range(10):
                equal(ask(g, f"127.0.0.1:{site.port}", "member 0"), 200)
            g.send_signal(signal.SIGTERM)
            g.process.wait(5)
        finally:
            g.kill()
            g.process.stderr.close()


def test_events_are_those_of_the_table():
    """Each line is a known event with fields key=value."""
    with gate() as (g, target):
        ask(g, target, "member 0")
        g.stop()
        for line in g.log().splitlines():
            check(re.fullmatch(
                r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ '
                r'(error|warning|notice|info|debug) [a-z_]+: [^="]+'
                r'( [a-z_]+=("[^"]*"|[^ "=]+))*', line), line)


main(globals())
