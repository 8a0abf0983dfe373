#!/usr/bin/env node
// JavaScript, so that what was compiled once is found from the first module on: a process whose modules all are in the cache does not
// load the TypeScript compiler, which is some 15 MB. And so that an older Node can read it, and say that it is too old.
import module from 'node:module';

if (process.features.typescript) {
  module.enableCompileCache();
  await import('./main.ts');
} else {
  process.stderr.write(
    `Error: This Node cannot run TypeScript: ${process.version} (${process.execPath}).\n\n` +
      '  Use Node 22.19 or later. npx takes the one that npm ci installed: npx influencer-sync --help\n  Nothing was done.\n',
  );
  process.exitCode = 2;
}
