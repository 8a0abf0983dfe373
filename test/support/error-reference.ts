import { globSync, readFileSync } from 'node:fs';
import { type Expression, type ObjectExpression, parseSync, Visitor } from 'oxc-parser';
import { EXIT } from '../../src/core/exit-code.ts';

export const TROUBLESHOOTING_FILE = 'docs/troubleshooting.md';

/** The meaning of each exit code, with links to further pages. */
const EXIT_CODES: Readonly<Record<Exclude<keyof typeof EXIT, 'ok'>, string>> = {
  crash: `Something unexpected. A stack trace below the message means a bug; please report it. Without one,
the database or the service failed. The next run continues from what the ledger has recorded.`,
  configuration: `The configuration, the command line, or a file, folder or credential that they name. Nothing was
sent. \`npx influencer-sync doctor\` checks all of it at once ([doctor.md](doctor.md)).`,
  rowsRejected: `The run did its work, and some rows or files could not be used. \`rejected\` and \`files\` list
them ([held-files.md](held-files.md)); correct them in the export and upload it again.`,
  authentication: `The service refused the API key, or the key belongs to another account. Nothing was credited
with it.`,
  alreadyRunning: `Another process is doing this work. This is not a failure: the next run continues.`,
  doubts: `Requests that the service may have processed, without an answer that says so. They are not sent
again. \`npx influencer-sync review\` lists them and says how to settle each
([ledger.md](ledger.md)).`,
  nothingKnown: 'Nothing was stored about the customer to forget. The tombstone was written.',
  ledgerWentBack: `The database lacks claims that this machine made: it was restored, failed over or
replaced. Nothing is sent until you decide ([disaster.md](disaster.md)).`,
  interrupted: `The run was told to stop (Ctrl-C, SIGTERM). Requests in flight were recorded; the next run
continues.`,
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
  const exits = Object.entries(EXIT_CODES) as [keyof typeof EXIT_CODES, string][];
  return [
    INTRODUCTION,
    ...exits.map(([name, text]) => {
      const rows = failures.filter(({ exits }) => exits.includes(name)).map(toRow);
      const table = ['| Error | Message | What to do |', '|---|---|---|', ...new Set(rows.toSorted())];
      return [`## Exit code ${EXIT[name]}`, '', text, ...(rows.length === 0 ? [] : ['', ...table]), ''].join(
        '\n',
      );
    }),
  ].join('\n');
}

const INTRODUCTION = `# Troubleshooting

<!-- \`npm run schema\` writes this page from the errors in src/ and jobs/. -->

Every error says what happened, where, how to fix it, and what is safe. With \`--json\` it is an event
with a \`code\`, by which you find it here. \`…\` stands for text that differs from case to case. Some
files are held instead of failing a run: see [held-files.md](held-files.md).
`;

/** Reads the errors that a module creates with a literal code. */
function readFailures(path: string): readonly KnownFailure[] {
  const failures: KnownFailure[] = [];
  new Visitor({
    NewExpression({ callee, arguments: [details] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'KnownError') return;
      if (details?.type !== 'ObjectExpression') return;
      const codes = textsOf(propertyOf(details, 'code'));
      const exits = exitsIn(propertyOf(details, 'exitCode'));
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
