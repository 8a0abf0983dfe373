import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { jobKinds, loadConfig } from '../jobs/index.ts';

const ROOT = new URL('../', import.meta.url).pathname;
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const names = jobKinds.map(({ kind }) => kind);

it('jobs/index.ts lists every folder in jobs/ and nothing else: add what is missing', () => {
  const folders = readdirSync(`${ROOT}jobs`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(names.toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});

it('the schema for editors contains every kind of job: run npm run schema', () => {
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

  it('names its items and what happens to them, for sentences', () => {
    expect(kind.nouns.items).toMatch(/^[a-z][a-z ]*s$/);
    expect(kind.nouns.done).toMatch(/^[a-z]+ed$/);
  });

  it('explains what to do if two of its jobs read one source', () => {
    expect(kind.oneReaderHelp).toMatch(/^[A-Z].*\.$/);
  });

  it('plans a backfill by days or explains why none is needed', () => {
    if (kind.backfill !== 'by_days') expect(kind.backfill.needless('nightly')).toMatch(/^nightly .{40}/);
  });

  it('has a job in the configuration of the demo and a line that describes it', () => {
    const demo = loadConfig(`${ROOT}config/demo/pipeline.yaml`, {});
    expect(Object.values(demo.jobs).map((job) => job.kind)).toContain(name);
    expect(kind.demo).toMatch(/^[A-Z].{20}/);
  });

  it('is described in docs/', () => {
    const pages = globSync('docs/**/*.md', { cwd: ROOT });
    expect(pages.filter((path) => read(path).includes(`kind: ${name}`))).not.toEqual([]);
  });
});

it('no code outside its folder names a kind of job: declare the difference in JobKind and query that', () => {
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
