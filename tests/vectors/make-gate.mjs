#!/usr/bin/env node
// tests/vectors/make-gate.mjs: the members and proofs of tests/vectors/gate.json.
//
// Made once by the official packages (tests/js/install), so that tests of the
// gateway need neither node nor a prover. The scopes are epoch numbers: a test
// chooses the epoch's length so that one of them is now. Those from 60 on are
// for turns of the epoch: with an epoch of more than a hundred days there is
// one among them that ends within seconds.
import { createRequire } from "node:module";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../build/npm/", import.meta.url));
const require = createRequire(root);
const { Identity } = require("@semaphore-protocol/identity");
const { Group } = require("@semaphore-protocol/group");
const { generateProof } = require("@semaphore-protocol/proof");

const EPOCH = 20612;

function realmScope(realm, epoch, slot) {
  const tail = Buffer.alloc(10);
  tail.writeBigUInt64BE(BigInt(epoch), 0);
  tail.writeUInt16BE(slot, 8);
  const hash = createHash("sha256").update(Buffer.concat([
    Buffer.from("postern/scope\0"), Buffer.from(realm + "\0"), tail])).digest();
  return BigInt("0x" + hash.subarray(0, 31).toString("hex"));
}

const identities = [...Array(8).keys()].map((i) => new Identity(`gate ${i}`));
const group = new Group(identities.map((i) => i.commitment));
// The same without the last member, who was taken out.
const smaller = new Group(identities.slice(0, 7).map((i) => i.commitment));
const others = [...Array(3).keys()].map((i) => new Identity(`other ${i}`));
const second = new Group(others.map((i) => i.commitment));

async function prove(set, member, scope, message) {
  const path = set.generateMerkleProof(set.indexOf(member.commitment));
  const depth = Math.max(1, path.siblings.length);
  const base = `${root}node_modules/@zk-kit/semaphore-artifacts/semaphore-${depth}`;
  return generateProof(member, path, BigInt(message), scope, depth,
    { wasm: `${base}.wasm`, zkey: `${base}.zkey` });
}

const proofs = {};
for (let i = 0; i < 8; i++)
  proofs[`member ${i}`] = await prove(group, identities[i], EPOCH, 1);
proofs["other 0"] = await prove(second, others[0], EPOCH, 1);
proofs["past"] = await prove(group, identities[0], EPOCH - 2, 1);
proofs["future"] = await prove(group, identities[0], EPOCH + 2, 1);
proofs["wrong message"] = await prove(group, identities[0], EPOCH, 2);
proofs["again 0"] = await prove(group, identities[0], EPOCH, 1);
proofs["smaller 0"] = await prove(smaller, identities[0], EPOCH, 1);
for (let slot = 0; slot < 2; slot++)
  proofs[`slot ${slot}`] =
    await prove(group, identities[0], realmScope("gate", EPOCH, slot), 1);
for (let epoch = 60; epoch <= 80; epoch++)
  proofs[`epoch ${epoch}`] = await prove(group, identities[0], epoch, 1);
console.log(JSON.stringify({
  epoch: EPOCH,
  members: identities.map((i) => i.commitment.toString()),
  others: others.map((i) => i.commitment.toString()),
  proofs,
}, null, 1));
process.exit(0);
