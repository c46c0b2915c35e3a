#!/usr/bin/env python3
"""An independent, slow implementation of the Sphinx packet, both suites.

Written from src/sphinx/PACKET.md and the RFCs, with nothing of ours and no
library but hashlib and hmac: X25519 as in RFC 7748, ChaCha20 and Poly1305 as in
RFC 8439, AES-256 as in FIPS 197, HChaCha20 as in draft-irtf-cfrg-xchacha.

    sphinx.py peel SUITE SECRET < packet    JSON of what one hop does; `rest`
                                            is what it sends or hands on
    sphinx.py build SUITE SEED TAG ID:DELAY... < message    the packet, raw
    sphinx.py vectors                        tests/vectors/sphinx-wide.json
    sphinx.py self-test                      the RFCs' own examples
"""
import hashlib
import hmac
import json
import struct
import sys

P = 2**255 - 19
PACKET, BETA, MAC, PAYLOAD = 32768, 336, 16, 32384
ROUTING, BLOCK = 96, 112
BASE = (9).to_bytes(32, "little")


# --- primitives -------------------------------------------------------------

def x25519(scalar, point):
    k = int.from_bytes(scalar, "little")
    k &= ~7 & ~(1 << 255)
    k |= 1 << 254
    u = (int.from_bytes(point, "little") & ((1 << 255) - 1)) % P
    x2, z2, x3, z3 = 1, 0, u, 1
    for t in range(254, -1, -1):
        if k >> t & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
        if k >> t & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def chacha_rounds(s):
    def quarter(a, b, c, d):
        for p, q, r, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8),
                           (c, d, b, 7)):
            s[p] = (s[p] + s[q]) & 0xffffffff
            x = s[r] ^ s[p]
            s[r] = (x << n | x >> (32 - n)) & 0xffffffff
    for _ in range(10):
        quarter(0, 4, 8, 12)
        quarter(1, 5, 9, 13)
        quarter(2, 6, 10, 14)
        quarter(3, 7, 11, 15)
        quarter(0, 5, 10, 15)
        quarter(1, 6, 11, 12)
        quarter(2, 7, 8, 13)
        quarter(3, 4, 9, 14)


SIGMA = struct.unpack("<4I", b"expand 32-byte k")


def chacha20(key, n, nonce=bytes(12), counter=0):
    out = b""
    while len(out) < n:
        start = list(SIGMA + struct.unpack("<8I", key) + (counter,) +
                     struct.unpack("<3I", nonce))
        s = start[:]
        chacha_rounds(s)
        out += struct.pack("<16I", *((a + b) & 0xffffffff
                                     for a, b in zip(s, start)))
        counter += 1
    return out[:n]


def hchacha20(key, nonce):
    s = list(SIGMA + struct.unpack("<8I", key) + struct.unpack("<4I", nonce))
    chacha_rounds(s)
    return struct.pack("<8I", *(s[:4] + s[12:]))


def xchacha20(key, nonce, n):
    return chacha20(hchacha20(key, nonce[:16]), n, bytes(4) + nonce[16:])


def poly1305(key, data):
    r = int.from_bytes(key[:16], "little")
    r &= 0x0ffffffc0ffffffc0ffffffc0fffffff
    s, acc = int.from_bytes(key[16:], "little"), 0
    for i in range(0, len(data), 16):
        block = data[i:i + 16]
        acc = (acc + int.from_bytes(block + b"\1", "little")) * r
        acc %= 2**130 - 5
    return ((acc + s) % 2**128).to_bytes(16, "little")


def aead_tag(key, sealed):
    one_time = chacha20(key, 32)
    data = sealed + bytes(-len(sealed) % 16)
    data += struct.pack("<QQ", 0, len(sealed))
    return poly1305(one_time, data)


def xor(a, b):
    n = len(a)
    return (int.from_bytes(a, "big") ^
            int.from_bytes(b[:n], "big")).to_bytes(n, "big")


def aead_seal(key, plain):
    sealed = xor(plain, chacha20(key, len(plain), counter=1))
    return sealed + aead_tag(key, sealed)


