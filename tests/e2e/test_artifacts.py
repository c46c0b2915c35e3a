#!/usr/bin/env python3
"""postern artifacts: proving keys from a folder, from npm's package and over
HTTPS, broken off and gone on with, and from servers that lie."""

import contextlib
import json
import os
import re
import shutil
import ssl
import subprocess

from lib import (BIN, TOP, Server, certificate, check, equal, folder, main,
                 postern)

KEYS = TOP / "build/npm/node_modules/@zk-kit/semaphore-artifacts"
NAME = "semaphore-1.zkey"


def good():
    return (KEYS / NAME).read_bytes()


class Site(Server):
    """An HTTPS server of one file. RANGES: it gives parts; CUT: it breaks off
    after so many bytes; MOVED: it redirects there."""

    def __init__(self, where, body, ranges=True, cut=None, moved=None):
        self.cert, key = certificate(where, "127.0.0.1")
        self.requests = []  # (path, first byte asked for)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)

        def handle(sock):
            with contextlib.suppress(ssl.SSLError), \
                    context.wrap_socket(sock, server_side=True) as tls:
                head = b""
                while b"\r\n\r\n" not in head:
                    data = tls.recv(65536)
                    if not data:
                        return
                    head += data
                path = head.split()[1].decode()
                asked = re.search(rb"(?i)range: bytes=(\d+)-", head)
                start = int(asked[1]) if asked else 0
                self.requests.append((path, start))
                tls.sendall(self.answer(path, body, start if ranges else 0,
                                        moved)[:cut])

        super().__init__(handle)
        self.url = f"https://127.0.0.1:{self.port}/keys"

    @staticmethod
    def answer(path, body, start, moved):
        if moved:
            return (f"HTTP/1.1 302 Found\r\nLocation: {moved}\r\n"
                    "Content-Length: 0\r\nConnection: close\r\n\r\n").encode()
        if not path.startswith("/keys/" + NAME):
            return (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                    b"Connection: close\r\n\r\n")
        status = "206 Partial Content\r\nContent-Range: bytes " \
            f"{start}-{len(body) - 1}/{len(body)}" if start else "200 OK"
        return (f"HTTP/1.1 {status}\r\nContent-Length: {len(body) - start}\r\n"
                "Connection: close\r\n\r\n").encode() + body[start:]


def fetch(where, site, *more, code=0):
    run = subprocess.run(
        [BIN, "artifacts", "fetch", "--depth", "1", "--from", site.url,
         "--cacert", str(site.cert), *more, str(where / "keys")],
        capture_output=True, text=True, timeout=60, check=False)
    equal(run.returncode, code, run.stderr)
    return run.stderr


def files(where):
    return sorted(os.listdir(where / "keys"))


def test_https():
    with folder() as where, Site(where, good()) as site:
        fetch(where, site)
        equal((where / "keys" / NAME).read_bytes(), good(), "the file")
        equal(files(where), [NAME])
        fetch(where, site)  # it is there
        equal(site.requests, [("/keys/" + NAME, 0)])


def test_going_on():
    with folder() as where:
        with Site(where, good(), cut=500000) as site:
            said = fetch(where, site, code=2)
            check("run it again" in said, said)
        equal(files(where), [NAME + ".part"])
        have = os.path.getsize(where / "keys" / (NAME + ".part"))
        check(400000 < have < 500000, str(have))
        with Site(where, good()) as site:
            fetch(where, site)
            equal(site.requests, [("/keys/" + NAME, have)])
        equal((where / "keys" / NAME).read_bytes(), good(), "the file")
        equal(files(where), [NAME])


def test_going_on_where_no_parts_are_given():
    with folder() as where, Site(where, good(), ranges=False) as site:
        os.mkdir(where / "keys")
        (where / "keys" / (NAME + ".part")).write_bytes(good()[:1000])
        fetch(where, site)
        equal((where / "keys" / NAME).read_bytes(), good(), "the file")


def test_a_part_that_is_whole_or_too_long():
    with folder() as where, Site(where, good()) as site:
        os.mkdir(where / "keys")
        part = where / "keys" / (NAME + ".part")
        part.write_bytes(good())
        fetch(where, site)
        equal(site.requests, [], "nothing to ask for")
        (where / "keys" / NAME).unlink()
        part.write_bytes(good() + b"x")
        fetch(where, site)
        equal((where / "keys" / NAME).read_bytes(), good(), "the file")


