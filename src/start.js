#!/usr/bin/env node
// JavaScript, so that what was compiled once is found from the first module on: a process whose modules all are in the cache does not
// load the TypeScript compiler, which is some 15 MB.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./main.ts');
