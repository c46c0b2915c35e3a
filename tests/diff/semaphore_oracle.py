"""A slow Semaphore v4 prover, written to be read: the oracle of ours.

Everything is derived here from the papers and from the circuit: Poseidon's
constants from its Grain generator, the tables of the fixed-base multiplication
from the base point, the proof from the equations of Groth16. Nothing is shared
with the C code, and no formula is the fast one. Python's integers do the rest.

    from semaphore_oracle import Zkey, witness, prove

or, to prove with any key and witness,

    semaphore_oracle.py ZKEY <NUMBERS

where NUMBERS are s, t and the signals, in hex; it prints the eight coordinates
of the proof, A.x A.y B.x1 B.x0 B.y1 B.y0 C.x C.y.
"""
import struct
import sys

R = 21888242871839275222246405745257275088548364400416034343698204186575808495617
Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583
SUBORDER = 2736030358979909402780800718157159386076813972158567259200215660948447373041


def inv(a, m=R):
    """1/a, and 0 for 0, as circom divides."""
    return pow(a, -1, m) if a % m else 0


# --- Poseidon, t = 3, in circomlib's optimised form ---------------------------
# Grassi, Khovratovich, Rechberger, Roy, Schofnegger: ePrint 2019/458,
# appendix B (optimised partial rounds) and F (Grain).

T, FULL, PARTIAL = 3, 8, 57


def grain():
    bits = [int(b) for b in '01' + '0000' + f'{254:012b}{T:012b}{FULL:010b}'
            f'{PARTIAL:010b}' + '1' * 30]

    def clock():
        b = (bits[62] ^ bits[51] ^ bits[38] ^ bits[23] ^ bits[13] ^ bits[0])
        bits.append(b)
        bits.pop(0)
        return b
    for _ in range(160):
        clock()

    def bit():
        while not clock():
            clock()
        return clock()

    def number():
        return int(''.join(str(bit()) for _ in range(254)), 2)
    constants = []
    while len(constants) < T * (FULL + PARTIAL):
        n = number()
        if n < R:
            constants.append(n)
    xs = [number() % R for _ in range(2 * T)]
    mds = [[inv(xs[i] + xs[T + j]) for j in range(T)] for i in range(T)]
    return constants, mds


def mat_vec(m, v):
    return [sum(a * b for a, b in zip(row, v)) % R for row in m]


def mat_mul(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) % R
             for j in range(len(b[0]))] for i in range(len(a))]


def mat_inv(m):
    n = len(m)
    rows = [list(r) + [int(i == j) for j in range(n)] for i, r in enumerate(m)]
    for c in range(n):
        p = next(r for r in range(c, n) if rows[r][c])
        rows[c], rows[p] = rows[p], rows[c]
        f = inv(rows[c][c])
        rows[c] = [x * f % R for x in rows[c]]
        for r in range(n):
            if r != c:
                f = rows[r][c]
                rows[r] = [(x - f * y) % R for x, y in zip(rows[r], rows[c])]
    return [r[n:] for r in rows]


def optimise():
    """The constants C (per step), the dense first matrix P, the sparse S."""
    flat, m = grain()
    rc = [flat[T * r:T * r + T] for r in range(FULL + PARTIAL)]
    back = mat_inv(m)
    c_partial = [0] * PARTIAL
    acc = rc[4 + PARTIAL]
    for i in reversed(range(PARTIAL)):
        v = mat_vec(back, acc)
        c_partial[i] = v[0]
        acc = [(a + b) % R for a, b in zip([0] + v[1:], rc[4 + i])]
    c_full = [rc[0]] + [mat_vec(back, rc[r]) for r in (1, 2, 3)]
    c_full.append(mat_vec(back, acc))
    c_full += [mat_vec(back, rc[4 + PARTIAL + r]) for r in (1, 2, 3)]
    sparse = [None] * PARTIAL
    cur = m
    for i in reversed(range(PARTIAL)):
        hat = [row[1:] for row in cur[1:]]
        top = mat_mul([cur[0][1:]], mat_inv(hat))[0]
        sparse[i] = [[cur[0][0]] + top] + [
            [cur[r][0]] + [int(r == c) for c in range(1, T)]
            for r in range(1, T)]
        cur = mat_mul([[1, 0, 0]] + [[0] + row for row in hat], m)
    return m, cur, sparse, c_full, c_partial


