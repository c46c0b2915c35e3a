// differential.mjs: thousands of spoilt proofs, judged by the official
// JavaScript verifier and by `postern verify`.
//
//   node tests/js/differential.mjs [COUNT]     (SEED=N repeats a run)
//
// Where the two differ, ours must be the stricter, and the case must belong to
// a class below that says why, with the reason that ours gives. What only ours
// accepts is a failure, and so is a class whose difference never shows.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finish, root, verifyProof } from './official.mjs'

const P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n
const R = 21888242871839275222246405745257275088548364400416034343698204186575808495617n
const count = Number(process.argv[2] ?? 2500)
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const postern = process.env.POSTERN ?? `${root}build/postern`
const vectors = JSON.parse(readFileSync(`${root}tests/vectors/proofs.json`)).map((v) => v.proof)

// --- a generator that can be repeated (mulberry32) ---

let state = seed
function random() {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return (t ^ (t >>> 14)) >>> 0
}
const below = (n) => random() % n
const pick = (list) => list[below(list.length)]
const bigBelow = (n) => {
  let v = 0n
  for (let i = 0; i < 9; i++) v = (v << 32n) | BigInt(random())
  return v % n
}

// --- parts of a proof ---

const signals = ['merkleTreeRoot', 'nullifier']
const numbers = ['message', 'scope']
const get = (p, at) => (typeof at === 'number' ? p.points[at] : p[at])
const set = (p, at, v) => {
  if (typeof at === 'number') p.points[at] = v
  else p[at] = v
}
const anyDecimal = () => pick([...signals, ...numbers, 0, 1, 2, 3, 4, 5, 6, 7])
const hex = (s) => `0x${BigInt(s).toString(16)}`

// A mutation takes a proof apart and gives the text to judge. `stricter` says
// what ours answers where the official verifier still says yes.
const json = JSON.stringify
const raw = (p, extra) => json(p).replace(/}$/, `,${extra}}`)
const changed = (edit) => (p) => {
  edit(p)
  return json(p)
}