def aead_open(key, data):
    sealed, tag = data[:-16], data[-16:]
    if aead_tag(key, sealed) != tag:
        return None
    return xor(sealed, chacha20(key, len(sealed), counter=1))


def gf_mul(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a <<= 1
        if a & 0x100:
            a ^= 0x11b
        b >>= 1
    return r


def make_sbox():
    box = []
    for x in range(256):
        inverse = 0
        for y in range(1, 256):
            if gf_mul(x, y) == 1:
                inverse = y
                break
        value = 0x63
        for shift in range(5):
            value ^= (inverse << shift | inverse >> (8 - shift)) & 0xff
        box.append(value)
    return box


SBOX = make_sbox()


def aes256_keys(key):
    words = [list(key[4 * i:4 * i + 4]) for i in range(8)]
    rcon = 1
    for i in range(8, 60):
        w = words[-1][:]
        if i % 8 == 0:
            w = [SBOX[b] for b in w[1:] + w[:1]]
            w[0] ^= rcon
            rcon = gf_mul(rcon, 2)
        elif i % 8 == 4:
            w = [SBOX[b] for b in w]
        words.append([a ^ b for a, b in zip(words[i - 8], w)])
    return [sum(words[4 * i:4 * i + 4], []) for i in range(15)]


def mix(column, m):
    return [gf_mul(column[0], m[-i % 4]) ^ gf_mul(column[1], m[(1 - i) % 4]) ^
            gf_mul(column[2], m[(2 - i) % 4]) ^
            gf_mul(column[3], m[(3 - i) % 4]) for i in range(4)]


def aes256(key, block, inverse=False):
    keys = aes256_keys(key)
    s = list(block)

    def add(i):
        return [a ^ b for a, b in zip(s, keys[i])]
    if not inverse:
        s = add(0)
        for i in range(1, 15):
            s = [SBOX[b] for b in s]
            s = [s[(c + 4 * (c % 4)) % 16] for c in range(16)]
            if i < 14:
                s = sum((mix(s[4 * c:4 * c + 4], [2, 3, 1, 1])
                         for c in range(4)), [])
            s = add(i)
        return bytes(s)
    unbox = {v: i for i, v in enumerate(SBOX)}
    for i in range(14, 0, -1):
        s = add(i)
        if i < 14:
            s = sum((mix(s[4 * c:4 * c + 4], [14, 11, 13, 9])
                     for c in range(4)), [])
        s = [s[(c - 4 * (c % 4)) % 16] for c in range(16)]
        s = [unbox[b] for b in s]
    return bytes(add(0))


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# --- suites -----------------------------------------------------------------

def hop_keys(suite, shared, element, node):
    """rho, mu, pi, aead, the replay tag and what the filter is asked for."""
    if suite == "stream":
        label, root = b"erebus/", shared
        tag = sha256(b"erebus/replay", element)
        once = sha256(b"postern/once", shared)
    else:
        label = b"postern/"
        root = sha256(b"postern/hop", shared, element, node)
        tag = once = sha256(b"postern/replay", root)
    keys = {name: sha256(label, name.encode(), root)
            for name in ("rho", "mu", "pi", "aead")}
    return dict(keys, replay_tag=tag, once=once[:16])


def number(b):
    return int.from_bytes(b, "little")


def wide_hash(keys, left):
    return number(poly1305(keys[32:], left))


def wide_stream(pi, m, left):
    return xor(left, xchacha20(pi, m + b"\1" + bytes(7), len(left)))


def wide_add(pi, payload):
    left, right = payload[:-16], payload[-16:]
    keys = xchacha20(pi, b"\1" + bytes(23), 64)
    m = ((number(right) + wide_hash(keys, left)) % 2**128)
    m = aes256(keys[:32], m.to_bytes(16, "little"))
    left = wide_stream(pi, m, left)
    right = (number(m) - wide_hash(keys, left)) % 2**128
    return left + right.to_bytes(16, "little")


def wide_remove(pi, payload):
    left, right = payload[:-16], payload[-16:]
    keys = xchacha20(pi, b"\1" + bytes(23), 64)
    m = (number(right) + wide_hash(keys, left)) % 2**128
    m = m.to_bytes(16, "little")
    left = wide_stream(pi, m, left)
    m = number(aes256(keys[:32], m, inverse=True))
    right = (m - wide_hash(keys, left)) % 2**128
    return left + right.to_bytes(16, "little")


def layer_add(suite, pi, payload):
    if suite == "stream":
        return xor(payload, chacha20(pi, PAYLOAD))
    return wide_add(pi, payload)


def layer_remove(suite, pi, payload):
    if suite == "stream":
        return xor(payload, chacha20(pi, PAYLOAD))
    return wide_remove(pi, payload)


def seal(suite, aead, message):
    size = struct.pack("<I", len(message))
    if suite == "stream":
        plain = size + message
        return aead_seal(aead, plain + bytes(PAYLOAD - 16 - len(plain)))
    plain = bytes(16) + size + message
    return plain + bytes(PAYLOAD - len(plain))


def open_sealed(suite, aead, payload):
    plain = payload[16:]
    if suite == "stream":
        plain = aead_open(aead, payload)
    elif payload[:16] != bytes(16):
        plain = None
    if plain is None:
        return None
    return plain[4:4 + struct.unpack("<I", plain[:4])[0]]


# --- packets ----------------------------------------------------------------

def mac(key, beta):
    return hmac.new(key, beta, hashlib.sha256).digest()[:MAC]


def build(suite, seed, path, tag, message, kind=2, surb_id=bytes(32)):
    """path: [(id, delay)...]. Returns the packet and each hop's keys."""
    material = chacha20(seed, 400)
    secrets = [material[32 * i:32 * i + 32] for i in range(3)]
    pad = material[96:336]
    elements = [x25519(s, BASE) for s in secrets[:len(path)]]
    keys = [hop_keys(suite, x25519(s, node), e, node)
            for s, e, (node, _) in zip(secrets, elements, path)]
    filler = b""
    for k in keys[:-1]:
        filler += bytes(BLOCK)
        filler = xor(filler, chacha20(k["rho"], BETA + BLOCK)[-len(filler):])
    beta, tail = b"", BETA - len(filler)
    for i in range(len(path) - 1, -1, -1):
        delay = struct.pack("<I", path[i][1])
        if i == len(path) - 1:
            element = surb_id if kind == 3 else bytes(32)
            head = bytes([kind]) + delay + element + tag + bytes(27)
            beta = (head + pad)[:tail]
            beta = xor(beta, chacha20(keys[i]["rho"], tail)) + filler
        else:
            head = b"\1" + delay + elements[i + 1] + path[i + 1][0] + bytes(27)
            beta = (head + mac(keys[i + 1]["mu"], beta) + beta)[:BETA]
            beta = xor(beta, chacha20(keys[i]["rho"], BETA))
    header = elements[0] + beta + mac(keys[0]["mu"], beta)
    payload = b""
    if message is not None:
        payload = seal(suite, keys[-1]["aead"], message)
        for k in reversed(keys):
            payload = layer_add(suite, k["pi"], payload)
    return header + payload, keys, material


def surb(suite, seed, path, tag):
    kind = 2 if suite == "stream" else 3
    surb_id = chacha20(seed, 400)[336:368]
    header, keys, material = build(suite, seed, path, tag, None, kind, surb_id)
    reply_key = material[368:400]
    if suite == "stream":
        block = (surb_id + path[0][0] + header + bytes([len(path)]) +
                 b"".join(k["pi"] for k in keys) + keys[-1]["aead"])
    else:
        block = path[0][0] + header
    return block + reply_key, keys


def peel(suite, secret, packet):
    element, beta = packet[:32], packet[32:368]
    node = x25519(secret, BASE)
    keys = hop_keys(suite, x25519(secret, element), element, node)
    step = {"replay_tag": keys["replay_tag"].hex(), "once": keys["once"].hex()}
    if mac(keys["mu"], beta) != packet[368:384]:
        return dict(step, action="refuse"), b""
    plain = xor(beta + bytes(BLOCK), chacha20(keys["rho"], BETA + BLOCK))
    kind, delay = plain[0], struct.unpack("<I", plain[1:5])[0]
    step["delay_ms"] = delay
    payload = layer_remove(suite, keys["pi"], packet[384:])
    if kind == 1:
        step.update(action="forward", next=plain[37:69].hex())
        header = plain[5:37] + plain[112:448] + plain[96:112]
        step["header"] = header.hex()
        return step, header + payload
    step["tag"] = plain[37:69].hex()
    if kind == 3:
        step.update(action="reply", surb=plain[5:37].hex())
        return step, payload
    message = open_sealed(suite, keys["aead"], payload)
    step["action"] = "drop" if message is None else "deliver"
    return step, message or b""


# --- commands ---------------------------------------------------------------

def vectors():
    """Packets and reply blocks of `wide`: what goes in, and hashes of what
    comes out at each hop."""
    out = []
    for hops, delays, length in ((3, (0, 7, 14), 11), (1, (100,), 0),
                                 (2, (200, 2**32 - 1), 32364)):
        message = bytes((i * 7 + 2) & 0xff for i in range(length))
        name = "wide/%d/" % hops
        seed = sha256(name.encode(), b"seed")
        secrets = [sha256(name.encode(), b"key", bytes([i]))
                   for i in range(hops)]
        path = [(x25519(s, BASE), d) for s, d in zip(secrets, delays)]
        tag = b"127.0.0.1:9100".ljust(32, b"\0")
        packet, _, _ = build("wide", seed, path, tag, message)
        case = {"seed": seed.hex(), "keys": [s.hex() for s in secrets],
                "delays": delays, "tag": tag.hex(), "message_len": length,
                "packet_header": packet[:384].hex(),
                "packet_sha256": sha256(packet).hex(), "steps": []}
        for s in secrets:
            step, packet = peel("wide", s, packet)
            if step["action"] == "forward":
                step["packet_sha256"] = sha256(packet).hex()
            case["steps"].append(step)
        assert packet == message
        block, _ = surb("wide", seed, path, tag)
        reply = b"balance: %d shares" % (12 + hops)
        packet = block[32:416] + wide_add(block[416:],
                                          seal("wide", None, reply))
        case.update(surb=block.hex(), surb_reply_text=reply.decode(),
                    surb_packet_sha256=sha256(packet).hex(), surb_steps=[])
        for s in secrets:
            step, packet = peel("wide", s, packet)
            step["sha256"] = sha256(packet).hex()
            case["surb_steps"].append(step)
        out.append(case)
    json.dump(out, sys.stdout, indent=1)
    print()


def self_test():
    h = bytes.fromhex
    assert x25519(
        h("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
        h("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
    ) == h("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")
    key = bytes(range(32))
    assert chacha20(key, 64, h("000000090000004a00000000"), 1)[:8] == \
        h("10f1e7e4d13b5915")
    assert hchacha20(key, h("000000090000004a0000000031415927"))[:8] == \
        h("82413b4227b27bfe")
    assert poly1305(
        h("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b"),
        b"Cryptographic Forum Research Group"
    ) == h("a8061dc1305136c6c22b8baf0c0127a9")
    block = h("00112233445566778899aabbccddeeff")
    assert aes256(key, block) == h("8ea2b7ca516745bfeafc49904b496089")
    assert aes256(key, aes256(key, block), True) == block
    assert aead_open(key, aead_seal(key, b"abc")) == b"abc"
    data = bytes(i & 0xff for i in range(PAYLOAD))
    assert wide_remove(key, wide_add(key, data)) == data
    print("ok")


def main():
    command, args = sys.argv[1], sys.argv[2:]
    if command == "vectors":
        vectors()
    elif command == "self-test":
        self_test()
    elif command == "peel":
        step, rest = peel(args[0], bytes.fromhex(args[1]),
                          sys.stdin.buffer.read())
        json.dump(dict(step, rest=rest.hex()), sys.stdout)
    elif command == "build":
        path = [(bytes.fromhex(p[:64]), int(p[65:])) for p in args[3:]]
        packet, _, _ = build(args[0], bytes.fromhex(args[1]), path,
                             bytes.fromhex(args[2]), sys.stdin.buffer.read())
        sys.stdout.buffer.write(packet)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