M, P, S, C_FULL, C_PARTIAL = optimise()


def poseidon(a, b):
    """H(a, b) and the 239 witness entries of its block."""
    ark, squares_f, squares_p, mix_s = [], [], [], []

    def sbox(x, log):
        x2 = x * x % R
        x4 = x2 * x2 % R
        log += [x2, x4]
        return x4 * x % R
    state = [(x + c) % R for x, c in zip([0, a, b], C_FULL[0])]

    def full(state, r):
        return [sbox(x, squares_f) for x in state]
    for r in range(4):
        state = full(state, r)
        state = [(x + c) % R for x, c in zip(state, C_FULL[r + 1])]
        ark += state
        state = mat_vec(M if r < 3 else P, state)
    for r in range(PARTIAL):
        state[0] = (sbox(state[0], squares_p) + C_PARTIAL[r]) % R
        state = mat_vec(S[r], state)
        mix_s.append(state[0])
    for r in range(5, 8):
        state = full(state, r)
        state = [(x + c) % R for x, c in zip(state, C_FULL[r])]
        ark += state
        state = mat_vec(M, state)
    last = full(state, 7)
    # Lane 0 of the first round is a constant, and so is not in the witness;
    # nor is the last lane's power, which the output determines.
    block = ark[1:] + last[:2] + mix_s + squares_f[2:] + squares_p
    return mat_vec(M, last)[0], block


# --- Baby Jubjub ---------------------------------------------------------------

ED_A, ED_D, MONT_A = 168700, 168696, 168698
BASE8 = (
    5299619240641551281634865583518297030282874472190772894086521144482721001553,
    16950150798460657717958625567821834550301663161624707787222815936182638968203)


def to_montgomery(p):
    u = (1 + p[1]) * inv(1 - p[1]) % R
    return u, u * inv(p[0]) % R


def to_edwards(p):
    return p[0] * inv(p[1]) % R, (p[0] - 1) * inv(p[0] + 1) % R


def mont_double(p):
    lam = (3 * p[0] ** 2 + 2 * MONT_A * p[0] + 1) * inv(2 * p[1]) % R
    x = (lam * lam - MONT_A - 2 * p[0]) % R
    return x, (lam * (p[0] - x) - p[1]) % R


def mont_add(p, q):
    """p + q and the slope."""
    lam = (q[1] - p[1]) * inv(q[0] - p[0]) % R
    x = (lam * lam - MONT_A - p[0] - q[0]) % R
    return (x, (lam * (p[0] - x) - p[1]) % R), lam


def ed_add(p, q):
    """p + q and beta, gamma, delta, tau of circomlib's BabyAdd."""
    beta, gamma = p[0] * q[1] % R, p[1] * q[0] % R
    delta = (p[1] - ED_A * p[0]) * (q[0] + q[1]) % R
    tau = beta * gamma % R
    return ((beta + gamma) * inv(1 + ED_D * tau) % R,
            (delta + ED_A * beta - gamma) * inv(1 - ED_D * tau) % R), [
                beta, gamma, delta, tau]


