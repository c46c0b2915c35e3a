#!/usr/bin/env python3
"""postern prove: its proofs before the official verifier, ours and a gateway;
what it refuses; what it leaves behind."""

import base64
import json
import os
import random
import shutil
import subprocess

from lib import (BIN, TOP, Gateway, Members, Server, check, echo, equal, folder,
                 main, official_proofs, onion_name, postern, today,
                 wait_until)

KEYS = TOP / "build/npm/node_modules/@zk-kit/semaphore-artifacts"


def prove(members, member, *more, **how):
    return postern("prove", "--identity", member.file, "--members",
                   members.file, "--zkey", KEYS, *more, **how)


def refuse(*args, say, env=None, stdin=None):
    """Run postern prove; it must fail and say this."""
    run = subprocess.run([BIN, "prove", *map(str, args)], text=True, check=False,
                         input=stdin or "", capture_output=True, timeout=60,
                         env=dict(os.environ, **(env or {})))
    equal(run.returncode, 2, run.stderr)
    equal(run.stdout, "", "standard output")
    check(say in run.stderr, f"{say!r} not in {run.stderr!r}")
    return run.stderr


def test_official_verifier():
    proofs = []
    with folder() as where:
        for i, (depth, size) in enumerate(
                ((1, 2), (2, 3), (3, 8), (4, 9), (7, 100),
                 (11, 30), (16, 5), (20, 70), (27, 4), (32, 12))):
            members = Members(where, size, 2, f"members{i}")
            lines = members.commitments()
            random.shuffle(lines)  # somewhere in the tree
            members.file.write_text("\n".join(lines) + "\n")
            proofs.append(prove(members, members[i % 2], "--depth", depth,
                                "--message", random.getrandbits(255),
                                "--scope", random.getrandbits(253)).strip())
        text = "\n".join(proofs) + "\n"
        said = subprocess.run(["node", str(TOP / "tests/js/judge.mjs")],
                              input=text, text=True, check=True, timeout=120,
                              stdout=subprocess.PIPE).stdout.split()
        equal(said, ["true"] * len(proofs), "official")
        equal(postern("verify", "--ndjson", "-", stdin=text).split(),
              ["valid"] * len(proofs), "ours")


def test_same_statement_as_official():
    with folder() as where:
        members = Members(where, 7, 2)
        wanted = [(members[0], 20700, 1), (members[1], 2**200 + 3, 2**255)]
        for official, (member, scope, message) in zip(
                official_proofs(members, wanted), wanted):
            ours = json.loads(prove(
                members, member, "--scope", scope, "--message", message,
                "--depth", official["merkleTreeDepth"]))
            for name in ("merkleTreeDepth", "merkleTreeRoot", "nullifier",
                         "message", "scope"):
                equal(ours[name], official[name], name)
            equal(list(ours), list(official), "members")


def test_forms():
    with folder() as where:
        members = Members(where, 5, 1)
        name, number = onion_name()
        proof = json.loads(prove(members, members[0], "--onion", name))
        equal(proof["message"], str(number), "message")
        equal(proof["scope"], str(today()), "scope")
        equal(proof["merkleTreeDepth"], 3, "the tree's depth")

        token = prove(members, members[0], "--onion", name, "--token").strip()
        raw = base64.urlsafe_b64decode(token + "=")
        equal(len(raw), 200, "compact")
        equal(raw[:8], bytes([1, 3]) + today().to_bytes(4, "big") + b"\0\0")
        equal(int.from_bytes(raw[40:72], "big"), int(proof["nullifier"]))

        header = prove(members, members[0], "--message", 1, "--scope", 2**40,
                       "--header").strip()
        start = "Proxy-Authorization: Semaphore "
        check(header.startswith(start), header)
        text = header[len(start):]
        text = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        equal(json.loads(text)["scope"], str(2**40), "JSON token")


