"""BN254 on plain integers, written to be read: the oracle of src/bn254.

Nothing is shared with the C code: points are affine, every inverse is one of
Python's, and Fp12 is one extension of degree 12, Fp[w] / (w^12 - 18 w^6 + 82),
in which i = w^6 - 9. The pairing is the textbook's: chords and tangents on the
curve over Fp12, then the plain power. Slow, and easy to check by eye.
"""

U = 4965661367192848881
P = 36 * U**4 + 36 * U**3 + 24 * U**2 + 6 * U + 1
R = 36 * U**4 + 36 * U**3 + 18 * U**2 + 6 * U + 1
TRACE = 6 * U**2 + 1
# The order of the twist is R * COFACTOR.
COFACTOR = 2 * P - R
COFACTOR_PRIMES = (10069, 5864401, 1875725156269,
                   197620364512881247228717050342013327560683201906968909)


# --- Fp2: pairs (c0, c1) for c0 + c1 i ----------------------------------------

def add2(a, b):
    return (a[0] + b[0]) % P, (a[1] + b[1]) % P


def sub2(a, b):
    return (a[0] - b[0]) % P, (a[1] - b[1]) % P


def mul2(a, b):
    return (a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P


def inv2(a):
    n = pow(a[0] * a[0] + a[1] * a[1], -1, P)
    return a[0] * n % P, -a[1] * n % P


def pow2(a, e):
    r = (1, 0)
    while e:
        if e & 1:
            r = mul2(r, a)
        a = mul2(a, a)
        e >>= 1
    return r


def sqrt2(a):
    """A root, or None; by the order of the group, not by the norm."""
    # p^2 - 1 = 2^4 m, m odd: Tonelli and Shanks.
    m, s = P * P - 1, 0
    while m % 2 == 0:
        m //= 2
        s += 1
    if a == (0, 0):
        return a
    if pow2(a, (P * P - 1) // 2) != (1, 0):
        return None
    z = next((n, 1) for n in range(2, 99)
             if pow2((n, 1), (P * P - 1) // 2) != (1, 0))
    c, x, t = pow2(z, m), pow2(a, (m + 1) // 2), pow2(a, m)
    while t != (1, 0):
        k, q = 0, t
        while q != (1, 0):
            q = mul2(q, q)
            k += 1
        b = pow2(c, 1 << (s - k - 1))
        x, c, s = mul2(x, b), mul2(b, b), k
        t = mul2(t, c)
    return x


XI = (9, 1)  # no square and no cube; w^6 = XI
TWIST_B = mul2((3, 0), inv2(XI))


# --- curves: None is infinity -------------------------------------------------

class Curve:
    """y^2 = x^3 + b over a field given by its operations."""

    def __init__(self, add, sub, mul, inv, small, b):
        self.add_, self.sub_, self.mul_, self.inv_ = add, sub, mul, inv
        self.small, self.b = small, b

    def on(self, p):
        x, y = p
        return self.mul_(y, y) == self.add_(
            self.mul_(self.mul_(x, x), x), self.b)

    def neg(self, p):
        return p and (p[0], self.sub_(self.small(0), p[1]))

    def add(self, p, q):
        if p is None or q is None:
            return p or q
        if p[0] == q[0]:
            if p[1] != q[1] or p[1] == self.small(0):
                return None
            n, d = self.mul_(self.small(3), self.mul_(p[0], p[0])), \
                self.mul_(self.small(2), p[1])
        else:
            n, d = self.sub_(q[1], p[1]), self.sub_(q[0], p[0])
        s = self.mul_(n, self.inv_(d))
        x = self.sub_(self.sub_(self.mul_(s, s), p[0]), q[0])
        return x, self.sub_(self.mul_(s, self.sub_(p[0], x)), p[1])

    def mul(self, p, k):
        r = None
        for bit in bin(k)[2:] if k else '':
            r = self.add(r, r)
            if bit == '1':
                r = self.add(r, p)
        return r


def prime_curve(b):
    return Curve(lambda a, c: (a + c) % P, lambda a, c: (a - c) % P,
                 lambda a, c: a * c % P, lambda a: pow(a, -1, P),
                 lambda n: n, b)


G1 = prime_curve(3)
TWIST = Curve(add2, sub2, mul2, inv2, lambda n: (n, 0), TWIST_B)
G1_GENERATOR = (1, 2)
G2_GENERATOR = (
    (10857046999023057135944570762232829481370756359578518086990519993285655852781,
     11559732032986387107991004021392285783925812861821192530917403151452391805634),
    (8495653923123431417604973247489272438418190587263600148770280649306958101930,
     4082367875863433681332203403145435568316851327593401208105741076214120093531))


def twist_point(random):
    """A point of the twist that is not chosen for anything."""
    while True:
        x = random.randrange(P), random.randrange(P)
        y = sqrt2(add2(mul2(mul2(x, x), x), TWIST_B))
        if y is not None:
            return x, y


# --- Fp12: twelve integers, the coefficients of 1, w, ... w^11 ----------------

ONE12 = (1,) + (0,) * 11


def mul12(a, b):
    t = [0] * 23
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                t[i + j] += x * y
    # (w^6 - XI[0])^2 = -1: w^12 = 18 w^6 - 82.
    for k in range(22, 11, -1):
        t[k - 6] += 2 * XI[0] * t[k]
        t[k - 12] -= (XI[0] * XI[0] + 1) * t[k]
    return tuple(x % P for x in t[:12])


def pow12(a, e):
    r = ONE12
    for bit in bin(e)[2:]:
        r = mul12(r, r)
        if bit == '1':
            r = mul12(r, a)
    return r


def embed(c, k):
    """c w^k for c in Fp2, with i = w^6 - XI[0]."""
    t = [0] * 12
    t[k] = (c[0] - XI[0] * c[1]) % P
    t[k + 6] = c[1]
    return tuple(t)


def coefficients(a):
    """Back: six elements of Fp2, those of 1, w, ... w^5."""
    return [((a[k] + XI[0] * a[k + 6]) % P, a[k + 6]) for k in range(6)]


# --- the pairing --------------------------------------------------------------

def psi(q):
    """Frobenius on the curve over Fp12, seen from the twist."""
    def conj(a):
        return a[0], -a[1] % P
    return mul2(conj(q[0]), pow2(XI, (P - 1) // 3)), \
        mul2(conj(q[1]), pow2(XI, (P - 1) // 2))


def line(a, b, p):
    """The line through a and b (points of the twist), untwisted, at p of G1.
    Vertical lines and constants lie in a subfield: the power forgets them."""
    if a == b:
        s = mul2(mul2((3, 0), mul2(a[0], a[0])), inv2(mul2((2, 0), a[1])))
    else:
        s = mul2(sub2(b[1], a[1]), inv2(sub2(b[0], a[0])))
    # On the curve the slope is s w and the point (x w^2, y w^3).
    minus_x = -p[0] % P
    terms = (embed((p[1], 0), 0), embed(mul2(s, (minus_x, 0)), 1),
             embed(sub2(mul2(s, a[0]), a[1]), 3))
    return tuple(sum(t) % P for t in zip(*terms))


def miller(p, q):
    if p is None or q is None:
        return ONE12
    f, t = ONE12, q
    for bit in bin(6 * U + 2)[3:]:
        f = mul12(mul12(f, f), line(t, t, p))
        t = TWIST.add(t, t)
        if bit == '1':
            f = mul12(f, line(t, q, p))
            t = TWIST.add(t, q)
    q1, q2 = psi(q), TWIST.neg(psi(psi(q)))
    f = mul12(f, line(t, q1, p))
    t = TWIST.add(t, q1)
    return mul12(f, line(t, q2, p))


def pairing(p, q):
    """With the constant that the C code's final power has besides."""
    return pow12(miller(p, q),
                 (P**12 - 1) // R * (2 * U * (6 * U**2 + 3 * U + 1)))


# --- bytes --------------------------------------------------------------------

def compress(p, larger_of):
    """As gnark does it: flags 10 and 11 for the smaller and the larger y."""
    if p is None:
        return None
    x = p[0] if isinstance(p[0], tuple) else (p[0],)
    data = bytearray(b''.join(c.to_bytes(32, 'big') for c in reversed(x)))
    data[0] |= 0xc0 if larger_of(p[1]) else 0x80
    return bytes(data)


def larger1(y):
    return y > P - y


def larger2(y):
    return tuple(reversed(y)) > tuple((P - c) % P for c in reversed(y))