def segment(base, bits, windows):
    """One segment of EscalarMulFix: the product, the next base, and per
    window (sum, table entry, slope, a210), then [x1, y1, tau]."""
    tables = []
    for _ in range(windows):
        row = [base, mont_double(base)]
        while len(row) < 8:
            row.append(mont_add(row[-1], base)[0])
        tables.append(row)
        base = row[7]
    acc = mont_double(base)
    offset = tables[0][0]
    for row in tables[1:]:
        offset = mont_add(offset, row[0])[0]
    offset = mont_add(offset, acc)[0]
    log = []
    for k, row in enumerate(tables):
        b = bits[3 * k:3 * k + 3]
        x = [p[0] for p in row]
        a210 = (x[7] - x[6] - x[5] + x[4] - x[3] + x[2] + x[1] - x[0]) * (
            b[0] * b[1]) % R
        entry = row[b[0] + 2 * b[1] + 4 * b[2]]
        acc, lam = mont_add(acc, entry)
        log.append((acc, entry, lam, a210))
    p, q = to_edwards(acc), to_edwards(offset)
    out, (_, _, _, tau) = ed_add(p, (-q[0] % R, q[1]))
    return out, base, log, [*p, tau]


def witness(depth, secret, length, index, siblings, message, scope):
    """The witness of Semaphore(depth) as circom --O2 numbers its signals;
    message and scope are the hashed ones. None for what the circuit refuses.
    A path longer than the depth is not refused here: its root is 0."""
    if secret >= SUBORDER or index >> depth or len(siblings) != depth:
        return None
    n = depth
    bits = [secret >> i & 1 for i in range(253)] + [0, 0]
    out0, base, log0, cadd0 = segment(to_montgomery(BASE8), bits[:249], 83)
    out1, _, log1, cadd1 = segment(base, bits[249:], 2)
    (ax, ay), final = ed_add(out0, out1)
    leaf, block_leaf = poseidon(ax, ay)
    nullifier, block_null = poseidon(scope, secret)

    nodes, muxes, blocks = [leaf], [], []
    for i in range(n):
        pair = [nodes[i], siblings[i]]
        if index >> i & 1:
            pair.reverse()
        node, block = poseidon(*pair)
        nodes.append(node)
        muxes += pair
        blocks += block
    equal = []
    for i in range(n + 1):
        equal += [int(i == length), inv(i - length)]
    roots = [equal[2 * i] * nodes[i] for i in range(n)]
    root = sum(roots) + equal[2 * n] * nodes[n]

    w = [1, root, nullifier, message, scope, secret, length, index]
    w += siblings
    w += [message * message % R, ax, ay] + bits[:252]
    w += [*out0, *out1] + final
    for acc, entry, lam, _ in log0:
        w += [*acc, *entry, lam]
    w += cadd0 + [a210 for _, _, _, a210 in log0]
    acc, entry, lam, a210 = log1[0]
    w += [*acc, *entry, lam, *log1[1][0], log1[1][2]] + cadd1 + [a210]
    w += nodes + roots + [index >> i & 1 for i in range(n - 1)]
    w += equal + muxes + blocks + block_leaf + block_null
    w += [secret + 2**251 - SUBORDER >> i & 1 for i in range(250)]
    assert len(w) == 1514 + 247 * n
    return w


# --- G1 and G2 in Jacobian coordinates -----------------------------------------
# None is the point at infinity. Formulas: EFD, dbl-2009-l and add-2007-bl.

class Fq:
    zero, one = 0, 1

    @staticmethod
    def add(a, b): return (a + b) % Q

    @staticmethod
    def sub(a, b): return (a - b) % Q

    @staticmethod
    def mul(a, b): return a * b % Q

    @staticmethod
    def inv(a): return pow(a, -1, Q)


class Fq2:
    """Pairs (c0, c1) for c0 + c1 i, i^2 = -1."""
    zero, one = (0, 0), (1, 0)

    @staticmethod
    def add(a, b): return ((a[0] + b[0]) % Q, (a[1] + b[1]) % Q)

    @staticmethod
    def sub(a, b): return ((a[0] - b[0]) % Q, (a[1] - b[1]) % Q)

    @staticmethod
    def mul(a, b):
        return ((a[0] * b[0] - a[1] * b[1]) % Q,
                (a[0] * b[1] + a[1] * b[0]) % Q)

    @staticmethod
    def inv(a):
        n = pow(a[0] * a[0] + a[1] * a[1], -1, Q)
        return (a[0] * n % Q, -a[1] * n % Q)


