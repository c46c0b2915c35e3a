// What the official verifier says of proofs: a line for each line, true, false
// or why it throws.
import { createInterface } from 'node:readline'
import { finish, verifyProof } from './official.mjs'

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(await verifyProof(JSON.parse(line)))
  } catch (error) {
    console.log(error.message)
  }
}
await finish()
