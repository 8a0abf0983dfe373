import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Locked = { readonly optionalDependencies?: Record<string, string>; readonly resolved?: string };

const packages = Object.entries(
  (readJson('package-lock.json') as { packages: Record<string, Locked> }).packages,
);
const manifest = readJson('package.json') as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>;

it('package-lock.json has the packages of every platform, or npm 11 refuses `npm ci`: pin a version that was published for all', () => {
  const paths = new Set(packages.map(([path]) => path));
  const missing = packages.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !paths.has(`${path}/node_modules/${name}`) && !paths.has(`node_modules/${name}`),
    ),
  );
  expect(missing).toEqual([]);
});

it('package-lock.json names no registry, so that an install uses the one that the machine is set to', () => {
  expect(packages.flatMap(([path, { resolved }]) => (resolved === undefined ? [] : [path]))).toEqual([]);
});

it('dependencies are pinned to one version: install with npm install --save-exact', () => {
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
}
