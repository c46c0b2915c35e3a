// The official packages, timed as the first seed's benchmark times them: a
// group of 8, the first call apart. One JSON object a line, times in microseconds.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../build/npm/", import.meta.url));
const require = createRequire(root);
const { Identity } = require("@semaphore-protocol/identity");
const { Group } = require("@semaphore-protocol/group");
const { generateProof, verifyProof } = require("@semaphore-protocol/proof");

const DEPTH = 3;
const base = `${root}node_modules/@zk-kit/semaphore-artifacts/semaphore-${DEPTH}`;
const artifacts = { wasm: `${base}.wasm`, zkey: `${base}.zkey` };
const members = Array.from({ length: 8 }, (_, i) => new Identity(`member ${i}`));
const group = new Group(members.map((m) => m.commitment));

async function time(f) {
  const start = process.hrtime.bigint();
  const result = await f();
  return [Number(process.hrtime.bigint() - start) / 1000, result];
}

function print(name, samples) {
  const s = [...samples].sort((a, b) => a - b);
  const at = (q) => s[Math.min(s.length - 1, Math.floor(q * s.length))];
  console.log(JSON.stringify({ name, samples: s.length, repeat: 1, min_us: s[0],
    p50_us: at(0.5), p95_us: at(0.95), p99_us: at(0.99),
    mean_us: s.reduce((a, b) => a + b) / s.length }));
}

const make = (i) => generateProof(members[i % 8], group, 1, 20612 + i, DEPTH, artifacts);
const [cold, first] = await time(() => make(0));
print("prove/cold/official", [cold]);
const proofs = [first], proving = [];
for (let i = 1; i <= 16; i++) {
  const [t, proof] = await time(() => make(i));
  proving.push(t);
  proofs.push(proof);
}
print("prove/warm/official", proving);
const verifying = [];
for (let i = 0; i < 120; i++) {
  const [t, good] = await time(() => verifyProof(proofs[i % proofs.length]));
  if (!good) throw new Error("the official verifier refuses its own proof");
  verifying.push(t);
}
print("verify/cold/official", verifying.slice(0, 1));
print("verify/warm/official", verifying.slice(1));
process.exit(0);