const classes = [
  // The same for both.
  { name: 'untouched', make: changed(() => {}), valid: true },
  { name: 'unknown members', make: (p) => raw(p, '"note":[1,{"x":null}]'), valid: true },
  { name: 'members in another order', valid: true,
    make: (p) => json(Object.fromEntries(Object.entries(p).reverse())) },
  { name: 'white space', make: (p) => ` ${json(p, null, ' ').replaceAll('\n', '\t')} `, valid: true },
  { name: 'escaped characters', valid: true,
    make: (p) => json(p).replace('scope', '\\u0073cope').replace('"message":"1"', '"message":"\\u0031"') },
  { name: 'another number', make: changed((p) => {
    const at = anyDecimal()
    set(p, at, String(bigBelow(typeof at === 'number' ? P : R)))
  }) },
  { name: 'plus or minus one', make: changed((p) => {
    const at = anyDecimal()
    set(p, at, String(BigInt(get(p, at)) + pick([1n, -1n])))
  }) },
  { name: 'plus r', make: changed((p) => {
    const at = pick([...signals, ...numbers])
    set(p, at, String(BigInt(get(p, at)) + R))
  }) },
  { name: 'plus 2^256', make: changed((p) => {
    const at = anyDecimal()
    set(p, at, String(BigInt(get(p, at)) + 2n ** 256n))
  }), stricter: /^points\[\d\]: not below the field modulus$/ },
  { name: 'negative', make: changed((p) => {
    const at = anyDecimal()
    set(p, at, `-${get(p, at)}`)
  }), stricter: /^(message|scope): not a canonical decimal$/ },
  { name: 'another depth', make: changed((p) => { p.merkleTreeDepth = 1 + below(32) }), either: true },
  { name: 'no such depth', make: changed((p) => {
    p.merkleTreeDepth = pick([0, -1, 33, 2 ** 32 + p.merkleTreeDepth, 1.5, null, true, '3', [3], 1e300])
  }) },
  { name: 'a member missing', make: changed((p) => { delete p[pick(Object.keys(p))] }) },
  { name: 'a member of another type', make: changed((p) => {
    const at = pick(Object.keys(p))
    p[at] = pick([null, true, 3.5, {}, [], '', 'x', { [at]: p[at] }])
  }) },
  { name: 'a point of another type', make: changed((p) => {
    p.points[below(8)] = pick([null, true, {}, '', 'x', 1.5])
  }) },
  { name: 'seven points', make: changed((p) => { p.points.splice(below(8), 1) }) },
  { name: 'zero', make: changed((p) => { set(p, anyDecimal(), '0') }), either: true },
  { name: 'infinity', make: changed((p) => {
    const [from, to] = pick([[0, 2], [2, 6], [6, 8], [0, 8]])
    for (let i = from; i < to; i++) p.points[i] = '0'
  }) },
  { name: "B's halves swapped", make: changed((p) => {
    const q = p.points
    p.points = [q[0], q[1], q[3], q[2], q[5], q[4], q[6], q[7]]
  }) },
  { name: 'A, B or C negated', make: changed((p) => {
    for (const i of pick([[1], [4, 5], [7]])) p.points[i] = String(P - BigInt(p.points[i]))
  }) },
  { name: 'A and B negated', valid: true, make: changed((p) => {
    for (const i of [1, 4, 5]) p.points[i] = String(P - BigInt(p.points[i]))
  }) },
  { name: "another proof's points", make: changed((p) => {
    const other = pick(vectors)
    for (let i = pick([0, 2, 6]); i < 8; i++) p.points[i] = other.points[i]
  }), either: true },
  { name: "another proof's member", make: changed((p) => {
    const at = pick([...signals, ...numbers])
    p[at] = pick(vectors)[at]
  }), either: true },
  { name: 'a flipped bit', make: (p) => {
    const bytes = Buffer.from(json(p))
    bytes[below(bytes.length)] ^= 1 << below(7)
    return bytes.toString('latin1').replaceAll('\n', ' ')
  }, stricter: /./ },
  { name: 'a byte less', make: (p) => {
    const text = json(p), at = below(text.length)
    return text.slice(0, at) + text.slice(at + 1)
  }, stricter: /./ },
  { name: 'cut short', make: (p) => json(p).slice(0, -1 - below(400)) },
  { name: 'not JSON', make: (p) => pick(['', 'x', 'null', '[]', `[${json(p)}]`, `${json(p)}${json(p)}`, json(json(p))]) },

  // Where ours is the stricter. Each of these is another spelling of a proof
  // that is good, and one spelling is what we allow.
  { name: 'a coordinate plus p', why: 'it is reduced, so that a proof has many spellings',
    make: changed((p) => {
      const i = below(8)
      p.points[i] = String(BigInt(p.points[i]) + P * BigInt(1 + below(4)))
    }), stricter: /^points\[\d\]: not below the field modulus$/ },
  { name: 'more than eight points', why: 'the rest is not looked at',
    make: changed((p) => { p.points.push(pick(['1', 'x', null])) }),
    stricter: /^points: 9 values, not 8$/ },
  { name: 'hexadecimal', why: 'BigInt reads it', make: changed((p) => {
    const at = anyDecimal()
    set(p, at, hex(get(p, at)))
  }), stricter: /: not a canonical decimal$/ },
  { name: 'leading zeros', why: 'BigInt reads them', make: changed((p) => {
    const at = anyDecimal()
    set(p, at, '0'.repeat(1 + below(5)) + get(p, at))
  }), stricter: /: not a canonical decimal$/ },
  { name: 'blanks, signs and other bases in message and scope', why: 'ethers hands them to BigInt',
    make: changed((p) => {
      const at = pick(numbers), v = BigInt(p[at])
      p[at] = pick([` ${v}`, `${v}\n`, `\ufeff${v}`, `+${v}`, `0b${v.toString(2)}`, `0o${v.toString(8)}`])
    }), stricter: /^(message|scope): not a canonical decimal$/ },
  { name: 'a depth with a fraction of nothing', why: 'JSON.parse makes 3.0 the number 3',
    make: (p) => json(p).replace(/("merkleTreeDepth":)(\d+)/, pick(['$1$2.0', '$1$2e0', '$1$2.00'])),
    stricter: /^merkleTreeDepth: not an integer$/ },
  { name: 'a member twice', why: 'JSON.parse takes the last', make: (p) => {
    const at = pick(Object.keys(p))
    return raw(p, `${json(at)}:${json(p[at])}`)
  }, stricter: /^(\w+): given twice$/ },
  { name: 'a member twice, unlike', why: 'JSON.parse takes the last', make: (p) => {
    const at = pick(Object.keys(p))
    return `{${json(at)}:"1",${json(p).slice(1)}`
  }, stricter: /^(\w+): given twice$/ },
  { name: 'an unknown member twice', why: 'JSON.parse takes the last',
    make: (p) => raw(p, '"x":{"y":1,"y":2}'), stricter: /^given twice$/ },
  { name: 'a number beyond 64 bits in an unknown member', why: 'it is rounded',
    make: (p) => raw(p, `"x":${pick(['1e400', '123456789012345678901', '-9223372036854775809'])}`),
    stricter: /^a number beyond 64 bits$/ },
  { name: 'half a surrogate pair in an unknown member', why: 'JavaScript strings may hold one',
    make: (p) => raw(p, '"x":"\\ud800"'), stricter: /^not JSON, at byte \d+$/ },
  { name: 'a NUL in the name of an unknown member', why: 'JavaScript strings may hold one',
    make: (p) => raw(p, '"x\\u0000":1'), stricter: /^not JSON, at byte \d+$/ },
  { name: 'deep nesting in an unknown member', why: 'JSON.parse goes deeper than 2048',
    make: (p) => raw(p, `"x":${'['.repeat(3000)}${']'.repeat(3000)}`),
    stricter: /^not JSON, at byte \d+$/ },
]