class Curve:
    def __init__(self, field):
        self.f = field

    def double(self, p):
        if p is None:
            return None
        f = self.f
        x, y, z = p
        a, b = f.mul(x, x), f.mul(y, y)
        c = f.mul(b, b)
        t = f.add(x, b)
        d = f.sub(f.sub(f.mul(t, t), a), c)
        d = f.add(d, d)
        e = f.add(f.add(a, a), a)
        x3 = f.sub(f.mul(e, e), f.add(d, d))
        c8 = f.add(c, c)
        c8 = f.add(c8, c8)
        c8 = f.add(c8, c8)
        y3 = f.sub(f.mul(e, f.sub(d, x3)), c8)
        z3 = f.mul(y, z)
        return x3, y3, f.add(z3, z3)

    def add(self, p, q):
        if p is None:
            return q
        if q is None:
            return p
        f = self.f
        z1z1, z2z2 = f.mul(p[2], p[2]), f.mul(q[2], q[2])
        u1, u2 = f.mul(p[0], z2z2), f.mul(q[0], z1z1)
        s1 = f.mul(p[1], f.mul(q[2], z2z2))
        s2 = f.mul(q[1], f.mul(p[2], z1z1))
        h, r = f.sub(u2, u1), f.sub(s2, s1)
        if h == f.zero:
            return self.double(p) if r == f.zero else None
        hh = f.mul(h, h)
        hhh, v = f.mul(h, hh), f.mul(u1, hh)
        x3 = f.sub(f.sub(f.mul(r, r), hhh), f.add(v, v))
        y3 = f.sub(f.mul(r, f.sub(v, x3)), f.mul(s1, hhh))
        return x3, y3, f.mul(h, f.mul(p[2], q[2]))

    def mul(self, k, p):
        out = None
        for bit in bin(k % R)[2:]:
            out = self.double(out)
            if bit == '1':
                out = self.add(out, p)
        return out

    def msm(self, scalars, points, window=8):
        """Sum of k * P: Pippenger with plain buckets."""
        total = None
        for shift in reversed(range(0, 256, window)):
            for _ in range(window):
                total = self.double(total)
            buckets = [None] * (1 << window)
            for k, p in zip(scalars, points):
                digit = k >> shift & ((1 << window) - 1)
                if digit:
                    buckets[digit] = self.add(buckets[digit], p)
            running = part = None
            for b in reversed(buckets[1:]):
                running = self.add(running, b)
                part = self.add(part, running)
            total = self.add(total, part)
        return total

    def affine(self, p):
        f = self.f
        z = f.inv(p[2])
        zz = f.mul(z, z)
        return f.mul(p[0], zz), f.mul(p[1], f.mul(z, zz))


G1, G2 = Curve(Fq), Curve(Fq2)

# --- the proving key ------------------------------------------------------------


