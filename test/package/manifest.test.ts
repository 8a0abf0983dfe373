import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Locked = { readonly optionalDependencies?: Record<string, string>; readonly resolved?: string };

const packages = Object.entries(
  (readJson('package-lock.json') as { packages: Record<string, Locked> }).packages,
);
const manifest = readJson('package.json') as Record<
  'dependencies' | 'devDependencies' | 'scripts',
  Record<string, string>
>;

it('package-lock.json has the packages of every platform, or npm 11 rejects `npm ci`: pin a version that was published for all', () => {
  const paths = new Set(packages.map(([path]) => path));
  const missing = packages.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !paths.has(`${path}/node_modules/${name}`) && !paths.has(`node_modules/${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

it('package-lock.json names no registry, so that an install uses the configured one', () => {
  expect(packages.flatMap(([path, { resolved }]) => (resolved === undefined ? [] : [path]))).toEqual([]);
});

it('dependencies are pinned to one version: install with npm install --save-exact', () => {
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('every script starts its programs with src/start.js or src/with-node.js, so that it works with any Node that runs npm', () => {
  const commands = Object.entries(manifest.scripts)
    .filter(([name]) => name !== 'prepublish')
    .flatMap(([, script]) => script.split(' && '));
  const STARTS = /^(node src\/(start|with-node)\.js|npm (test --|run (build|lint))|\.ci\/)/;
  expect(commands.filter((command) => !STARTS.test(command))).toEqual([]);
  for (const script of ['.ci/run', '.ci/versitygw', '.ci/variations'])
    expect(readFileSync(new URL(`../../${script}`, import.meta.url), 'utf8')).not.toMatch(
      /^[^#]*node_modules\/\.bin/m,
    );
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));
}
