#!/usr/bin/env node
// JavaScript, so that an older Node can read it, and hand over to one that can run the rest or say which one it needs. And so that what was
// compiled once is found from the first module on: a process whose modules all are in the cache does not load the TypeScript compiler,
// which is some 15 MB.
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** A clone has sources, an installed package what `npm run build` made of them: Node runs no TypeScript below node_modules. */
const isClone = existsSync(new URL('./main.ts', import.meta.url));

if (isClone && !process.features.typescript) {
  const { runWithNode } = await import('./with-node.js');
  runWithNode('node', [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
} else if (isClone || isNewEnough()) {
  module.enableCompileCache();
  await import(isClone ? './main.ts' : '../dist/main.js');
} else {
  process.stderr.write(
    `Error: influencer-sync needs Node ${wantedNode()} or later; this one is ${process.version} (${process.execPath}). Nothing was done.\n`,
  );
  process.exitCode = 2;
}

function isNewEnough() {
  const [wanted, present] = [wantedNode(), process.versions.node].map((text) => text.split('.').map(Number));
  return present[0] === wanted[0] ? present[1] >= wanted[1] : present[0] > wanted[0];
}

/** The oldest Node that all of the packages are content with, as package.json has it. */
function wantedNode() {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return engines.node.replace('>=', '');
}