class Zkey:
    """A snarkjs proving key, as `circuit.md` and snarkjs's writer have it."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            data = f.read()
        assert data[:12] == b'zkey' + struct.pack('<II', 1, 10)
        self.sections, at = {}, 12
        for _ in range(10):
            kind, length = struct.unpack_from('<IQ', data, at)
            self.sections[kind] = data[at + 12:at + 12 + length]
            at += 12 + length
        head = self.sections[2]
        self.n_vars, self.n_public, self.domain = struct.unpack_from(
            '<III', head, 72)
        (self.alpha1, self.beta1, self.delta1) = (
            self.g1(head, o) for o in (84, 148, 468))
        (self.beta2, self.gamma2, self.delta2) = (
            self.g2(head, o) for o in (212, 340, 532))

    MONT = pow(2, -256, Q)

    def fq(self, data, at):
        return int.from_bytes(data[at:at + 32], 'little') * self.MONT % Q

    def g1(self, data, at):
        x, y = self.fq(data, at), self.fq(data, at + 32)
        return (x, y, 1) if x or y else None

    def g2(self, data, at):
        v = [self.fq(data, at + 32 * i) for i in range(4)]
        return ((v[0], v[1]), (v[2], v[3]), (1, 0)) if any(v) else None

    def points(self, kind):
        data, size = self.sections[kind], 128 if kind == 7 else 64
        read = self.g2 if kind == 7 else self.g1
        return [read(data, at) for at in range(0, len(data), size)]

    def rows(self, w):
        """A w and B w, one value a row of the domain."""
        data = self.sections[4]
        count, = struct.unpack_from('<I', data)
        out = [[0] * self.domain, [0] * self.domain]
        scale = pow(2, -512, R)
        for at in range(4, 4 + 44 * count, 44):
            matrix, row, signal = struct.unpack_from('<III', data, at)
            value = int.from_bytes(data[at + 12:at + 44], 'little') * scale
            out[matrix][row] = (out[matrix][row] + value * w[signal]) % R
        return out


def ntt(values, root):
    n = len(values)
    if n == 1:
        return values
    even, odd = (ntt(values[i::2], root * root % R) for i in (0, 1))
    out, t = [0] * n, 1
    for i in range(n // 2):
        x = odd[i] * t % R
        out[i], out[i + n // 2] = (even[i] + x) % R, (even[i] - x) % R
        t = t * root % R
    return out


def root_of_unity(n):
    return pow(5, (R - 1) // n, R)


def quotient(zkey, w):
    """(A B - C) on the odd coset, where Z is the constant that the points of
    section 9 have absorbed."""
    n = zkey.domain
    a, b = zkey.rows(w)
    c = [x * y % R for x, y in zip(a, b)]
    g, omega, scale = root_of_unity(2 * n), root_of_unity(n), inv(n)

    def shift(v):
        v = ntt(v, inv(omega))
        return ntt([x * scale % R * pow(g, i, R) % R
                    for i, x in enumerate(v)], omega)
    a, b, c = shift(a), shift(b), shift(c)
    return [(x * y - z) % R for x, y, z in zip(a, b, c)]


def prove_plain(zkey, w, r, s):
    """Groth's proof (A, B, C), affine, with his blinding r and s (ePrint
    2016/260, section 3.2)."""
    add, mul = G1.add, G1.mul
    a = add(add(zkey.alpha1, G1.msm(w, zkey.points(5))), mul(r, zkey.delta1))
    b1 = add(add(zkey.beta1, G1.msm(w, zkey.points(6))), mul(s, zkey.delta1))
    b = G2.add(G2.add(zkey.beta2, G2.msm(w, zkey.points(7))),
               G2.mul(s, zkey.delta2))
    c = G1.msm(w[zkey.n_public + 1:], zkey.points(8))
    c = add(c, G1.msm(quotient(zkey, w), zkey.points(9)))
    c = add(add(c, mul(s, a)), mul(r, b1))
    c = add(c, mul(-r * s, zkey.delta1))
    return a, b, c


def prove(zkey, w, s, t):
    """The proof re-randomised with s and t (ePrint 2020/811, section 3)."""
    a, b, c = prove_plain(zkey, w, 0, 0)
    return (G1.affine(G1.mul(inv(s), a)),
            G2.affine(G2.mul(s, G2.add(b, G2.mul(t, zkey.delta2)))),
            G1.affine(G1.add(c, G1.mul(t, a))))


def main():
    s, t, *w = [int(line, 16) for line in sys.stdin]
    a, b, c = prove(Zkey(sys.argv[1]), w, s, t)
    for n in (*a, b[0][1], b[0][0], b[1][1], b[1][0], *c):
        print(f'{n:064x}')


if __name__ == '__main__':
    main()
