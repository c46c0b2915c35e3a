#!/usr/bin/env python3
"""A whole client, from src/http/PROTOCOL.md alone:

    client.py HOST:PORT PROOF.json TARGET <request >answer

Sends the standard input through the tunnel to TARGET (host:port) and prints
what comes back. Waits once for a gateway that asks for patience (up to 5 s).
Exit status: 0; 1 when it is refused, with the reason on the standard error."""
import base64, json, socket, sys, threading, time


def ask(gateway, token, target):
    host, port = gateway.rsplit(":", 1)
    sock = socket.create_connection((host, int(port)), 30)
    sock.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
                 f"Proxy-Authorization: Semaphore {token}\r\n\r\n".encode())
    stream = sock.makefile("rb")
    code = int(stream.readline().split()[1])
    fields = {}
    while (line := stream.readline().decode("latin-1").rstrip("\r\n")):
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    why = {} if code == 200 else json.loads(stream.read(int(fields["content-length"])))
    return sock, stream, code, fields, why


gateway, proof, target = sys.argv[1:]
token = base64.urlsafe_b64encode(open(proof, "rb").read()).decode().rstrip("=")
sock, stream, code, fields, why = ask(gateway, token, target)
if code in (429, 503) and int(fields.get("retry-after", 99)) <= 5:
    time.sleep(int(fields["retry-after"]))
    sock, stream, code, fields, why = ask(gateway, token, target)
if code != 200:
    sys.exit(f"{code} {why['error']}: {why['detail']} ({why.get('cure', 'no cure')})")
request = sys.stdin.buffer.read()
threading.Thread(target=lambda: (sock.sendall(request),
                                 sock.shutdown(socket.SHUT_WR))).start()
sys.stdout.buffer.write(stream.read())