def test_last_leaf_does_not_show_itself():
    # Nine members: the last leaf's path has one sibling, the tree depth 4.
    with folder() as where:
        members = Members(where, 9, 2)
        lines = members.commitments()
        lines.append(lines.pop(0))
        members.file.write_text("\n".join(lines) + "\n")
        proof = json.loads(prove(members, members[0], "--message", 1))
        equal(proof["merkleTreeDepth"], 4)


def test_through_the_gateway():
    with folder() as where, Server(echo) as site:
        members = Members(where, 6, 2)
        name, number = onion_name()
        config = {
            "gateway": {"audience": number, "realm": "example", "slots": 3},
            "group main": {"members": members.file, "requests": 10},
            "egress": {"allow": "*", "except": f"127.0.0.1:{site.port}"},
            "ledger": {"journal": where / "journal"},
        }
        how = ("--onion", name, "--realm", "example", "--slots", 3)
        with Gateway(where, config) as gate:
            nullifiers = set()
            for slot in range(3):
                token = prove(members, members[0], *how, "--slot", slot,
                              "--token").strip()
                nullifiers.add(token[54:96])
                with gate.client() as c:
                    equal(c.connect(f"127.0.0.1:{site.port}", token).code, 200)
            equal(len(nullifiers), 3, "slots are not linked")
            other = prove(members, members[1], "--onion", onion_name()[0],
                          "--realm", "example", "--slots", 3, "--json")
            text = base64.urlsafe_b64encode(other.strip().encode()).decode()
            with gate.client() as c:
                equal(c.connect(f"127.0.0.1:{site.port}",
                                text.rstrip("=")).code, 407, "another gateway")


def test_encrypted_identity():
    with folder() as where:
        members = Members(where, 3, 1)
        file = where / "locked"
        secret = {"POSTERN_PASSPHRASE": "correct horse"}
        postern("identity", "new", "-o", file, env=secret)
        commitment = postern("identity", "show", file, env=secret).split()[-1]
        postern("group", "add", members.file, commitment)
        args = ("--identity", file, "--members", members.file, "--zkey", KEYS,
                "--message", 1)
        proof = postern("prove", *args, env=secret)
        equal(postern("verify", "-", stdin=proof).strip(), "valid")
        proof = postern("prove", *args, "--passphrase-fd", 0,
                        stdin="correct horse\n")
        equal(postern("verify", "-", stdin=proof).strip(), "valid")
        refuse(*args, say="wrong passphrase",
               env={"POSTERN_PASSPHRASE": "battery staple"})


def test_options_that_are_wrong():
    with folder() as where:
        members = Members(where, 3, 1)
        both = ("--identity", members[0].file, "--members", members.file)
        good = (*both, "--zkey", KEYS)
        for args, say in (
                ((), "--identity FILE and --members"),
                (good, "for which gateway?"),
                ((*good, "--message", 1, "--onion", "x.onion"), "for which"),
                ((*good, "--message", "-1"), "--message: not a number"),
                ((*good, "--message", 2**256), "--message: not a number"),
                ((*good, "--onion", "example.com"), "--onion: not a v3"),
                ((*good, "--message", 1, "--scope", "0x10"), "--scope: not"),
                ((*good, "--message", 1, "--scope", 1, "--slot", 1),
                 "--slot: does not go with --scope"),
                ((*good, "--message", 1, "--slot", 1), "--slot: not a number"),
                ((*good, "--message", 1, "--epoch-length", 59), "from 60 to"),
                ((*good, "--message", 1, "--depth", 33), "from 1 to 32"),
                ((*good, "--message", 1, "--depth", 0), "from 1 to 32"),
                ((*good, "--message", 1, "--depth", 1), "tree needs 2"),
                ((*good, "--message", 1, "--json", "--token"), "one of them"),
                ((*good, "--message", 1, "--threads", 0), "--threads: not"),
                ((*good, "--message", 1, "extra"), "one argument too many"),
                ((*both, "--message", 1, "--zkey", where / "none"),
                 "no proving key for depth 2"),
                ((*both, "--message", 1, "--zkey", where), "no proving key")):
            refuse(*args, say=say)
        typo = list(onion_name()[0])
        typo[3] = "a" if typo[3] != "a" else "b"
        refuse(*good, "--onion", "".join(typo), say="a typing mistake")


