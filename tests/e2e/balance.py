#!/usr/bin/env python3
"""Two gateways with one ledger behind one onion address, by Debian's
Onionbalance, on a private Tor network: `make check-balance`. Not in the normal
run, as it takes minutes and a package more."""

import base64
import contextlib
import subprocess
import time

from lib import (Gateway, Members, TlsSite, check, equal, folder, main,
                 official_proofs, postern, today, token_of, wait_until)
from redislib import Redis
from torlib import Curl, TorNet

# Onionbalance's mode for test networks takes descriptors of 20 seconds ago for
# dead instances, and looks at them every 20 seconds. Nothing else is changed.
BALANCE = """
import sys
import onionbalance.hs_v3.params as params
params.INSTANCE_DESCRIPTOR_TOO_OLD_TESTNET = 600
params.INITIAL_CALLBACK_DELAY = 15
from onionbalance.manager import main
sys.exit(main())
"""


def common_address(where):
    """Onionbalance's key for the address of both: (file, address)."""
    subprocess.run(["onionbalance-config", "--hs-version", "v3", "-n", "2",
                    "--no-interactive", "--output", str(where / "balance")],
                   check=True, capture_output=True)
    key = next((where / "balance").glob("*.key"))
    return key, f"{key.stem}.onion"


def instances(net, common, ports):
    """Make the network's onion service one instance of COMMON, and add another:
    their own addresses."""
    hs = [net.dir / "onion" / name for name in ("hs", "hs2")]
    torrc = net.dir / "onion" / "torrc"
    torrc.write_text(torrc.read_text() + f"""
HiddenServiceOnionBalanceInstance 1
HiddenServiceDir {hs[1]}
HiddenServicePort 80 127.0.0.1:{ports[1]}
HiddenServiceExportCircuitID haproxy
HiddenServiceOnionBalanceInstance 1
""")
    hs[1].mkdir(mode=0o700)
    for d in hs:
        (d / "ob_config").write_text(f"MasterOnionAddress {common}\n")
    net.restart("onion")
    wait_until((hs[1] / "hostname").exists, 30, "the second instance")
    return [(d / "hostname").read_text().strip() for d in hs]


@contextlib.contextmanager
def balance(where, net, key, addresses):
    config = where / "balance" / "config.yaml"
    config.write_text(f"services:\n- key: {key}\n  instances:\n" + "".join(
        f"  - address: {a}\n    name: gateway{i}\n"
        for i, a in enumerate(addresses)))
    log = open(where / "balance.log", "wb")
    process = subprocess.Popen(
        ["/usr/bin/python3", "-c", BALANCE, "--hs-version", "v3", "-p",
         net.settings["CONTROL"].split(":")[1], "-c", str(config), "-v",
         "info", "--is-testnet"], stdout=log, stderr=log)
    try:
        yield process
    except BaseException:
        print((where / "balance.log").read_text()[-3000:])
        raise
    finally:
        process.terminate()
        process.wait()
        log.close()


def test_one_address_one_budget():
    quota = 12
    with folder() as where, Redis() as redis, \
            contextlib.ExitStack() as stack:
        site = stack.enter_context(TlsSite(where, ["127.0.0.1"]))
        members = Members(where)
        ledger_key = where / "ledger.key"
        postern("ledger", "key", "-o", ledger_key)
        key, common = common_address(where)
        gates = []
        for i in range(2):
            (where / f"g{i}").mkdir()
            gates.append(stack.enter_context(Gateway(where / f"g{i}", {
                "gateway": {"onion": common, "proxy_line": "required"},
                "group main": {"members": members.file, "requests": quota},
                "egress": {"allow": "*", "ports": site.port,
                           "literals": "on",
                           "except": f"127.0.0.1:{site.port}"},
                "ledger": {"shared": redis.url,
                           "shared_key_file": ledger_key},
            })))
        # The message is the key in the common address.
        message = int.from_bytes(
            base64.b32decode(common[:56].upper())[:32], "big")
        proof, = official_proofs(members, [(members[0], today(), message)])
        header = f"Proxy-Authorization: Semaphore {token_of(proof)}"
        net = stack.enter_context(TorNet(gates[0].port, vote_interval=20,
                                         first_vote=20))
        addresses = instances(net, common, [g.port for g in gates])
        balancer = stack.enter_context(balance(where, net, key, addresses))
        net.onion = common
        url = f"https://127.0.0.1:{site.port}/"

        end = time.monotonic() + 240
        codes = []
        while codes.count(429) < 3:
            check(time.monotonic() < end, f"not within 240 s: {codes}")
            check(balancer.poll() is None, "onionbalance has ended")
            # Each on a circuit of its own: tor draws the introduction point.
            got = Curl(net, url, header, circuit=f"c{time.monotonic_ns()}",
                       cacert=site.cert)
            if got.connect in (200, 429):
                codes.append(got.connect)
            else:
                time.sleep(3)
        equal(codes.count(200), quota, "how many passed")
        equal(redis.counted(), quota)
        for g in gates:
            served = g.metric("postern_requests_total", status="ok") or \
                sum(line.count("http=200") for line in g.log().splitlines())
            check(served > 0, "one gateway served nobody")


main(globals())
