// mint.mjs: proofs by the official packages, one JSON object a line.
//
// Reads one JSON request from standard input:
//   {"members": ["decimal", ...], "proofs": [{"identity": "base64 export",
//    "scope": "decimal", "message": "decimal", "depth": 3}, ...]}
// `members` are all commitments of the group in order; `depth` may be left out.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../build/npm/", import.meta.url));
const require = createRequire(root);
const { Identity } = require("@semaphore-protocol/identity");
const { Group } = require("@semaphore-protocol/group");
const { generateProof } = require("@semaphore-protocol/proof");

const request = JSON.parse(readFileSync(0, "utf8"));
const group = new Group(request.members.map(BigInt));
for (const { identity, scope, message, depth } of request.proofs) {
  const member = Identity.import(identity);
  const path = group.generateMerkleProof(group.indexOf(member.commitment));
  const d = depth ?? Math.max(1, path.siblings.length);
  const base = `${root}node_modules/@zk-kit/semaphore-artifacts/semaphore-${d}`;
  const proof = await generateProof(member, path, BigInt(message), BigInt(scope),
    d, { wasm: `${base}.wasm`, zkey: `${base}.zkey` });
  console.log(JSON.stringify(proof));
}
process.exit(0); // the prover's worker threads would keep node alive
