import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { analyse } from 'scslre';
import { expect, it } from 'vitest';

const ROOT = new URL('../', import.meta.url).pathname;

/** Expressions that may take quadratic time, and what limits the length of their text. */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/service/account.ts /^You are logged in\\s+-\\s+(\\S.*?)\\s+-\\s+(\\S.*)$/i':
    '1,000 characters of an answer are looked at',
  'src/service/client.ts /\\/+$/': 'the address of the service, from the configuration',
  'src/service/read-error.ts /<[^>]*>/g': '4,000 characters of an answer are looked at',
  'src/service/read-error.ts /[^\\s<>"\'(),:;[\\]{}=]+@[^\\s<>"\'(),:;[\\]{}]+/g':
    '4,000 characters of an answer are looked at',
  'src/cli/api/webhooks.ts /\\/+$/': 'an argument of the command line',
  'src/db/create-roles.ts /[\\w.]+\\([^)]*\\)/g': 'sql/roles.sql of the project',
  'src/core/money.ts /0+$/': 'numeric(18,4) of the database',
  'src/core/money.ts /\\B(?=(\\d{3})+$)/g': 'numeric(18,4) of the database',
  'src/core/money.ts /^(-?)0*(\\d+?)(?:\\.(\\d*))?$/': 'numeric(18,4) of the database',
  'src/cli/api/trigger-event.ts /\\/+$/': 'an argument of the command line',
  'src/core/text/plural.ts /\\B(?=(\\d{3})+$)/g': 'the digits of a count',
  'src/config/cross-check.ts /\\/+$/': 'the address of the service, from the configuration',
  'src/config/schema.ts /\\/+$/': 'the address of the service, from the configuration',
  'src/config/console-fields.ts /\\/+$/': 'the address of the console, from the configuration',
  'src/store/exclude.ts /[^*?\\]})]*$/': 'a pattern of names, from the configuration',
  'src/intake/customers/map/parse-address.ts /^[^\\p{L}\\p{N}_]+|[^\\p{L}\\p{N}]+$/gu':
    '1,000 characters of a cell are looked at',
  'src/ledger/sending/send-repeatable.ts /^[^\\p{L}\\p{N}]+|[^\\p{L}\\p{N}]+$/gu':
    'the text of an error is cut to 300 characters',
};

/** Expressions that are created at run time, and their input. */
const MADE = {
  'src/intake/decode/guess-encoding.ts': 'one class of letters, for a word of a sample',
  'src/intake/values/parse-time.ts':
    'a pattern of times; at most 100 characters of a cell are held against it',
  'src/privacy/search-text.ts': 'the characters of an address, one after the other',
  'src/service/client.ts': 'the characters of the key, one after the other',
};

type Found = { readonly name: string; readonly isLinear: boolean };

function expressionsIn(path: string): { readonly literals: readonly Found[]; readonly made: number } {
  const literals: Found[] = [];
  let made = 0;
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      const { pattern, flags } = node.regex;
      const { reports } = analyse({ source: pattern, flags });
      literals.push({ name: `${path} /${pattern}/${flags}`, isLinear: reports.length === 0 });
    },
    NewExpression({ callee }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') made += 1;
    },
    CallExpression({ callee }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') made += 1;
    },
  }).visit(parseSync(path, readFileSync(`${ROOT}${path}`, 'utf8')).program);
  return { literals, made };
}

const modules = globSync('{src,jobs}/**/*.ts', { cwd: ROOT })
  .sort()
  .map((path) => ({ path, ...expressionsIn(path) }));

it('every regular expression takes linear time or has a bounded input: rewrite yours (a lookbehind before a run often helps), or bound its input and list it here', () => {
  const slow = modules.flatMap(({ literals }) => literals).filter(({ isLinear }) => !isLinear);
  expect(new Set(slow.map(({ name }) => name))).toEqual(new Set(Object.keys(BOUNDED)));
});

it('RE2 runs the expressions of layouts (`linearPattern`), and JavaScript only those of the project', () => {
  expect(modules.filter(({ made }) => made > 0).map(({ path }) => path)).toEqual(Object.keys(MADE));
});