// --- make, judge, compare ---

async function official(text) {
  try {
    return (await verifyProof(JSON.parse(text))) === true
  } catch {
    return false
  }
}

function ours(texts) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-'))
  const path = join(folder, 'proofs')
  writeFileSync(path, texts.map((t) => `${t}\n`).join(''))
  const run = spawnSync(postern, ['verify', '--ndjson', path], { encoding: 'utf8', maxBuffer: 1 << 28 })
  rmSync(folder, { recursive: true })
  if (run.status !== 0 && run.status !== 1) throw new Error(`postern verify: ${run.status}: ${run.stderr}`)
  const answers = run.stdout.trimEnd().split('\n')
  if (answers.length !== texts.length) throw new Error(`${answers.length} answers for ${texts.length} lines`)
  return answers
}

function fault(c, js, answer) {
  const valid = answer === 'valid'
  if (!valid && !answer.startsWith('invalid: ')) return 'no answer of ours'
  if (valid && !js) return 'only ours accepts'
  if (valid && !c.valid && !c.either) return 'accepted by both'
  if (!valid && js && !c.stricter) return 'refused by ours alone, and no class says why'
  if (!valid && js && !c.stricter.test(answer.slice(9))) return 'refused by ours alone for another reason'
  if (!valid && c.valid) return 'good, and refused'
  return null
}

console.log(`seed ${seed}`)
execFileSync(postern, ['--version'])
const cases = []
for (let i = 0; i < Math.max(count, 3 * classes.length); i++) {
  const c = classes[i % classes.length]
  const text = c.make(structuredClone(pick(vectors)))
  if (text.includes('\n')) throw new Error(`${c.name}: more than a line`)
  cases.push({ c, text })
}
const answers = ours(cases.map(({ text }) => text))
for (const [i, { c, text }] of cases.entries()) {
  const js = await official(text)
  const why = fault(c, js, answers[i])
  if (why) (c.faults ??= []).push(`${why}: ${answers[i]}: ${text.slice(0, 1500)}`)
  if (js && answers[i] !== 'valid') c.differs = (c.differs ?? 0) + 1
  c.cases = (c.cases ?? 0) + 1
}
await finish()

let failed = 0
for (const c of classes) {
  if (c.why && !c.differs) (c.faults ??= []).push('the official verifier agrees: no difference to name any more')
  for (const f of c.faults?.slice(0, 3) ?? []) console.log(`    ${f}`)
  const note = c.differs ? `, stricter in ${c.differs}${c.why ? `: ${c.why}` : ''}` : ''
  console.log(`${c.faults ? 'FAIL' : 'ok  '} ${c.name} (${c.cases}${note})`)
  failed += c.faults ? 1 : 0
}
console.log(`${classes.length - failed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
