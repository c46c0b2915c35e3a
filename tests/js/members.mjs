// members.mjs: identities and groups, by the official JavaScript and by the
// commands.
//
//   node tests/js/members.mjs [COUNT]     (SEED=N repeats a run)
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Group, Identity, root } from './official.mjs'

const count = Number(process.argv[2] ?? 120)
const seed = process.env.SEED ?? String(Math.floor(Math.random() * 2 ** 31))
const postern = process.env.POSTERN ?? `${root}build/postern`
const folder = mkdtempSync(join(tmpdir(), 'postern-'))
let passed = 0, failed = 0, drawn = 0

// SHA-256 in counter mode: bytes that follow from the seed.
const bytes = (n) => {
  const parts = []
  for (let have = 0; have < n; have += 32) {
    parts.push(createHash('sha256').update(`${seed}/${drawn++}`).digest())
  }
  return Buffer.concat(parts).subarray(0, n)
}
const below = (n) => bytes(4).readUInt32BE() % n

function run(...args) {
  const done = spawnSync(postern, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
  if (done.status !== 0) throw new Error(`${args.join(' ').slice(0, 200)}: ${done.status}: ${done.stderr}`)
  return done.stdout
}

function check(name, test) {
  try {
    test()
    passed++
    console.log(`ok   ${name}`)
  } catch (e) {
    failed++
    console.log(`    ${e.message.slice(0, 1000)}\nFAIL ${name}`)
  }
}

function same(what, got, want) {
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    throw new Error(`${what}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`)
  }
}

// JSON cannot hold a bigint; both sides write decimals.
const decimals = (value) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? String(v) : v)))

console.log(`seed ${seed}`)

check('identities: private keys of every length up to COUNT, imported', () => {
  const file = join(folder, 'id')
  for (let length = 0; length <= count; length++) {
    const id = new Identity(bytes(length))
    const printed = run('identity', 'new', '--plain', '--from', id.export(), '-o', file)
    same('last line', printed.trimEnd().split('\n').pop(), String(id.commitment))
    same(`key of ${length} bytes`, JSON.parse(run('identity', 'show', '--json', '--secret', file)), decimals({
      commitment: id.commitment, publicKey: id.publicKey, secretScalar: id.secretScalar, export: id.export(),
    }))
    rmSync(file)
  }
})

check('identities: ours, imported by the official library', () => {
  const file = join(folder, 'id')
  for (let i = 0; i < 10; i++) {
    const commitment = run('identity', 'new', '--plain', '-o', file).trim()
    const { export: exported } = JSON.parse(run('identity', 'show', '--json', '--secret', file))
    same('length', Buffer.from(exported, 'base64').length, 32)
    same('commitment', String(Identity.import(exported).commitment), commitment)
    rmSync(file)
  }
})

const commitments = (n) => Array.from({ length: n }, () => BigInt(`0x${bytes(32).toString('hex')}`) >> 3n)
const write = (file, members) => writeFileSync(file, members.map((m) => `${m}\n`).join(''))

check('groups: roots, depths and Merkle proofs of many sizes', () => {
  const file = join(folder, 'members')
  const sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 255, 256, 257, 1 + below(600), 600 + below(600)]
  for (const size of sizes) {
    const members = commitments(size)
    const group = new Group(members)
    write(file, members)
    same(`root of ${size}`, JSON.parse(run('group', 'root', '--json', file)),
      { root: String(group.root), depth: group.depth, size })
    for (const place of new Set([0, size - 1, below(size), below(size)])) {
      const { root: r, leaf, index, siblings } = decimals(group.generateMerkleProof(place))
      same(`proof of ${place} in ${size}`,
        JSON.parse(run('group', 'proof', '--json', file, String(members[place]))),
        { leaf, index, siblings, root: r })
    }
  }
})

check('groups: edited by the commands, rebuilt by the official library', () => {
  const file = join(folder, 'edited')
  let members = commitments(20)
  writeFileSync(file, `# a group\n${members.join('\n')}`)
  for (let step = 0; step < 30; step++) {
    if (below(3) > 0) {
      const more = commitments(1 + below(3))
      run('group', 'add', file, ...more.map(String))
      members.push(...more)
    } else {
      const gone = new Set([below(members.length), below(members.length)])
      run('group', 'remove', file, ...[...gone].map((i) => String(members[i])))
      members = members.filter((_, i) => !gone.has(i))
    }
    const group = new Group(members)
    same(`root after step ${step}`, JSON.parse(run('group', 'root', '--json', file)),
      { root: String(group.root), depth: group.depth, size: members.length })
  }
  same('list', run('group', 'list', file).trimEnd().split('\n'), members.map(String))
  same('comment', readFileSync(file, 'utf8').split('\n')[0], '# a group')
})

rmSync(folder, { recursive: true })
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
