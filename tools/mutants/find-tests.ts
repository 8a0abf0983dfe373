import { dirname } from 'node:path';
import type { SourceModule } from '../../test/support/read-modules.ts';

type Imports = Pick<SourceModule, 'path' | 'loads' | 'loadsLater'>;

/** Tests that are further away notice a fault by accident only, and cost seconds each. */
const FURTHEST = 6;

export type NearbyTests = {
  /** Those of the folder that mirrors the module's own, the long ones last. */
  readonly beside: readonly string[];
  /** Those of other folders, the nearest first. */
  readonly elsewhere: readonly string[];
};

/**
 * Finds the test files that are most likely to notice a fault in a module: those of the folder that mirrors its own, and then those
 * from which the fewest imports lead to it. Files that never load it are left out, and long ones of other folders.
 *
 * @param modules all modules of the checkout, tests included.
 * @param most how many files to return at most.
 */
export function findTests(
  file: string,
  { modules, most }: { readonly modules: readonly Imports[]; readonly most: number },
): NearbyTests {
  const distances = distancesTo(file, modules);
  const distance = (test: string) => distances.get(test) ?? 0;
  const tests = [...distances.keys()]
    .filter((path) => /^test\/.*\.test\.ts$/.test(path))
    .sort((one, other) => distance(one) - distance(other) || one.localeCompare(other));
  const mirror = mirrorOf(file, tests);
  const beside = tests
    .filter((test) => test.startsWith(`${mirror}/`))
    .sort((one, other) => Number(isLong(one)) - Number(isLong(other)))
    .slice(0, most);
  const elsewhere = tests.filter(
    (test) => !beside.includes(test) && !isLong(test) && distance(test) <= FURTHEST,
  );
  return { beside, elsewhere: elsewhere.slice(0, most - beside.length) };
}

/** True for a test that `npm test` leaves to `npm run test:long`. */
export function isLong(test: string): boolean {
  return test.endsWith('.long.test.ts');
}

/**
 * Lets modules import each migration of which they name a table or a view, tests included: nothing else says what reads it.
 *
 * @param textOf returns the text of a file.
 */
export function withMigrations<Module extends Imports>(
  modules: readonly Module[],
  {
    migrations,
    textOf,
  }: { readonly migrations: readonly string[]; readonly textOf: (path: string) => string },
): readonly Module[] {
  if (migrations.length === 0) return modules;
  const changed = migrations.map((path) => ({
    path,
    names: [...textOf(path).matchAll(/^(?:alter table|create (?:or replace )?(?:table|view)) (\S+)/gm)].map(
      ([, name]) => name ?? '',
    ),
  }));
  return modules.map((module) => {
    const text = textOf(module.path);
    const named = changed.filter(({ names }) => names.some((name) => text.includes(name)));
    return { ...module, loads: [...module.loads, ...named.map(({ path }) => path)] };
  });
}

/** `src/ledger/continuity/mark.ts` is mirrored by `test/ledger/continuity`, or else by `test/ledger`. */
function mirrorOf(file: string, tests: readonly string[]): string {
  let folder = dirname(file.replace(/^src\//, ''));
  while (folder !== '.' && !tests.some((test) => test.startsWith(`test/${folder}/`)))
    folder = dirname(folder);
  return folder === '.' ? file : `test/${folder}`;
}

/** The number of imports from each module that loads this one. */
function distancesTo(file: string, modules: readonly Imports[]): ReadonlyMap<string, number> {
  const importers = new Map<string, string[]>();
  for (const { path, loads, loadsLater } of modules)
    for (const imported of [...loads, ...loadsLater])
      importers.set(imported, [...(importers.get(imported) ?? []), path]);
  const distances = new Map([[file, 0]]);
  for (const [path, distance] of distances)
    for (const importer of importers.get(path) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}
