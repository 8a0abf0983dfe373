#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Before anything else is imported: what is compiled once starts quickly ever after.
enableCompileCache();
const { runProgram } = await import('./cli/program.ts');
process.exitCode = await runProgram(process);
