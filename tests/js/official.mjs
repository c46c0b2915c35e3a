// The official packages out of build/npm (tests/js/install puts them there).
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const require = createRequire(`${root}build/npm/package.json`)

export const { Identity } = require('@semaphore-protocol/identity')
export const { Group } = require('@semaphore-protocol/group')
export const { verifyProof, generateProof } = require('@semaphore-protocol/proof')
export const artifacts = `${root}build/npm/node_modules/@zk-kit/semaphore-artifacts`
export { root }

// snarkjs keeps worker threads, which would keep the process.
export async function finish() {
  await globalThis.curve_bn128?.terminate()
}
