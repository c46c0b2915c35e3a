// chain.mjs: a local Ethereum chain with the official Semaphore contract.
//
// hardhat's network, with @semaphore-protocol/contracts compiled by solc and
// deployed; JSON-RPC over HTTP on a loopback port. The first line on standard
// output is {"port", "contract"}. Then each line on standard input is a JSON
// command, and gets one line of JSON in answer:
//   {"do": "create"}                         -> {"group": "0"}
//   {"do": "add", "group", "members": [..]}  -> {"root"}
//   {"do": "remove", "group", "member"}      -> {"root"}
//   {"do": "mine", "blocks": n}              -> {"block"}
//   {"do": "prove", "group", "identity": base64 export, "scope", "message"}
//                                            -> the official proof
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { artifacts, generateProof, Group, Identity } from './official.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const modules = fileURLToPath(new URL('../../build/npm/node_modules/', import.meta.url))
const require = createRequire(fileURLToPath(new URL('../../build/npm/package.json', import.meta.url)))
process.env.HARDHAT_CONFIG = `${here}hardhat.config.cjs`
process.env.HARDHAT_DISABLE_TELEMETRY_PROMPT = 'true'
const { network } = require('hardhat')
const { ethers } = require('ethers')
const solc = require('solc')

const SEMAPHORE = '@semaphore-protocol/contracts/Semaphore.sol'
const VERIFIER = '@semaphore-protocol/contracts/base/SemaphoreVerifier.sol'
const POSEIDON = 'poseidon-solidity/PoseidonT3.sol'

function compile() {
  const sources = Object.fromEntries([SEMAPHORE, VERIFIER].map((path) =>
    [path, { content: readFileSync(modules + path, 'utf8') }]))
  const settings = {
    optimizer: { enabled: true },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode'] } },
  }
  const output = JSON.parse(solc.compile(
    JSON.stringify({ language: 'Solidity', sources, settings }),
    { import: (path) => ({ contents: readFileSync(modules + path, 'utf8') }) }))
  const errors = (output.errors ?? []).filter((e) => e.severity === 'error')
  if (errors.length > 0) throw new Error(errors[0].formattedMessage)
  return output.contracts
}

// BYTECODE with the address of each library it calls.
function link({ object, linkReferences }, addresses) {
  for (const libraries of Object.values(linkReferences))
    for (const [name, places] of Object.entries(libraries))
      for (const { start, length } of places)
        object = object.slice(0, 2 * start) +
          addresses[name].slice(2).toLowerCase() +
          object.slice(2 * (start + length))
  return object
}

const provider = new ethers.BrowserProvider(network.provider,
  undefined, { cacheTimeout: -1 })
const signer = await provider.getSigner()

async function deploy({ abi, evm }, addresses, ...args) {
  const factory = new ethers.ContractFactory(
    abi, link(evm.bytecode, addresses), signer)
  const contract = await factory.deploy(...args)
  return contract.waitForDeployment()
}

const contracts = compile()
const poseidon = await deploy(contracts[POSEIDON].PoseidonT3, {})
const verifier = await deploy(contracts[VERIFIER].SemaphoreVerifier, {})
const semaphore = await deploy(contracts[SEMAPHORE].Semaphore,
  { PoseidonT3: await poseidon.getAddress() }, await verifier.getAddress())

const groups = new Map() // as the official package has them: for the paths

const commands = {
  async create() {
    const group = String(await semaphore.groupCounter())
    await (await semaphore['createGroup()']()).wait()
    groups.set(group, new Group())
    return { group }
  },
  async add({ group, members }) {
    await (await semaphore.addMembers(group, members)).wait()
    groups.get(group).addMembers(members.map(BigInt))
    return { root: String(await semaphore.getMerkleTreeRoot(group)) }
  },
  async remove({ group, member }) {
    const tree = groups.get(group)
    const at = tree.indexOf(BigInt(member))
    const path = tree.generateMerkleProof(at)
    await (await semaphore.removeMember(group, member, path.siblings)).wait()
    tree.removeMember(at)
    return { root: String(await semaphore.getMerkleTreeRoot(group)) }
  },
  async prove({ group, identity, scope, message }) {
    const member = Identity.import(identity)
    const tree = groups.get(group)
    const path = tree.generateMerkleProof(tree.indexOf(member.commitment))
    const key = `${artifacts}/semaphore-${path.siblings.length}`
    return generateProof(member, path, BigInt(message), BigInt(scope),
      path.siblings.length, { wasm: `${key}.wasm`, zkey: `${key}.zkey` })
  },
  async mine({ blocks }) {
    await network.provider.send('hardhat_mine', [ethers.toQuantity(blocks)])
    return { block: await provider.getBlockNumber() }
  },
}

async function answer(request) {
  const { id, method, params } = request
  try {
    const result = await network.provider.request({ method, params })
    return { jsonrpc: '2.0', id, result }
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: -32000, message: error.message } }
  }
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  response.setHeader('Content-Type', 'application/json')
  response.end(JSON.stringify(await answer(JSON.parse(body))))
})
await new Promise((done) => server.listen(0, '127.0.0.1', done))
console.log(JSON.stringify({
  port: server.address().port, contract: await semaphore.getAddress() }))

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line)
  console.log(JSON.stringify(await commands[command.do](command)))
}
process.exit(0)
