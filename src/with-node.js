// Starts a program with a Node that can run this project: the pinned one that `npm ci` installs, else the one that runs this, else another
// on the path. Where packages may not run install scripts (`ignore-scripts`), the pinned one is not there; npm itself may run on any.
// JavaScript that an older Node can read, because an older one may have to.
//
//     node src/with-node.js <program> [argument…]     a program of node_modules/.bin, or node itself
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../node_modules', import.meta.url));

/** The Node that `npm ci` installs. */
const PINNED = join(PACKAGES, 'node', 'bin', 'node');

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGINT'];

/**
 * Runs a program to its end in the place of this process: its input, output, signals and exit code are this one's.
 *
 * @param {string} program `node`, or the name of one in node_modules/.bin.
 * @param {readonly string[]} args
 */
export function runWithNode(program, args) {
  const node = findNode();
  if (node === null) {
    process.stderr.write(`${describeMissing()}\n`);
    process.exitCode = 2;
    return;
  }
  // What the program starts in turn (`#!/usr/bin/env node`) finds the same Node.
  const path = [dirname(node), join(PACKAGES, '.bin'), process.env.PATH ?? ''].join(delimiter);
  const child = spawn(program === 'node' ? node : program, args, {
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
    shell: process.platform === 'win32' && program !== 'node',
  });
  for (const signal of FORWARDED) process.on(signal, () => forward(signal, child));
  child.once('error', ({ message }) => {
    process.stderr.write(`Error: ${program} could not be started: ${message}. Run npm ci first.\n`);
    process.exitCode = 2;
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1;
    else endAs(signal);
  });
}

/** At a terminal, Ctrl-C reaches the program by itself; twice would mean "at once". */
function forward(signal, child) {
  if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
}

function endAs(signal) {
  for (const name of FORWARDED) process.removeAllListeners(name);
  process.kill(process.pid, signal);
}

/** @returns {string | null} the path of a Node that runs TypeScript. */
function findNode() {
  const others = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const found = [PINNED, process.execPath, ...others].filter((path) => existsSync(path));
  const paths = [...new Set(found.map((path) => realpathSync(path)))];
  return paths.find(runsTypeScript) ?? null;
}

function runsTypeScript(node) {
  if (node === realpathSync(process.execPath)) return Boolean(process.features.typescript);
  const { status, stdout } = spawnSync(node, ['-p', 'process.features.typescript'], { encoding: 'utf8' });
  return status === 0 && ['strip', 'transform'].includes(stdout.trim());
}

function describeMissing() {
  const problem = `No Node here can run TypeScript; this one is ${process.version} (${process.execPath}).`;
  return `Error: ${problem} ${describeFix()} Node 22.19 or later on the PATH. Nothing was done.`;
}

function describeFix() {
  if (existsSync(PINNED))
    return 'The one that `npm ci` installed does not run on this system: it needs glibc, which Alpine (musl) does not have. Put';
  const isListed = existsSync(join(PACKAGES, 'node', 'package.json'));
  return isListed
    ? 'Run `npm rebuild node --ignore-scripts=false`, which installs Node 24 in this folder, or put'
    : 'Put';
}

const [, self = '', program, ...rest] = process.argv;
if (existsSync(self) && realpathSync(self) === fileURLToPath(import.meta.url))
  runWithNode(program ?? 'node', rest);
