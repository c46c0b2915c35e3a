"""A mixnet on loopback: keys, a registry, nodes as processes."""

import json
import os
import socket
import subprocess
import threading
import urllib.request

from lib import BIN, Server, check, equal, folder, free_port, postern


class Process:
    """A command that prints its address when it is ready."""

    def __init__(self, *args):
        self.args = [BIN, *map(str, args)]
        self.env = {}  # besides ours
        self.run = None
        self.log = []

    def start(self):
        self.run = subprocess.Popen(self.args, text=True,
                                    stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE,
                                    env=dict(os.environ, **self.env))
        self.log = []
        threading.Thread(target=self._read, args=(self.run,),
                         daemon=True).start()
        self.address = self.run.stdout.readline().strip()
        check(self.address, f"{self.args}: {''.join(self.log)}")
        self.port = int(self.address.rsplit(":", 1)[1])
        return self

    def _read(self, run):
        for line in run.stderr:
            self.log.append(line)

    def said(self, event):
        return any(f" {event}: " in line for line in self.log)

    def signal(self, number):
        self.run.send_signal(number)

    def stop(self, seconds=40):
        """TERM, and its exit status."""
        self.run.terminate()
        return self.run.wait(seconds)

    def kill(self):
        self.run.kill()
        self.run.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.run is not None and self.run.poll() is None:
            self.run.terminate()
            try:
                self.run.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()


class Wiretap(Server):
    """Between the last node and a service: passes deliveries on to ADDRESS, and
    keeps them."""

    def __init__(self, address):
        self.kept = []
        self.host, _, port = address.rpartition(":")
        self.to = (self.host, int(port))
        super().__init__(self._pass_on)

    def _pass_on(self, sock):
        data = b""
        with socket.create_connection(self.to) as out:
            while piece := sock.recv(65536):
                data += piece
                out.sendall(piece)
        self.kept.append(data)

    def deliver(self, data):
        """Once more, and all of it read before the end."""
        with socket.create_connection(self.to) as out:
            out.sendall(data)
            out.shutdown(socket.SHUT_WR)
            equal(out.recv(1), b"")


class Node(Process):
    def __init__(self, where, i, options=(), suite="wide", tls=False):
        self.where = where
        self.key = where / f"node{i}.key"
        self.listen = f"127.0.0.1:{free_port()}"
        self.metrics_port = free_port()
        extra = ["--tls"] if tls else []
        self.entry = json.loads(
            postern("mix", "keygen", "-o", self.key, "--address", self.listen,
                    "--stake", 1000 + i, "--suite", suite, *extra))
        self.id = self.entry["id"]
        super().__init__("mix", "node", "--key", self.key, "--registry",
                         where / "registry.json", "--listen", self.listen,
                         "--suite", suite, "--deliver", "127.0.0.0/8",
                         "--metrics", f"127.0.0.1:{self.metrics_port}",
                         *extra, *options)

    def metrics(self):
        """{"name{labels}": value}"""
        url = f"http://127.0.0.1:{self.metrics_port}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            text = answer.read().decode()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
                for line in text.splitlines() if not line.startswith("#")}

    def count(self, name, **labels):
        inner = ",".join(f'{k}="{v}"' for k, v in labels.items())
        full = f"postern_mix_{name}" + (f"{{{inner}}}" if inner else "")
        return self.metrics()[full]


class Network:
    """N nodes in a folder; `options` are for each (i -> list)."""

    def __init__(self, stack, n=3, suite="wide", tls=False,
                 options=lambda i: ()):
        self.where = stack.enter_context(folder())
        self.suite = suite
        self.registry = self.where / "registry.json"
        self.nodes = [Node(self.where, i, options(i), suite, tls)
                      for i in range(n)]
        self.publish()
        for node in self.nodes:
            stack.enter_context(node)

    def publish(self, seed="2026-11-30"):
        """Write the registry of the nodes' entries."""
        files = []
        for i, node in enumerate(self.nodes):
            path = self.where / f"entry{i}.json"
            path.write_text(json.dumps(node.entry))
            files.append(path)
        postern("mix", "registry", "--seed", seed, "-o", self.registry, *files)

    def layers(self):
        """The node of each layer, in order (of the first of each)."""
        by_id = {node.id: node for node in self.nodes}
        found = {}
        for line in postern("mix", "layers", "--json", "--suite", self.suite,
                            self.registry).splitlines():
            node = json.loads(line)
            found.setdefault(node["layer"], by_id[node["id"]])
        return [found[i] for i in range(3)]

    def sink(self, *options):
        return Process("mix", "sink", "--registry", self.registry, "--suite",
                       self.suite, *options)

    def send(self, to, message, *options, code=0):
        return postern("mix", "send", "--registry", self.registry, "--suite",
                       self.suite, "--to", to, *options, message, code=code)

    def probe(self, *options, code=0):
        text = postern("mix", "probe", "--registry", self.registry, "--suite",
                       self.suite, "--json", *options, code=code)
        return [json.loads(line) for line in text.splitlines()]
