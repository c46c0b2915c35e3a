#!/usr/bin/env python3
"""Two small clients, written from src/http/PROTOCOL.md alone, against a real
gateway: what the page says is enough to write another."""

import json
import subprocess
import time

from lib import (TOP, Gateway, Server, Vectors, check, echo, equal, folder,
                 main)

V = Vectors()
CLIENTS = (["/usr/bin/python3", TOP / "tests/clients/client.py"],
           ["node", TOP / "tests/clients/client.mjs"])
DATA = bytes(range(256)) * 4096


def ask(client, gateway, proof, target, data=b""):
    run = subprocess.run([*map(str, client), f"127.0.0.1:{gateway.port}",
                          str(proof), target], input=data, capture_output=True,
                         timeout=60, check=False)
    return run.returncode, run.stdout, run.stderr.decode()


def each(test, **group):
    for client in CLIENTS:
        with folder() as where, Server(echo) as site:
            proof = where / "proof.json"
            proof.write_text(json.dumps(V.proof("member 0")))
            limits = {"requests": 1000, **group}
            with Gateway(where, {
                    "gateway": dict(V.gateway),
                    "group main": {"members": V.write(where), **limits},
                    "egress": {"ports": f"443 {site.port}", "literals": "on",
                               "except": f"127.0.0.1:{site.port}"}}) as gateway:
                test(client, gateway, proof, f"127.0.0.1:{site.port}")


def test_a_tunnel_carries_a_mebibyte_both_ways():
    def case(client, gateway, proof, target):
        code, out, err = ask(client, gateway, proof, target, DATA)
        equal((code, err), (0, ""), client[0])
        check(out == DATA, f"{client[0]}: {len(out)} bytes came back")
    each(case)


def test_refusals_are_told_with_their_reason():
    def case(client, gateway, proof, target):
        code, _, err = ask(client, gateway, proof, "example.org:25")
        equal(code, 1, "port")
        check(err.startswith("403 target_port: "), err)
        broken = json.loads(proof.read_text())
        broken["message"] = "2"
        proof.write_text(json.dumps(broken))
        code, _, err = ask(client, gateway, proof, target)
        equal(code, 1, "message")
        check(err.startswith("407 message_wrong: "), err)
        proof.write_text("{}")
        code, _, err = ask(client, gateway, proof, target)
        check(err.startswith("407 credential_bad: "), err)
    each(case)


def test_a_used_quota_is_told():
    def case(client, gateway, proof, target):
        equal(ask(client, gateway, proof, target, b"x")[:2], (0, b"x"), "first")
        code, _, err = ask(client, gateway, proof, target)
        equal(code, 1, "second")
        check(err.startswith("429 quota_requests: "), err)
    each(case, requests=1)


def test_a_client_waits_as_long_as_it_is_told():
    def case(client, gateway, proof, target):
        equal(ask(client, gateway, proof, target, b"x")[:2], (0, b"x"), "first")
        start = time.monotonic()
        code, out, err = ask(client, gateway, proof, target, b"y")
        equal((code, out, err), (0, b"y", ""), "second")
        check(time.monotonic() - start > 0.9, "it did not wait")
    each(case, rate="1/3s")


main(globals())
