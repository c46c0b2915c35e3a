// The official circuit's witness for each input line, or "refused".
//
//     node witness.mjs MODULES [--full] <inputs.ndjson
//
// MODULES is a node_modules folder with @zk-kit/semaphore-artifacts and
// circom_runtime. A line is {"depth": N, "secret": "...", "merkleProofLength":
// N, "merkleProofIndex": "...", "merkleProofSiblings": ["..."], "message":
// "...", "scope": "..."}, message and scope hashed, the siblings padded. The
// answer is the SHA-256 of all signals as 32 bytes big-endian each; --full
// prints the signals themselves, as hex.
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { resolve } from "node:path"

const modules = resolve(process.argv[2])
const full = process.argv[3] === "--full"
const { WitnessCalculatorBuilder } =
    createRequire(modules + "/")("circom_runtime")
const calculators = new Map()

async function calculator(depth) {
    if (!calculators.has(depth)) {
        const wasm = readFileSync(
            `${modules}/@zk-kit/semaphore-artifacts/semaphore-${depth}.wasm`)
        calculators.set(depth, await WitnessCalculatorBuilder(wasm))
    }
    return calculators.get(depth)
}

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const { depth, ...input } = JSON.parse(line)
    let signals
    try {
        signals = await (await calculator(depth)).calculateWitness(input, true)
    } catch {
        console.log("refused")
        continue
    }
    const hex = signals.map((s) => s.toString(16).padStart(64, "0")).join("")
    console.log(full ? hex
        : createHash("sha256").update(hex, "hex").digest("hex"))
}
