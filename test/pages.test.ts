import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { findLooseCommands, readAnchors, readProse, readSectionLinks } from './support/read-commands.ts';

const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'bench/*.md']).sort();
const GLOSSARY = 'docs/glossary.md';

/** Private words for which the field has a standard term. The second item is the term to write. */
const PRIVATE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\blanes?\b/i, 'request gate'],
  [/\btold (owners?|changes?)\b/i, 'code ownership from webhooks'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, or correct'],
  [/\bsettl\w+ the past\b/i, 'recover previous runs'],
  [/\bsightings?\b/i, 'unchanged orders'],
  [/\bbeats?\b/i, 'heartbeat'],
  [/\bnobody\b/i, 'no one, no customer, it is not known'],
  [/\bway (it was|they were) met\b/i, 'discovered through'],
];

it('the README and CONTRIBUTING show commands only in sh blocks, so that each of them is tested', () => {
  expect(['README.md', 'docs/CONTRIBUTING.md'].flatMap(findLooseCommands)).toEqual([]);
});

it('docs/README.md lists each page of docs once', () => {
  const listed = [...readFileSync('docs/README.md', 'utf8').matchAll(/^- \[.*\]\(([\w/-]+\.md)\)/gm)].map(
    ([, page]) => `docs/${page}`,
  );
  const pages = globSync('docs/**/*.md').filter((page) => page !== 'docs/README.md');
  expect(listed.toSorted()).toEqual(pages.toSorted());
});

it('a link to a section names a heading of that page', () => {
  const dead = PAGES.flatMap((page) =>
    readSectionLinks(page)
      .filter(({ document, anchor }) => !readAnchors(document).includes(anchor))
      .map(({ document, anchor }) => `${page}: ${document}#${anchor}`),
  );
  expect(dead).toEqual([]);
});

it('a line of prose has 100 characters at most; tables and code may be wider', () => {
  const long = PAGES.flatMap((page) =>
    readProse(page)
      .filter(({ text }) => [...text].length > 100 && !text.startsWith('|'))
      .map(({ line }) => `${page}:${line}`),
  );
  expect(long).toEqual([]);
});

it('pages use standard terms instead of private words', () => {
  const found = PAGES.flatMap((page) =>
    readProse(page).flatMap(({ line, text }) =>
      PRIVATE_WORDS.filter(([word]) => word.test(text.replaceAll(/`[^`]*`/g, ''))).map(
        ([word, instead]) => `${page}:${line}: ${word.exec(text)?.[0]} → ${instead}`,
      ),
    ),
  );
  expect(found).toEqual([]);
});

it('docs/glossary.md defines each term once, and only terms that a page or a message uses', () => {
  const terms = [...readFileSync(GLOSSARY, 'utf8').matchAll(/^\| ([a-z][^|]*) \| .+ \|$/gm)].map(
    ([, term = '']) => term,
  );
  expect(terms.length).toBeGreaterThan(50);
  expect(terms.filter((term, index) => terms.indexOf(term) !== index)).toEqual([]);
  const used = [
    ...PAGES.filter((page) => page !== GLOSSARY),
    ...globSync(['src/reports/**/*.ts', 'jobs/*/*.ts']),
  ]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
    .replaceAll(/\s+/g, ' ');
  const isUsed = (term: string): boolean => new RegExp(`\\b${term.replace(/y$/, '(y|ies)')}`, 'i').test(used);
  expect(terms.filter((term) => !isUsed(term))).toEqual([]);
});

type Configuration = Readonly<Record<string, unknown>>;

/** Keys that an excerpt may omit from each of its sources and jobs. */
const LEFT_OUT: Readonly<Record<string, Configuration>> = {
  sources: { uri: './exports/', layout: 'generic' },
  jobs: { kind: 'attribute-orders', source: 'shop', brand_id: 4819, codes: './codes.csv' },
};

/** Completes a section of an example with the keys that it omits, also where it writes `…`. */
function completeSection(name: string, section: unknown): unknown {
  const leftOut = LEFT_OUT[name];
  if (leftOut === undefined) return section;
  const entries = Object.entries(section as Readonly<Record<string, Configuration>>);
  return Object.fromEntries(
    entries.map(([key, { '…': _, ...entry }]) => [
      key,
      name === 'jobs' && !['attribute-orders', undefined].includes(entry.kind as string | undefined)
        ? entry
        : { ...leftOut, ...entry },
    ]),
  );
}

it('each example of a configuration is valid YAML with settings of the schema', () => {
  const { properties } = JSON.parse(readFileSync('config/pipeline.schema.json', 'utf8')) as {
    properties: Record<string, z.core.JSONSchema.JSONSchema>;
  };
  const problems: string[] = [];
  let judged = 0;
  for (const page of PAGES) {
    const text = readFileSync(page, 'utf8');
    for (const { 1: yaml = '', index } of text.matchAll(/^```yaml\n(.*?)^```/gms)) {
      const place = `${page}:${text.slice(0, index).split('\n').length}`;
      const document = parseDocument(yaml);
      problems.push(...document.errors.map(({ message }) => `${place}: ${message}`));
      const sections = Object.entries((document.toJS() ?? {}) as Configuration);
      // Other documents are layouts, sandbox accounts or Prometheus files.
      if (document.errors.length > 0 || !sections.every(([name]) => name in properties)) continue;
      judged += 1;
      for (const [name, section] of sections) {
        const { success, error } = z
          .fromJSONSchema(properties[name] ?? {})
          .safeParse(completeSection(name, section));
        if (!success) problems.push(`${place}: ${name}: ${z.prettifyError(error)}`);
      }
    }
  }
  expect(problems).toEqual([]);
  expect(judged).toBeGreaterThan(20);
});
