import { globSync, readFileSync } from 'node:fs';
import { type Argument, type Expression, type ObjectExpression, parseSync, Visitor } from 'oxc-parser';
import { EXIT } from '../../src/core/exit-code.ts';

export const TROUBLESHOOTING_FILE = 'docs/troubleshooting.md';

/** The meaning of each exit code, and what to do about it. */
const EXIT_CODES: Readonly<Record<keyof typeof EXIT, readonly [meaning: string, whatToDo: string]>> = {
  ok: ['success', ''],
  crash: [
    'a database, store or service is unreachable; requests got no clear answer, or orders wait because the service asked to slow down; everything was posted but the reports could not be updated (the run says so); or a crash',
    'run again: it continues from what the ledger has recorded. A stack trace below the message means a bug: please report it',
  ],
  configuration: [
    'the configuration, `codes.csv`, the command line, or a file, folder or credential that they name is wrong, or there are no files; nothing was sent',
    'fix what it names; `doctor` checks all of it at once ([doctor.md](doctor.md)); `--allow-empty` if there may be no files',
  ],
  rowsRejected: [
    'the run did its work; rows were rejected, files or orders are held, the mirror is not complete, or orders wait under a job that is not configured',
    '`rejected`, `files`, `status` and `review --held` list them ([held-files.md](held-files.md), [meaning.md](meaning.md)); or follow the message. `review --held` ends with 3 itself while orders wait; the lists `rejected`, `files` and `status` end with 0',
  ],
  authentication: [
    'the service refused the API key, or the key belongs to another account; nothing was credited with it',
    'check `INFLUENCER_API_KEY`',
  ],
  alreadyRunning: ['another process is doing this work', 'nothing, or wait for it: the next run continues'],
  doubts: [
    'requests that the service may have processed, without an answer that says so; they are not sent again',
    '`review` lists them and says how to settle each ([ledger.md](ledger.md#settling-a-doubt))',
  ],
  ledgerWentBack: [
    'the database lacks claims that were made, holds another ledger, or was moved before every machine had compared it with its journal; nothing is sent until you decide',
    'use the previous database, or run `ledger recover` ([disaster.md](disaster.md))',
  ],
  nothingKnown: [
    'only `forget`: nothing was stored about the customer; the tombstone was written',
    'nothing ([privacy.md](privacy.md#forget-a-customer))',
  ],
  interrupted: [
    'the run was told to stop (Ctrl-C, SIGTERM); requests in flight were recorded, and no new ones started',
    'run again: it continues',
  ],
};

type KnownFailure = {
  readonly code: string;
  readonly exits: readonly (keyof typeof EXIT)[];
  readonly messages: readonly string[];
  readonly helps: readonly string[];
};

/**
 * Generates the page that lists every error of `src/` and `jobs/` by exit code, with its message and its
 * help, as the code states them.
 */
export function describeErrors(): string {
  const failures = globSync('{src,jobs}/**/*.ts').sort().flatMap(readFailures);
  const names = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[];
  return [
    INTRODUCTION,
    toTable(
      '| Code | Meaning | What to do |',
      names.map((name) => `| ${EXIT[name]} | ${EXIT_CODES[name].join(' | ')} |`),
    ),
    ...names.flatMap((name) => {
      const rows = failures.filter(({ exits }) => exits.includes(name)).map(toRow);
      if (rows.length === 0) return [];
      return [`## Exit code ${EXIT[name]}\n`, toTable('| Error | Message | What to do |', rows.toSorted())];
    }),
  ].join('\n');
}

/** A table of three columns, each row once. */
function toTable(head: string, rows: readonly string[]): string {
  return `${[head, '|---|---|---|', ...new Set(rows)].join('\n')}\n`;
}

const INTRODUCTION = `# Troubleshooting

<!-- \`npm run schema\` writes this page from the errors in src/ and jobs/. -->

Every error says what happened, where, how to fix it, and what is safe. With \`--json\` it is an event
with a \`code\`, by which you find it here. \`…\` stands for text that differs from case to case. Some
files are held instead of failing a run: see [held-files.md](held-files.md). The exit code of a
command says what kind of error it is:
`;

/** Reads the errors that a module creates with a literal code. */
function readFailures(path: string): readonly KnownFailure[] {
  const failures: KnownFailure[] = [];
  const note = (
    details: Argument | undefined,
    exitsOf: (details: ObjectExpression) => KnownFailure['exits'],
  ) => {
    if (details?.type !== 'ObjectExpression') return;
    const codes = textsOf(propertyOf(details, 'code'));
    const exits = exitsOf(details);
    const messages = textsOf(propertyOf(details, 'message'));
    const helps = textsOf(propertyOf(details, 'help'));
    // If there are two codes, values that depend on the same condition also have two alternatives, in the
    // same order.
    const ofCode = <T>(all: readonly T[], index: number): readonly T[] =>
      all.length === codes.length ? all.slice(index, index + 1) : all;
    for (const [index, code] of codes.entries())
      failures.push({
        code,
        exits: ofCode(exits, index),
        messages: ofCode(messages, index),
        helps: ofCode(helps, index),
      });
  };
  new Visitor({
    NewExpression({ callee, arguments: [details] }) {
      if (callee.type === 'Identifier' && callee.name === 'KnownError')
        note(details, (object) => {
          const exitCode = propertyOf(object, 'exitCode');
          return exitCode === null ? ['crash'] : exitsIn(exitCode);
        });
    },
    CallExpression({ callee, arguments: [details] }) {
      if (callee.type === 'Identifier' && ['configurationError', 'refusal'].includes(callee.name))
        note(details, () => ['configuration']);
    },
  }).visit(parseSync(path, readFileSync(path, 'utf8')).program);
  return failures;
}

function propertyOf(object: ObjectExpression, name: string): Expression | null {
  for (const property of object.properties)
    if (property.type === 'Property' && property.key.type === 'Identifier' && property.key.name === name)
      return property.value;
  return null;
}

/** Returns each text that an expression may have. Empty if no part of it is a literal. */
function textsOf(expression: Expression | null): readonly string[] {
  if (expression?.type === 'ConditionalExpression')
    return [...textsOf(expression.consequent), ...textsOf(expression.alternate)];
  if (expression?.type === 'Literal' && typeof expression.value === 'string') return [expression.value];
  if (expression?.type !== 'TemplateLiteral') return [];
  const text = expression.quasis.map(({ value }) => value.cooked ?? '').join('…');
  return /[a-z]{3}/.test(text) ? [text] : [];
}

function exitsIn(expression: Expression | null): readonly (keyof typeof EXIT)[] {
  if (expression?.type === 'ConditionalExpression')
    return [...exitsIn(expression.consequent), ...exitsIn(expression.alternate)];
  if (expression?.type !== 'MemberExpression' || expression.property.type !== 'Identifier') return [];
  const { name } = expression.property;
  return name in EXIT ? [name as keyof typeof EXIT] : [];
}

function toRow({ code, messages, helps }: KnownFailure): string {
  const cell = (texts: readonly string[]): string =>
    texts.length === 0
      ? 'as the message says'
      : texts
          .map((text) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '\\<').trim())
          .join('<br>');
  return `| \`${code}\` | ${cell(messages)} | ${cell(helps)} |`;
}
