import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findLooseCommands, readProse } from './support/read-commands.ts';

const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'bench/*.md']).sort();
const GLOSSARY = 'docs/glossary.md';

/** Our own words for what the field has a word for. The second is what to write. */
const PRIVATE_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\blanes?\b/i, 'request gate'],
  [/\btold (owners?|changes?)\b/i, 'code ownership from webhooks'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, or correct'],
  [/\bsettl\w+ the past\b/i, 'recover previous runs'],
  [/\bsightings?\b/i, 'unchanged orders'],
  [/\bbeats?\b/i, 'heartbeat'],
  [/\bway (it was|they were) met\b/i, 'discovered through'],
];

it('the README and CONTRIBUTING show commands in sh blocks only, so that each of them is run here', () => {
  expect(['README.md', 'docs/CONTRIBUTING.md'].flatMap(findLooseCommands)).toEqual([]);
});

it('docs/README.md lists each page of docs once', () => {
  const listed = [...readFileSync('docs/README.md', 'utf8').matchAll(/^- \[.*\]\(([\w/-]+\.md)\)/gm)].map(
    ([, page]) => `docs/${page}`,
  );
  const pages = globSync('docs/**/*.md').filter((page) => page !== 'docs/README.md');
  expect(listed.toSorted()).toEqual(pages.toSorted());
});

it('a line of prose has 100 characters at most; tables and code may be wider', () => {
  const long = PAGES.flatMap((page) =>
    readProse(page)
      .filter(({ text }) => [...text].length > 100 && !text.startsWith('|'))
      .map(({ line }) => `${page}:${line}`),
  );
  expect(long).toEqual([]);
});

it('pages use the words of the field, not private ones', () => {
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
    ...globSync(['src/present/*.ts', 'jobs/*/*.ts']),
  ]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
    .replaceAll(/\s+/g, ' ');
  const isUsed = (term: string): boolean => new RegExp(`\\b${term.replace(/y$/, '(y|ies)')}`, 'i').test(used);
  expect(terms.filter((term) => !isUsed(term))).toEqual([]);
});
