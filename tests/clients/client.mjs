#!/usr/bin/env node
// A whole client, from src/http/PROTOCOL.md alone; as client.py beside it:
//
//     client.mjs HOST:PORT PROOF.json TARGET <request >answer
import http from 'node:http';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [gateway, proof, target] = process.argv.slice(2);
const [, host, port] = gateway.match(/^(.*):(\d+)$/);
const token = Buffer.from(readFileSync(proof)).toString('base64url');

const ask = () => new Promise((resolve, reject) => {
	const request = http.request({ host, port, method: 'CONNECT', path: target,
		headers: { Host: target, 'Proxy-Authorization': `Semaphore ${token}` } });
	request.on('connect', (answer, socket, head) => resolve({ answer, socket, head }));
	request.on('error', reject).end();
});

let { answer, socket, head } = await ask();
const patience = Number(answer.headers['retry-after'] ?? 99);
if ([429, 503].includes(answer.statusCode) && patience <= 5) {
	socket.destroy();
	await sleep(1000 * patience);
	({ answer, socket, head } = await ask());
}
if (answer.statusCode !== 200) {
	let text = head.toString(); // node hands the content over as the tunnel's
	while (Buffer.byteLength(text) < Number(answer.headers['content-length']))
		text += await new Promise((resolve) => socket.once('data', resolve));
	const why = JSON.parse(text);
	console.error(`${answer.statusCode} ${why.error}: ${why.detail} (${why.cure ?? 'no cure'})`);
	process.exit(1);
}
process.stdout.write(head);
socket.pipe(process.stdout);
socket.end(readFileSync(0));