def test_servers_that_lie():
    flipped = bytearray(good())
    flipped[len(flipped) // 2] ^= 1
    for body, say in ((bytes(flipped), "its SHA-256 is another"),
                      (good() + b"x", "larger than the official key"),
                      (good()[:-1], "its length is another")):
        with folder() as where, Site(where, body) as site:
            said = fetch(where, site, code=2)
            check(say in said, said)
            check(NAME not in files(where), "it took its name")
    # A wrong part does not spoil the next attempt for good.
    with folder() as where, Site(where, good()) as site:
        os.mkdir(where / "keys")
        (where / "keys" / (NAME + ".part")).write_bytes(b"x" * 1000)
        said = fetch(where, site, code=2)
        check("SHA-256" in said, said)
        equal(files(where), [])
        fetch(where, site)
        equal(files(where), [NAME])


def test_what_is_not_trusted():
    with folder() as where, Site(where, good()) as site:
        said = subprocess.run(
            [BIN, "artifacts", "fetch", "--depth", "1", "--from", site.url,
             str(where / "keys")], capture_output=True, text=True, check=False)
        equal(said.returncode, 2)
        check("certificate" in said.stderr, said.stderr)
        equal(site.requests, [], "nothing was asked for")
        equal(files(where), [NAME + ".part"])
    with folder() as where, Site(where, good(),
                                 moved="http://127.0.0.1:1/x") as site:
        said = fetch(where, site, code=2)
        check("http" in said, said)
    with folder() as where:
        run = subprocess.run(
            [BIN, "artifacts", "fetch", "--depth", "1", "--from",
             "http://127.0.0.1/", str(where / "keys")], capture_output=True,
            text=True, check=False)
        equal(run.returncode, 2)
        check("only https://" in run.stderr, run.stderr)
        check(not (where / "keys").exists())


def test_not_found():
    with folder() as where, Site(where, good()) as site:
        run = subprocess.run(
            [BIN, "artifacts", "fetch", "--depth", "2", "--from", site.url,
             "--cacert", str(site.cert), str(where / "keys")],
            capture_output=True, text=True, check=False)
        equal(run.returncode, 2)
        check("the server answers 404" in run.stderr, run.stderr)


def test_environment_proxy_is_not_used():
    with folder() as where, Site(where, good()) as site:
        os.environ["https_proxy"] = "http://127.0.0.1:1"
        try:
            fetch(where, site)
        finally:
            del os.environ["https_proxy"]
        # One that is given is: nobody listens there.
        (where / "keys" / NAME).unlink()
        fetch(where, site, "--proxy", "socks5h://127.0.0.1:1", code=2)


def test_folders():
    with folder() as where:
        # npm's package in a folder above, and XDG_DATA_HOME.
        package = where / "node_modules/@zk-kit/semaphore-artifacts"
        package.mkdir(parents=True)
        shutil.copy(KEYS / NAME, package)
        deep = where / "a/b"
        deep.mkdir(parents=True)
        env = dict(os.environ, XDG_DATA_HOME=str(where / "data"),
                   HOME=str(where / "home"))
        env.pop("NODE_PATH", None)

        def run(*args, code=0):
            out = subprocess.run([BIN, "artifacts", *args], cwd=deep, env=env,
                                 capture_output=True, text=True, check=False)
            equal(out.returncode, code, out.stderr)
            return out.stdout

        listed = json.loads(run("list", "--json", "--depth", "1"))
        equal(listed[0]["path"], str(package / NAME))
        equal(listed[0]["state"], "there")
        run("fetch", "--depth", "1")
        mine = where / "data/postern" / NAME
        equal(mine.read_bytes(), good())
        listed = json.loads(run("verify", "--json", "--depth", "1"))
        equal((listed[0]["path"], listed[0]["state"]), (str(mine), "good"))
        equal(listed[0]["size"], len(good()))

        mine.write_bytes(good()[:-1] + b"\xff")
        check("SHA-256" in run("verify", "--depth", "1", code=1))
        mine.write_bytes(good()[:-1])
        check("length" in run("verify", code=1))
        run("fetch", "--depth", "1")  # the bad one is replaced
        equal(mine.read_bytes(), good())
        run("verify", "--depth", "1-2", code=1)
        run("list", "--depth", "1-2", code=1)
        for bad in ("0", "33", "3-2", "a", "1,,2", "1-", ""):
            run("list", "--depth", bad, code=2)
        env["NODE_PATH"] = f"{where}/nowhere:{where}/node_modules"
        shutil.rmtree(where / "data")
        out = subprocess.run([BIN, "artifacts", "list", "--depth", "1"],
                             cwd="/", env=env, capture_output=True, text=True,
                             check=True)
        check(str(package / NAME) in out.stdout, out.stdout)


def test_all_official_keys_have_their_pins():
    found = postern("artifacts", "verify", KEYS).splitlines()
    equal(len(found), 32)
    check(all(" good " in line for line in found), found)


main(globals())
