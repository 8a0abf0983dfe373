import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { jobKinds, loadConfig } from '../jobs/index.ts';

const ROOT = new URL('../', import.meta.url).pathname;
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const names = jobKinds.map(({ kind }) => kind);

it('every folder in jobs/ is in the list of jobs/index.ts, and everything in the list has a folder: add what is missing', () => {
  const folders = readdirSync(`${ROOT}jobs`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(names.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});

it('the kinds are what the schema for editors knows: npm run schema', () => {
  const schema = JSON.parse(read('config/pipeline.schema.json')) as { properties: { jobs: unknown } };
  const found = [
    ...JSON.stringify(schema.properties.jobs).matchAll(/"kind":\{"type":"string","const":"([a-z-]+)"/g),
  ];
  expect(found.map(([, kind]) => kind).toSorted()).toEqual(names.toSorted());
});

describe.each(jobKinds.map((kind) => [kind.kind, kind] as const))('%s', (name, kind) => {
  it.each(['index', 'settings', 'flow', 'report', 'render'])('has its %s in a file of that name', (part) => {
    expect(existsSync(`${ROOT}jobs/${name}/${part}.ts`)).toBe(true);
  });

  it('says in one line what it does', () => {
    expect(kind.summary).toMatch(/^[a-z].{10,79}$/);
  });

  it('says what it works on and what becomes of that, for sentences', () => {
    expect(kind.nouns.items).toMatch(/^[a-z][a-z ]*s$/);
    expect(kind.nouns.done).toMatch(/^[a-z]+ed$/);
  });

  it('says what to do where two of its jobs read one source', () => {
    expect(kind.oneReaderHelp).toMatch(/^[A-Z].*\.$/);
  });

  it('is planned by days for a backfill, or says why that is not needed', () => {
    if (kind.backfill !== 'by_days') expect(kind.backfill.needless('nightly')).toMatch(/^nightly .{40}/);
  });

  it('has a job in the configuration of the demo, and a line that says what it is for', () => {
    const demo = loadConfig(`${ROOT}config/demo/pipeline.yaml`, {});
    expect(Object.values(demo.jobs).map((job) => job.kind)).toContain(name);
    expect(kind.demo).toMatch(/^[A-Z].{20}/);
  });

  it('is described in docs/', () => {
    const pages = globSync('docs/**/*.md', { cwd: ROOT });
    expect(pages.filter((path) => read(path).includes(`kind: ${name}`))).not.toEqual([]);
  });
});

it('outside of its folder nothing names a kind of job: declare in JobKind what tells it from others, and ask for that', () => {
  const outside = globSync('{src,jobs}/**/*.ts', { cwd: ROOT }).filter(
    (path) => !names.some((name) => path.startsWith(`jobs/${name}/`)),
  );
  const naming = outside.filter((path) => literalsOf(path).some((text) => names.includes(text)));
  expect(naming).toEqual([]);
});

/** Returns every string literal of a module, except the paths of its imports. */
function literalsOf(path: string): readonly string[] {
  const texts: string[] = [];
  new Visitor({
    Literal({ value }) {
      if (typeof value === 'string') texts.push(value);
    },
    TemplateElement({ value }) {
      texts.push(value.cooked ?? '');
    },
  }).visit(parseSync(path, read(path)).program);
  return texts;
}
