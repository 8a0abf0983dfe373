#!/usr/bin/env node
// JavaScript, so that what was compiled once is found from the first module on: a process whose modules all are in the cache does not
// load the TypeScript compiler, which is some 15 MB. And so that an older Node can read it, and hand over to one that can run the rest.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

if (process.features.typescript) {
  module.enableCompileCache();
  await import('./main.ts');
} else {
  const { runWithNode } = await import('./with-node.js');
  runWithNode('node', [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
}
