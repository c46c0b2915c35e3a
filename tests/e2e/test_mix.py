#!/usr/bin/env python3
"""The mixnet as processes on loopback: the demo's way, services, the Erebus
network's suite spoken by another implementation, TLS links, crashes, abuse."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from lib import (WALLS, check, equal, folder, main, postern, stop_accepting,
                 wait_until)
from mixlib import Network, Node

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "diff"))
import sphinx  # the independent implementation


class Service:
    """A destination service of our own: takes deliveries, keeps messages."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.tag = f"127.0.0.1:{self.port}".encode().ljust(32, b"\0")
        self.messages = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._read, args=(c,), daemon=True).start()

    def _read(self, c):
        with c, c.makefile("rb") as f:
            while len(head := f.read(4)) == 4:
                n = struct.unpack("<I", head)[0]
                self.messages.append(f.read(n))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop_accepting(self.socket, self.thread)


def secret_of(node):
    return bytes.fromhex(node.key.read_text().split("\n")[2])


def send_frames(node, frames):
    with socket.create_connection(("127.0.0.1", node.port)) as c:
        for frame in frames:
            c.sendall(frame)
        c.shutdown(socket.SHUT_WR)
        c.recv(1)  # the node has read to the end


def packets(net, service, delays, suite="wide", label=b"m"):
    """A packet for each delay (of the middle node), from the outside."""
    path = net.layers()
    return [sphinx.build(suite, os.urandom(32),
                         [(bytes.fromhex(path[0].id), 0),
                          (bytes.fromhex(path[1].id), delay),
                          (bytes.fromhex(path[2].id), 0)],
                         service.tag, label + b"%d" % i)[0]
            for i, delay in enumerate(delays)]


# --- the way there and back ---------------------------------------------------

def echo_and_loops(net):
    with net.sink() as sink:
        equal(net.send(sink.address, "buy 10 AAPL", "--mean", 5),
              "echo: buy 10 AAPL")
        long = "x" * 31000
        equal(net.send(sink.address, long, "--mean", 1), "echo: " + long)
    loops = net.probe("--mean", 5, "--count", 5)
    equal(len(loops), 5)
    for loop in loops:
        equal(loop["status"], "ok")
        check(loop["ms"] + 5 >= loop["asked_ms"], loop)


def test_echo_and_loops():
    with contextlib.ExitStack() as stack:
        net = Network(stack)
        echo_and_loops(net)
        dropped = sum(v for node in net.nodes
                      for k, v in node.metrics().items() if "dropped" in k)
        equal(dropped, 0)


def test_echo_and_loops_in_the_stream_suite():
    with contextlib.ExitStack() as stack:
        echo_and_loops(Network(stack, suite="stream"))


def test_links_over_tls():
    with contextlib.ExitStack() as stack:
        net = Network(stack, tls=True)
        echo_and_loops(net)
        # A plain frame is no handshake.
        node = net.nodes[0]
        before = node.count("packets_received_total")
        with socket.create_connection(("127.0.0.1", node.port)) as c:
            with contextlib.suppress(ConnectionError):
                c.sendall(os.urandom(32768))
                while c.recv(4096):
                    pass
        equal(node.count("packets_received_total"), before)
        # Another key in the registry: nobody sends there.
        net.layers()[0].entry["link"] = "00" * 32
        net.publish()
        with net.sink() as sink:
            net.send(sink.address, "hello", "--mean", 0, "--timeout", 3,
                     code=1)


def test_seven_nodes_and_cover():
    """Nodes' own loops: all come back, and each layer is seen."""
    def options(i):
        return ["--loops", 20, "--loop-mean", 5] if i == 0 else []
    with contextlib.ExitStack() as stack:
        net = Network(stack, n=7, options=options)
        node = net.nodes[0]
        wait_until(lambda: node.count("loop_ways_returned_total",
                                      layer="2") >= 60, 30, "loops")
        for layer in "012":
            equal(node.count("loop_ways_lost_total", layer=layer), 0)
            equal(node.count("loop_ways_early_total", layer=layer), 0)
        for other in net.nodes:
            layer = next(k for k in node.metrics()
                         if f'node_loop_ways_sent_total{{node="{other.id}"'
                         in k)
            check(node.metrics()[layer] > 0, layer)


# --- services -----------------------------------------------------------------

