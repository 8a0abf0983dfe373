import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { KnownError, type Problem } from '../../src/core/known-error.ts';
import { loadLayout } from '../../src/intake/layout/load-layout.ts';
import { makeTestFolder } from '../support/setup.ts';

const SHIPPED = readFileSync(new URL('../../config/pipeline.yaml', import.meta.url), 'utf8').split('\n');

function problemsOf(load: () => unknown): readonly Problem[] {
  try {
    load();
    return [];
  } catch (error) {
    if (error instanceof KnownError) return error.details.problems ?? [];
    throw error;
  }
}

function openFolder(): (lines: readonly string[]) => readonly Problem[] {
  const folder = makeTestFolder();
  writeFileSync(join(folder, 'codes.csv'), 'code,influencer_handle\n');
  const path = join(folder, 'pipeline.yaml');
  return (lines) => {
    writeFileSync(path, lines.join('\n'));
    return problemsOf(() => loadConfig(path, {})).map((problem) => ({
      ...problem,
      where: problem.where.replace(`${folder}/`, ''),
    }));
  };
}

/** Yields the shipped file with one line changed, once for each line that is neither empty nor a comment. */
function* variants(change: (line: string) => string): Generator<{ line: number; lines: readonly string[] }> {
  for (const [index, line] of SHIPPED.entries()) {
    const changed = change(line);
    if (/^\s*(#|$)/.test(line) || changed === line) continue;
    yield { line: index + 1, lines: SHIPPED.with(index, changed) };
  }
}

describe('a line with wrong indentation', () => {
  it.each([
    ['one space too far', (line: string) => ` ${line}`],
    ['three spaces too far', (line: string) => `   ${line}`],
    ['one space too little', (line: string) => line.replace(/^ /, '')],
    ['by a tab', (line: string) => line.replace(/^ */, '\t')],
  ])('(%s) is one problem, reported on its own line, which is quoted', (_, change) => {
    const load = openFolder();
    const elsewhere: string[] = [];
    let told = 0;
    for (const { line, lines } of variants(change)) {
      const problems = load(lines);
      // A section with one setting may use any indentation.
      if (problems.length === 0) continue;
      expect(problems, `line ${line}`).toHaveLength(1);
      const { where = '', message = '' } = problems[0] ?? {};
      told += 1;
      if (!where.startsWith(`pipeline.yaml:${line}:`)) elsewhere.push(where);
      else if (/^This line|^A tab/.test(message)) expect(message).toContain(`\n  ${line} | `);
    }
    expect(told).toBeGreaterThan(40);
    // In a pair of sections, either one may be reported as the wrong one.
    expect(elsewhere.length).toBeLessThanOrEqual(2);
  });

  it.each([
    ['too far', (line: string) => `  ${line}`],
    ['not far enough', (line: string) => line.replace(/^ {2}/, '')],
    ['at the beginning of the line', (line: string) => line.replace(/^ +/, '')],
  ])('(%s) is one problem even if the file is still valid YAML', (_, change) => {
    const load = openFolder();
    for (const { line, lines } of variants(change))
      expect(load(lines).length, `line ${line}`).toBeLessThanOrEqual(1);
  });

  it('that turns a section into a source, or a setting into a section, gets a message with the right place', () => {
    const load = openFolder();
    const indented = SHIPPED.map((line) => (line === 'jobs:' ? '  jobs:' : line));
    expect(load(indented)).toEqual([
      {
        where: `pipeline.yaml:${SHIPPED.indexOf('jobs:') + 1}:3`,
        message: '"jobs" is indented, so YAML reads it as a part of sources.',
        help: 'Start the line with "jobs:", without blanks before it.',
      },
    ]);
    const unindented = SHIPPED.map((line) => (line.startsWith('  hash_key:') ? line.trimStart() : line));
    expect(load(unindented)).toMatchObject([
      {
        message:
          '"hash_key" is indented as far as "customers", so YAML does not read it as a part of customers.',
      },
    ]);
  });
});

it('a job and a source may have the name of a section', () => {
  expect(
    openFolder()([
      'sources:',
      '  customers: { uri: ./customers/, layout: shopify-customers }',
      'jobs:',
      '  customers: { kind: identify-customers, source: customers, brand_id: 4819 }',
    ]),
  ).toEqual([]);
});

describe('the quoted line', () => {
  it('never contains a possible secret', () => {
    const load = openFolder();
    for (const secret of [
      '  key: planted-secret',
      '  url: "https://u:planted-secret@host"',
      '  x: a@planted-secret.com',
    ])
      expect(JSON.stringify(load(['api:', '  concurrency: 4', ` ${secret}`])), secret).not.toContain(
        'planted-secret',
      );
    expect(JSON.stringify(load(['api:', '  key: "first', ' planted-secret', 'x"', ': :']))).not.toContain(
      'planted-secret',
    );
  });

  it('is quoted from a layout too', () => {
    const folder = makeTestFolder();
    mkdirSync(join(folder, 'layouts'));
    writeFileSync(join(folder, 'layouts', 'mine.yaml'), 'columns:\n  id: [a]\n   email: [b]\n  code: [c]\n');
    const [problem, ...more] = problemsOf(() => loadLayout('mine', [join(folder, 'layouts')]));
    expect(more).toEqual([]);
    expect(problem?.where).toMatch(/mine\.yaml:3:4$/);
    expect(problem?.message).toBe(
      'This line is indented by 3 spaces, but the lines around it have 2.\n  3 |    email: [b]',
    );
  });
});