def test_members_that_are_wrong():
    with folder() as where:
        members = Members(where, 3, 1)
        other = Members(where, 3, 1, "others")
        args = ("--identity", members[0].file, "--zkey", KEYS, "--message", 1)
        said = refuse(*args, "--members", other.file, say="is not a member")
        check(members[0].commitment in said, said)
        refuse(*args, "--members", where / "none", say="No such file")
        bad = where / "bad"
        bad.write_text("12\nabc\n")
        refuse(*args, "--members", bad, say="line 2")
        os.chmod(members[0].file, 0o644)
        refuse(*args, "--members", members.file, say="chmod 600")


def test_keys_that_are_wrong():
    with folder() as where:
        members = Members(where, 3, 1)
        args = ("--identity", members[0].file, "--members", members.file,
                "--message", 1, "--zkey")
        bad = where / "bad.zkey"
        data = bytearray((KEYS / "semaphore-2.zkey").read_bytes())
        bad.write_bytes(data[:-1])
        refuse(*args, bad, say="truncated")
        bad.write_bytes(b"")
        refuse(*args, bad, say="not a .zkey file")
        shutil.copy(members.file, bad)
        refuse(*args, bad, say="not a .zkey file")
        refuse(*args, KEYS / "semaphore-1.zkey", say="for depth 1")
        refuse(*args, KEYS / "semaphore-3.zkey", "--depth", 2,
               say="for depth 3, not 2")
        # Two points of section 9 change places: all checks pass, and the
        # proof does not hold.
        sections, offset = {}, 12
        while offset < len(data):
            kind = int.from_bytes(data[offset:offset + 4], "little")
            size = int.from_bytes(data[offset + 4:offset + 12], "little")
            sections[kind] = offset + 12
            offset += 12 + size
        at = sections[9]
        data[at:at + 64], data[at + 64:at + 128] = \
            data[at + 64:at + 128], data[at:at + 64]
        bad.write_bytes(data)
        refuse(*args, bad, say="made a proof that does not hold")


def test_walls_and_memory():
    with folder() as where:
        members = Members(where, 8, 1)
        file = where / "locked"
        env = dict(os.environ, POSTERN_PASSPHRASE="x")
        subprocess.run([BIN, "identity", "new", "-o", str(file)], env=env,
                       check=True, capture_output=True)
        # Waiting for its passphrase it can be looked at.
        waiting = subprocess.Popen(
            [BIN, "prove", "--identity", str(file), "--members",
             str(members.file), "--zkey", str(KEYS), "--message", "1",
             "--passphrase-fd", "0"], stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        try:
            def limit():
                with open(f"/proc/{waiting.pid}/limits") as f:
                    return [line.split()[4:6] for line in f
                            if line.startswith("Max core file size")][0]
            wait_until(lambda: limit() == ["0", "0"], what="no core dumps")
        finally:
            waiting.communicate("wrong\n")
        # In little memory, with Argon2id and at a great depth.
        secret = where / "secret.id"
        env = dict(os.environ, POSTERN_PASSPHRASE="correct horse")
        subprocess.run([BIN, "identity", "new", "--from", members[0].export,
                        "-o", secret], check=True, env=env,
                       capture_output=True)
        small = subprocess.run(
            ["/usr/bin/env", "python3", "-c",
             "import resource, subprocess, sys\n"
             "subprocess.run(sys.argv[1:], check=True,"
             " stdout=subprocess.DEVNULL)\n"
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
             BIN, "prove", "--identity", str(secret), "--members",
             str(members.file), "--zkey", str(KEYS), "--message", "1",
             "--depth", "20"], check=True, capture_output=True, text=True,
            env=env)
        check(int(small.stdout) < 64 * 1024, f"{small.stdout} KiB of memory")


main(globals())
