import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAIN } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { makeTestFolder } from '../support/setup.ts';

const CONFIG = `sources:
  shop-orders: { uri: ./exports/, layout: shopify-orders, order_platform: shopify }
  "bad; name $(touch x)": { uri: ./exports/ }
jobs:
  attribute-orders: { kind: attribute-orders, source: shop-orders, brand_id: 4819 }
  mirror-account: { kind: mirror-account }
`;

/** Creates a folder with a configuration, and puts the tool on the PATH as a global install does. */
function open() {
  const folder = makeTestFolder();
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'layouts'));
  writeFileSync(join(folder, 'layouts/shop-own.yaml'), '');
  writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
  writeFileSync(join(folder, 'exports.csv'), '');
  const program = join(folder, 'bin/influencer-sync');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`,
    HOME: folder,
    INFLUENCER_SYNC_CONFIG: 'pipeline.yaml',
  };
  const words = async (...typed: string[]) => {
    const { stdout } = await runHere(['complete-words', '--', ...typed], { cwd: folder, env });
    return stdout.split('\n').filter((line) => line !== '');
  };
  const shell = (name: string, args: readonly string[]): string =>
    execFileSync(name, args, { cwd: folder, env: { ...env, TERM: 'dumb' }, encoding: 'utf8' }).trim();
  return { folder, words, shell };
}

test('commands, options, jobs, sources, layouts and choices are completed where each belongs', async () => {
  const { words } = open();
  expect(await words('run', '')).toEqual(['attribute-orders', 'mirror-account']);
  expect(await words('run', 'mi')).toEqual(['mirror-account']);
  expect(await words('files', '--source', '')).toEqual(['shop-orders']);
  expect(await words('files', 'reread', '--layout', 'sh')).toEqual([
    'shop-own',
    'shopify-bulk-orders',
    'shopify-customers',
    'shopify-orders',
    'shopware-orders',
  ]);
  expect(await words('files', '--state', 'he')).toEqual(['held']);
  expect(await words('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await words('lay')).toEqual(['layouts']);
  expect(await words('layouts', '')).toEqual(['test']);
  expect(await words('run', '--lim')).toEqual(['--limit']);
  expect(await words('run', '--config', '')).toEqual([]);
  expect(await words('')).not.toContain('complete-words');
});

test('the jobs of the named configuration are offered, and nothing if that has errors', async () => {
  const { folder, words } = open();
  writeFileSync(join(folder, 'other.yaml'), 'jobs:\n  another: {}\n');
  expect(await words('run', '--config', 'other.yaml', '')).toEqual(['another']);
  writeFileSync(join(folder, 'other.yaml'), 'jobs: [}');
  expect(await words('run', '--config', 'other.yaml', '')).toEqual([]);
});

test('bash completes words with the script', () => {
  const { shell } = open();
  const complete = (line: string) =>
    shell('bash', [
      '--norc',
      '-c',
      `source <(influencer-sync completion bash); read -ra COMP_WORDS <<< "${line}"; [[ "${line}" == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _influencer_sync; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ]);
  expect(complete('influencer-sync run ')).toBe('attribute-orders\nmirror-account');
  expect(complete('influencer-sync doc')).toBe('doctor');
});

const has = (name: string): boolean =>
  ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin'].some((at) => existsSync(join(at, name)));

test.skipIf(!has('fish'))('fish completes words with the script', () => {
  const { shell } = open();
  const found = shell('fish', [
    '--no-config',
    '-c',
    'influencer-sync completion fish | source; complete -C "influencer-sync run "',
  ]);
  expect(found.split('\n')).toEqual(['attribute-orders', 'mirror-account']);
});

test.skipIf(!has('zsh'))('zsh loads the script and completes words with it', () => {
  const { shell } = open();
  const script = `
    autoload -Uz compinit && compinit -u -D
    source <(influencer-sync completion zsh)
    compadd() { shift; print -l -- "$@" }
    words=(influencer-sync run ""); CURRENT=3
    _influencer_sync`;
  expect(shell('zsh', ['-f', '-c', script])).toBe('attribute-orders\nmirror-account');
});