def test_services():
    with contextlib.ExitStack() as stack:
        net = Network(stack)
        with net.sink("--command", "tr a-z A-Z; exit 3") as sink:
            equal(net.send(sink.address, "shout", "--mean", 0), "SHOUT")
            equal(net.send(sink.address, "", "--mean", 0), "")
        with net.sink("--command", "echo $PPID; exec sleep 60", "--timeout",
                      1) as sink:
            net.send(sink.address, "x", "--mean", 0, "--timeout", 4, code=1)
        with net.sink("--command", "yes") as sink:  # too long an answer
            net.send(sink.address, "x", "--mean", 0, "--timeout", 3, code=1)

        path = str(net.where / "socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()

        def serve():
            c, _ = listener.accept()
            with c, c.makefile("rb") as f:
                c.sendall(b"got " + f.read())
        threading.Thread(target=serve, daemon=True).start()
        with net.sink("--socket", path) as sink:
            equal(net.send(sink.address, "this", "--mean", 0), "got this")


# --- the demo -----------------------------------------------------------------

def test_the_demo_runs():
    run = subprocess.run([pathlib.Path(__file__).parent / "mix-demo"],
                         capture_output=True, text=True, timeout=120,
                         check=False)
    equal(run.returncode, 0, run.stdout + run.stderr)
    for line in ("echo: buy 10 AAPL", "probe returned in ",
                 "through mixes and gate"):
        check(line in run.stdout, run.stdout)


# --- another implementation ---------------------------------------------------

def test_the_other_implementation_and_its_vectors():
    """It passes the RFCs' own examples, and the committed vectors are its."""
    where = pathlib.Path(sphinx.__file__)
    for command in ("self-test", "vectors"):
        run = subprocess.run([sys.executable, where, command], text=True,
                             capture_output=True, timeout=60, check=False)
        equal(run.returncode, 0, run.stderr)
    committed = where.parent.parent / "vectors" / "sphinx-wide.json"
    equal(json.loads(run.stdout), json.loads(committed.read_text()))


def test_stream_suite_spoken_by_another_implementation():
    """A client and a service in Python, our nodes between: the message, then
    a reply along a reply block that we did not make."""
    with contextlib.ExitStack() as stack:
        net = Network(stack, suite="stream")
        path = net.layers()
        service = stack.enter_context(Service())
        client = stack.enter_context(Service())
        hops = [(bytes.fromhex(n.id), 3) for n in path]
        block, _ = sphinx.surb("stream", os.urandom(32), hops, client.tag)
        request = (b"\1\1\1" + struct.pack("<H", len(block)) + block +
                   struct.pack("<I", 5) + b"hello")
        packet, _, _ = sphinx.build("stream", os.urandom(32), hops,
                                    service.tag, request)
        send_frames(path[0], [packet])
        wait_until(lambda: service.messages, 10, "the message")
        equal(service.messages, [request])
        # The service's part, as the format has it.
        sealed = sphinx.aead_seal(block[-32:], b"balance: 12 shares")
        reply = b"\2" + block[:32] + sealed
        payload = sphinx.seal("stream", block[-64:-32], reply)
        for i in (2, 1, 0):
            at = 449 + 32 * i
            payload = sphinx.layer_add("stream", block[at:at + 32], payload)
        send_frames(path[0], [block[64:448] + payload])
        wait_until(lambda: client.messages, 10, "the reply")
        equal(client.messages, [reply])
        # A block works once.
        send_frames(path[0], [block[64:448] + payload])
        wait_until(lambda: path[0].count("packets_dropped_total",
                                         reason="replay") == 1)


# --- crashes ------------------------------------------------------------------

def test_kill_9_in_the_middle():
    """A node that is killed loses what it held and replays nothing."""
    with contextlib.ExitStack() as stack:
        state = [stack.enter_context(folder()) for _ in range(3)]
        net = Network(stack, options=lambda i: ["--state", state[i]])
        service = stack.enter_context(Service())
        first, middle, last = net.layers()
        quick, held = 8, 6
        all_ = packets(net, service, [0] * quick + [60000] * held)
        # What the first node sends to the middle, by the other code.
        frames = [sphinx.peel("wide", secret_of(first), p)[1] for p in all_]
        send_frames(first, all_)
        wait_until(lambda: len(service.messages) == quick, 10, "quick ones")
        wait_until(lambda: middle.count("replay_tags") == quick + held)
        middle.kill()
        middle.start()
        equal(middle.count("replay_tags"), quick + held)
        send_frames(middle, frames)
        wait_until(lambda: middle.count("packets_dropped_total",
                                        reason="replay") == quick + held, 10,
                   "replays refused")
        equal(middle.count("packets_held"), 0)
        # It goes on: new packets pass, over a link that has to be made again.
        more = packets(net, service, [0] * 2, label=b"new")
        send_frames(first, more)
        wait_until(lambda: len(service.messages) == quick + 2, 10, "new ones")
        equal(len(set(service.messages)), quick + 2)


def test_state_is_one_nodes_alone():
    with contextlib.ExitStack() as stack:
        state = [stack.enter_context(folder()) for _ in range(3)]
        net = Network(stack, options=lambda i: ["--state", state[i]])
        again = [*net.nodes[0].args]
        again[again.index("--listen") + 1] = "127.0.0.1:0"
        again[again.index("--metrics") + 1] = "127.0.0.1:0"
        run = subprocess.run(again, capture_output=True, text=True,
                             timeout=10, check=False)
        equal(run.returncode, 2)
        check("seen-0: locked by another process" in run.stderr, run.stderr)


def test_a_dead_peer_comes_back():
    """What waits for a peer that is away is sent when it is back."""
    with contextlib.ExitStack() as stack:
        net = Network(stack)
        service = stack.enter_context(Service())
        first, middle, _ = net.layers()
        middle.kill()
        send_frames(first, packets(net, service, [0] * 4))
        wait_until(lambda: first.count("packets_queued") == 4)
        time.sleep(1)
        equal(service.messages, [])
        middle.start()
        wait_until(lambda: len(service.messages) == 4, 40, "the packets")
        check(first.count("link_failures_total") > 0)


def test_term_lets_go_what_is_held():
    with contextlib.ExitStack() as stack:
        net = Network(stack)
        service = stack.enter_context(Service())
        first, middle, _ = net.layers()
        send_frames(first, packets(net, service, [1500] * 4))
        wait_until(lambda: middle.count("packets_held") == 4)
        equal(middle.stop(), 0)
        wait_until(lambda: len(service.messages) == 4, 5, "what was held")
        check(middle.said("mix_draining") and middle.said("mix_stopped"))


# --- abuse --------------------------------------------------------------------

def test_bad_frames_are_counted_and_dropped():
    with contextlib.ExitStack() as stack:
        net = Network(stack)
        service = stack.enter_context(Service())
        first, _, last = net.layers()

        def dropped(node, reason):
            return node.count("packets_dropped_total", reason=reason)
        # Garbage, in a flood.
        flood = [os.urandom(31) + b"\0" + os.urandom(32768 - 32)
                 for _ in range(300)]
        send_frames(first, flood)
        wait_until(lambda: dropped(first, "bad_mac") == 300, 20, "garbage")
        # No point at all, and one of order four.
        send_frames(first, [bytes(32768), b"\xff" * 32768,
                            b"\1" + bytes(32767)])
        wait_until(lambda: dropped(first, "weak_key") == 3)
        # A header with one bit changed, and a payload.
        a, b, c = packets(net, service, [0] * 3)
        send_frames(first, [a[:100] + bytes([a[100] ^ 1]) + a[101:]])
        wait_until(lambda: dropped(first, "bad_mac") == 301)
        send_frames(first, [b[:9999] + bytes([b[9999] ^ 1]) + b[10000:]])
        wait_until(lambda: dropped(last, "corrupt") == 1)
        # A stream that ends within a frame.
        with socket.create_connection(("127.0.0.1", first.port)) as s:
            s.sendall(c[:20000])
        wait_until(lambda: first.count("frames_truncated_total") == 1)
        # A next hop that the registry does not have.
        path = [(bytes.fromhex(first.id), 0), (sphinx.x25519(
            os.urandom(32), sphinx.BASE), 0)]
        send_frames(first, [sphinx.build("wide", os.urandom(32), path,
                                         service.tag, b"x")[0]])
        wait_until(lambda: dropped(first, "unknown_node") == 1)
        # Deliveries to where nobody allowed them.
        for tag in (b"10.0.0.1:80", b"[::1]:80", b"example.com:80", b"",
                    b"169.254.169.254:80"):
            send_frames(first, [sphinx.build(
                "wide", os.urandom(32), path[:1], tag.ljust(32, b"\0"),
                b"x")[0]])
        wait_until(lambda: dropped(first, "address") == 5)
        # The node lives, and a good packet passes.
        send_frames(first, [c])
        wait_until(lambda: service.messages == [b"m2"], 10, "a good packet")
        equal(first.count("packets_held"), 0)


# --- registry and keys --------------------------------------------------------

def test_registry_is_read_again():
    with contextlib.ExitStack() as stack:
        net = Network(stack)
        node = net.nodes[0]
        good = net.registry.read_text()
        net.registry.write_text(good.replace("127.0.0.1:", "nowhere:"))
        node.signal(signal.SIGHUP)
        wait_until(lambda: node.said("mix_registry_broken"))
        line = next(x for x in node.log if "mix_registry_broken" in x)
        check("registry.json:6 nodes[0].address" in line, line)
        equal(node.count("nodes"), 3)
        extra = Node(net.where, 9)
        net.nodes.append(extra)
        net.publish()
        wait_until(lambda: node.count("nodes") == 4, 10, "the new registry")
        # One that is wrong at the start is told, with the place.
        net.registry.write_text(good.replace('"stake"', '"steak"', 1))
        text = postern(*extra.args[1:], code=2)
        equal(text, "")


def test_walls_around_a_node():
    with contextlib.ExitStack() as stack:
        net = Network(stack, options=lambda i: ["--no-sandbox"] if i == 2 else
                      ["--state", stack.enter_context(folder())])
        for node, privileges, calls in zip(net.nodes, "110",
                                           "220" if WALLS else "000"):
            text = pathlib.Path(f"/proc/{node.run.pid}/status").read_text()
            check(f"NoNewPrivs:\t{privileges}\n" in text, text)
            check(f"Seccomp:\t{calls}\n" in text, text)
        equal(net.probe("--mean", 1)[0]["status"], "ok")


def test_keys_turn():
    """Epochs of a few seconds: the next key is announced before its turn, the
    old one taken for a while after it, and forgotten then."""
    epoch, grace = 6, 3
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(folder())
        service = stack.enter_context(Service())
        state = where / "state"
        state.mkdir()
        announced = where / "announced.json"
        nodes = [Node(where, i) for i in range(3)]
        node = Node(where, 3, ["--state", state, "--epoch", epoch, "--grace",
                               grace, "--announce", announced])
        for i, n in enumerate([*nodes, node]):
            (where / f"entry{i}").write_text(json.dumps(n.entry))
        postern("mix", "registry", "--seed", "s", "-o",
                where / "registry.json", *(where / f"entry{i}"
                                           for i in range(4)))

        def entry():
            return json.loads(announced.read_text())

        def passes(key, label):
            packet = sphinx.build("wide", os.urandom(32),
                                  [(bytes.fromhex(key), 0)], service.tag,
                                  label)[0]
            bad = node.count("packets_dropped_total", reason="bad_mac")
            send_frames(node, [packet])
            wait_until(lambda: label in service.messages or node.count(
                "packets_dropped_total", reason="bad_mac") > bad)
            return label in service.messages
        # Not just before a turn.
        if time.time() % epoch > epoch - 3:
            time.sleep(epoch - time.time() % epoch)
        stack.enter_context(node)
        wait_until(announced.exists)
        first = entry()
        equal(first["key"], node.id)
        turn = first["next"]["from"]
        equal(turn % epoch, 0)
        check(0 < turn - time.time() <= epoch)
        check(passes(node.id, b"long-lived key"))
        wait_until(lambda: node.said("mix_key_turned"), epoch + 5, "the turn")
        second = entry()
        equal(second["key"], first["next"]["key"])
        equal(second["next"]["from"], turn + epoch)
        check(passes(second["key"], b"new key"))
        check(passes(node.id, b"old key, in its grace"))
        # A restart knows all three.
        node.kill()
        node.start()
        check(passes(second["key"], b"new key, after a restart"))
        equal(entry(), second)
        time.sleep(max(0, turn + grace + 1.5 - time.time()))
        check(not passes(node.id, b"old key, too late"))
        check(not (state / "seen-0").exists())
        # What was announced is what a sender's registry takes.
        postern("mix", "registry", "--seed", "s", announced,
                where / "entry0", where / "entry1", where / "entry2")


if __name__ == "__main__":
    main(globals())
