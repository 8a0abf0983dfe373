import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { isLoopback } from '../../core/http/is-loopback.ts';
import { formatJson, isObject, numberText, parseExactJson } from '../../core/json/exact-json.ts';
import { KnownError, refusal } from '../../core/known-error.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { wrap } from '../../core/text/wrap.ts';
import { type Column, renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { cut, plural } from '../../render/text.ts';
import { type ApiError, toApiError } from '../../service/api-error.ts';
import { buildRequest, type RequestProblem } from '../../service/build-request.ts';
import { type DescribedRequest, describeRequest, type ExchangeInput } from '../../service/client.ts';
import { firstSentence, type Operation } from '../../service/contract/operation.ts';
import { type OperationName, operationNames, operationOf } from '../../service/contract.ts';
import { specifiedService } from '../../service/description/schema.ts';
import { exampleCommand } from '../../service/reference/examples.ts';
import { type Field, requestFieldsOf } from '../../service/reference/operation-fields.ts';
import {
  createUnknownMemberFinder,
  explainUnknownMembers,
  type UnknownMember,
} from '../../service/unknown-members.ts';
import type { ConfigOptions } from '../open/open-config.ts';
import { findService, openClient } from '../open/open-service.ts';
import type { Output } from '../terminal/output.ts';

/**
 * Calls one operation. It checks the request against the contract, sends it once, and shows the answer as
 * received. On a live service, an operation that must not be repeated needs `--live`.
 *
 * @throws KnownError (exit 2) before anything is sent; afterwards `service_refused`, `service_failed` or
 *   `answer_lost`.
 */
export async function performApi(
  output: Output,
  words: readonly string[],
  onConfigFound: ConfigOptions['onConfigFound'] = () => {},
): Promise<ExitCode> {
  const read = readApiWords(words);
  if (read.operation === null) {
    for (const name of operationNames) output.emit(describe(name));
    output.print(renderOperations(output.terminal));
    return EXIT.ok;
  }
  const name = findOperation(read.operation);
  if (read.isHelp) {
    output.print(renderOperationHelp(name, output.terminal));
    return EXIT.ok;
  }
  const input = await readInput(name, read, output);
  const service = await findService({ ...read, onConfigFound }, { needsKey: operationOf(name).sendsKey });
  const needsLive = !isLoopback(service.url) && !operationOf(name).repeatable && !read.isLive;
  if (read.isDryRun) {
    const { description = specifiedService } = service;
    showRequest(name, describeRequest(name, input, { ...service, service: description }), output);
    output.warn(`Nothing was sent.${needsLive ? ' To send it, add --live: it must not be repeated.' : ''}`);
    return EXIT.ok;
  }
  if (needsLive)
    throw refusal({
      code: 'live_refused',
      message: `${name} must not be repeated, and this is not a sandbox on this machine.`,
      help: 'To call it anyway, add --live. No ledger records such a call. Post orders with a run instead: its ledger never sends one twice.',
      safe: 'Nothing was sent.',
    });
  const client = openClient(service);
  try {
    return show(name, await client.exchange(name, input), output);
  } finally {
    await client.close();
  }
}

function describe(name: OperationName): object {
  const { group, method, path, repeatable, credits, description } = operationOf(name);
  return { event: 'operation', operation: name, group, method, path, repeatable, credits, description };
}

function findOperation(word: string): OperationName {
  const name = word.replaceAll('-', '_');
  const found = operationNames.find((one) => one === name);
  if (found !== undefined) return found;
  const near = didYouMean(name, operationNames);
  throw refusal({
    code: 'operation_unknown',
    message: 'The service has no such operation.',
    help: `${near === null ? '' : `Did you mean ${near}? `}To list all:  npx influencer-sync api`,
    safe: 'Nothing was sent.',
  });
}

async function readInput(name: OperationName, read: ApiWords, output: Output): Promise<ExchangeInput> {
  const known = requestFieldsOf(operationOf(name)).fields.map((field) => field.name);
  const unknown = Object.keys(read.fields)
    .filter((field) => !known.includes(field))
    .map((field) => ({ field, near: didYouMean(field, known) }));
  const problems = unknown.map(({ field, near }): RequestProblem => {
    const message = 'there is no such field';
    return { place: field, message: near === null ? message : `${message}; did you mean --${near}?` };
  });
  const body = read.bodyFile === null ? null : await readBody(read.bodyFile);
  const built = buildRequest(name, { fields: read.fields, body });
  if (built.kind === 'problems') throw requestInvalid(name, [...problems, ...built.problems]);
  // A misspelt field would have no effect, so it is refused. A field that resembles none in the contract may
  // be one that the specification does not show.
  if (unknown.some(({ near }) => near !== null)) throw requestInvalid(name, problems);
  const members = findUnknownMembers(name, built.input);
  if (members.length > 0) {
    const those = members.length === 1 ? 'it is' : 'they are';
    output.warn(
      `Note: the contract of ${name} does not name ${explainUnknownMembers(members)}; ${those} sent unchanged.`,
    );
  }
  return built.input;
}

/** Finds unknown members, also in nested objects: `filter.folowers`. */
function findUnknownMembers(name: OperationName, { query, body }: ExchangeInput): readonly UnknownMember[] {
  const operation = operationOf(name);
  const inQuery = createUnknownMemberFinder(operation.query)(query);
  return body === undefined
    ? inQuery
    : [...inQuery, ...createUnknownMemberFinder(operation.body)(JSON.parse(body))];
}

async function readBody(file: string): Promise<string> {
  try {
    return file === '-' ? await readAll(process.stdin) : readFileSync(file, 'utf8');
  } catch (cause) {
    throw refusal({
      code: 'body_unreadable',
      message: 'The file that --body names cannot be read.',
      where: file,
      help: 'Name a file with JSON, or - to read it from standard input.',
      safe: 'Nothing was sent.',
      cause,
    });
  }
}

function requestInvalid(name: OperationName, problems: readonly RequestProblem[]): KnownError {
  const { fields } = requestFieldsOf(operationOf(name));
  const helpOf = (place: string): string => {
    const field = fields.find((one) => one.name === place.split('.')[0]);
    return field === undefined ? 'See --help.' : `It takes: ${field.type}. ${field.description}`.trimEnd();
  };
  return refusal({
    code: 'request_invalid',
    message: `The request does not fit the contract of ${name}.`,
    help: `To see its fields:  npx influencer-sync api ${name} --help`,
    safe: 'Nothing was sent.',
    problems: problems.map(({ place, message }) => ({
      where: `--${place}`,
      message: message.endsWith('?') ? message : `${message}.`,
      help: helpOf(place),
    })),
  });
}

/** Shows the request that would be sent, its body byte for byte. */
function showRequest(name: OperationName, request: DescribedRequest, output: Output): void {
  const { method, url, headers, body } = request;
  const rest = JSON.stringify({ operation: name, method, url, headers }).slice(1, -1);
  output.emitText(`{"event":"request",${rest},"body":${body === null ? 'null' : asJson(body)}}`);
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`);
  output.print([`${method} ${url}`, ...lines, ...(body === null ? [] : ['', body])].join('\n'));
}

/** Shows an answer as received, or explains what went wrong and what is safe to do next. */
function show(name: OperationName, exchange: Exchange, output: Output): ExitCode {
  if (exchange.kind === 'failure' || exchange.status < 200 || exchange.status > 299)
    throw explain(name, toApiError(name, exchange));
  const { status, text } = exchange;
  output.emitText(`{"event":"answer","operation":"${name}","status":${status},"answer":${asJson(text)}}`);
  output.print(
    (output.terminal.isInteractive ? renderAnswer(text, output.terminal) : null) ?? formatJson(text),
  );
  // It may be a proxy's page, which does not prove that the service was reached.
  if (text.trim() !== '' && !isJson(text))
    throw explain(name, toApiError(name, exchange, 'the answer is not JSON'));
  return EXIT.ok;
}

function explain(name: OperationName, error: ApiError): KnownError {
  const { status } = error;
  return new KnownError({
    code: status === null ? 'answer_lost' : status >= 500 ? 'service_failed' : 'service_refused',
    message: error.message,
    ...(status === 404 || status === 400
      ? { help: `To see its fields:  npx influencer-sync api ${name} --help`, safe: error.safe }
      : { help: error.safe }),
    exitCode: error.isKeyRefused
      ? EXIT.authentication
      : error.fate === 'in_doubt' && !operationOf(name).repeatable
        ? EXIT.doubts
        : EXIT.crash,
  });
}

/** The answer on one line: otherwise unchanged if it is JSON, else as a JSON string. */
function asJson(text: string): string {
  return isJson(text) ? text.replace(/[\r\n]+/g, ' ') : JSON.stringify(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type ApiWords = {
  readonly operation: string | null;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** File with the body, or `-` for standard input; null if not given. */
  readonly bodyFile: string | null;
  readonly config?: string;
  readonly envFile?: string;
  readonly isLive: boolean;
  readonly isDryRun: boolean;
  readonly isHelp: boolean;
};

/** Options without a value. All others take one. */
const SWITCHES = ['json', 'live', 'dry_run', 'help'];

/**
 * Parses `<operation> --field value …`. Any unknown option is a field, so that fields that the specification
 * does not show can be sent too. `--deal-id` and `--deal_id` are the same.
 */
function readApiWords(words: readonly string[]): ApiWords {
  const fields: Record<string, string[]> = {};
  const switches = new Set<string>();
  const plain: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const match = /^--([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(LONG[word] ?? word);
    const name = match?.[1]?.replaceAll('-', '_');
    if (name === undefined) plain.push(word);
    else if (SWITCHES.includes(name)) switches.add(name);
    else {
      const value = match?.[2] ?? words[index + 1];
      if (value === undefined) throw usage(`${word} needs a value.`);
      if (match?.[2] === undefined) index += 1;
      fields[name] = [...(fields[name] ?? []), value];
    }
  }
  const [operation = null, extra] = plain;
  // The message does not repeat the value: it may be a misplaced secret that other people must not see.
  if (extra !== undefined) throw usage('There is a value without an option.');
  const { body, config, env_file: envFile, ...rest } = fields;
  return {
    operation,
    fields: rest,
    bodyFile: body?.at(-1) ?? null,
    ...(config === undefined ? {} : { config: config.at(-1) ?? '' }),
    ...(envFile === undefined ? {} : { envFile: envFile.at(-1) ?? '' }),
    isLive: switches.has('live'),
    isDryRun: switches.has('dry_run'),
    isHelp: switches.has('help'),
  };
}

const LONG: Readonly<Record<string, string>> = { '-c': '--config', '-h': '--help' };

function usage(message: string): KnownError {
  return refusal({
    code: 'usage',
    message,
    help: 'Write each field as --name value, in quotes if the value has blanks:  npx influencer-sync api <operation> --help',
    safe: 'Nothing was sent.',
  });
}

type Row = Readonly<Record<string, unknown>>;

/** A list in an answer: its name (null if it is the whole answer), its rows, and the other members of the answer. */
type Listing = { readonly name: string | null; readonly rows: readonly Row[]; readonly beside: Row };

/** A narrower cell would be unreadable. */
const MIN_WIDTH = 8;
const GAP = 2;

/**
 * Renders an answer that is a list, or contains one, as a table; null for any other answer.
 *
 * @param text the JSON as received; numbers stay as written.
 */
export function renderAnswer(text: string, terminal: Terminal): string | null {
  const listing = findListing(readJson(text));
  if (listing === null) return null;
  const { name, rows, beside } = listing;
  const titles = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = titles.map(
    (title): Column => ({ title, align: isNumeric(title, rows) ? 'right' : 'left' }),
  );
  const cells = rows.map((row) => titles.map((title) => cellOf(row[title])));
  const shown = countFitting(columns, cells, terminal.columns);
  const left = titles.slice(shown);
  const facts = Object.entries(beside).map(([member, value]) =>
    cut(`${member}: ${cellOf(value)}`, terminal.columns),
  );
  return [
    ...facts,
    ...(facts.length === 0 ? [] : ['']),
    renderTable(columns.slice(0, shown), cells, { terminal }),
    '',
    `${plural(rows.length, 'row')}${name === null ? '' : ` of ${name}`}.${left.length === 0 ? '' : ` Not shown: ${left.join(', ')}.`}`,
  ].join('\n');
}

function readJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return null;
  }
}

/**
 * Finds the list: the answer itself, or its first member that is a list of objects (`webhooks`,
 * `results.accounts`), or else of texts.
 */
function findListing(answer: unknown): Listing | null {
  if (Array.isArray(answer)) return listingOf(null, answer, {});
  if (!isObject(answer)) return null;
  const members = Object.entries(answer).flatMap(([name, value]): [string, unknown][] =>
    isObject(value)
      ? Object.entries(value).map(([inner, part]) => [`${name}.${inner}`, part])
      : [[name, value]],
  );
  const lists = members.filter(([, value]) => Array.isArray(value)) as [string, unknown[]][];
  const [path, items] = lists.find(([, list]) => list.every(isObject)) ?? lists[0] ?? [];
  if (path === undefined || items === undefined) return null;
  return listingOf(path, items, Object.fromEntries(members.filter(([name]) => name !== path)));
}

/**
 * Converts a list to rows. A list of texts becomes a table with one column. An empty list is null, because
 * its JSON is more informative.
 */
function listingOf(name: string | null, items: readonly unknown[], beside: Row): Listing | null {
  if (items.length === 0) return null;
  if (items.every(isObject)) return { name, rows: items, beside };
  if (!items.every((item) => typeof item === 'string')) return null;
  const title = name?.split('.').at(-1) ?? 'value';
  return { name, rows: items.map((item) => ({ [title]: item })), beside };
}

function isNumeric(title: string, rows: readonly Row[]): boolean {
  const values = rows.map((row) => row[title]).filter((value) => value !== undefined && value !== null);
  return values.length > 0 && values.every((value) => numberText(value) !== null);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : (numberText(value) ?? JSON.stringify(value));
}

function countFitting(
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
  width: number,
): number {
  let taken = -GAP;
  const tooMany = columns.findIndex(({ title, align }, index) => {
    const widest = Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0));
    taken += GAP + (align === 'right' ? widest : Math.min(widest, MIN_WIDTH));
    return taken > width;
  });
  return tooMany === -1 ? columns.length : Math.max(1, tooMany);
}

/** Renders a list of all operations by group, one line each. */
export function renderOperations(terminal: Terminal): string {
  const groups = [...new Set(operationNames.map((name) => operationOf(name).group))];
  const width = Math.max(...operationNames.map((name) => name.length));
  const lines = groups.flatMap((group) => [
    '',
    terminal.style('bold', group),
    ...operationNames
      .filter((name) => operationOf(name).group === group)
      .map((name) => {
        const { description, repeatable } = operationOf(name);
        const mark = repeatable ? ' ' : '!';
        const room = terminal.columns - width - 6;
        return `  ${mark} ${name.padEnd(width)}  ${cut(firstSentence(description), room)}`;
      }),
  ]);
  return [
    ...usageOf('<operation>'),
    ...lines,
    '',
    '! must not be repeated: called on a live service only with --live',
    'To see the fields of an operation:  npx influencer-sync api <operation> --help',
  ].join('\n');
}

/** Renders the help of one operation from the contract. */
export function renderOperationHelp(name: OperationName, terminal: Terminal): string {
  const operation = operationOf(name);
  const { columns: width } = terminal;
  const lines = [
    ...usageOf(name),
    '',
    wrap(operation.description, { width, indent: '' }),
    ...factsOf(operation).map((fact) => wrap(fact, { width, indent: '' })),
    ...fieldLines(operation, width),
    '',
    'Options:',
    ...OPTIONS,
    '',
    'Example:',
    `  npx influencer-sync ${exampleCommand(name)}`,
  ];
  return lines.join('\n');
}

function usageOf(operation: string): readonly string[] {
  return [
    `Usage: influencer-sync api ${operation}`,
    '         [--field value …] [--body FILE|-] [--dry-run] [--live] [--json]',
  ];
}

function factsOf({ method, path, sendsKey, repeatable, credits }: Operation): readonly string[] {
  return [
    '',
    `${method} ${path}${sendsKey ? '' : ', without a key'}`,
    ...(repeatable
      ? []
      : ['Must not be repeated: if the answer is lost, it is not known whether it was processed.']),
    ...(credits === null ? [] : [`Costs ${credits}.`]),
  ];
}

function fieldLines(operation: Operation, width: number): readonly string[] {
  const { fields, rules } = requestFieldsOf(operation);
  if (fields.length === 0) return [];
  const label = (name: string): string => `  --${name}`;
  const names = fields.flatMap(({ name, members }) => [name, ...members.map((member) => member.name)]);
  const column = Math.min(28, Math.max(...names.map((name) => label(name).length)) + 2);
  const line = (title: string, text: string): string =>
    wrap(text, { width, indent: ' '.repeat(column), firstIndent: `${title}  `.padEnd(column) });
  return [
    '',
    'Fields:',
    ...fields.flatMap((field) => [
      line(label(field.name), `${field.isRequired ? 'required; ' : ''}${describeField(field)}`),
      ...field.members.map((member) =>
        line(
          `    ${member.name}`,
          `${member.isRequired ? 'required; ' : ''}${describeField(member, inBraces(member.members))}`,
        ),
      ),
    ]),
    ...rules.map((rule) => wrap(`Rule: ${rule}.`, { width, indent: '  ' })),
  ];
}

function describeField({ type, description }: Field, members = ''): string {
  return `${type}${members}${description === '' ? '' : `. ${description}`}`;
}

/** Nested members in one line: ` {left_number?: text, right_number?: text}`. */
function inBraces(members: readonly Field[]): string {
  if (members.length === 0) return '';
  const described = members.map(
    ({ name, type, isRequired, members: deeper }) =>
      `${name}${isRequired ? '' : '?'}: ${type}${inBraces(deeper)}`,
  );
  return ` {${described.join(', ')}}`;
}

const OPTIONS = [
  '  --<field> <value>   repeat it for a list; numbers are sent as typed',
  '  --body <file>       JSON to send unchanged (- reads standard input)',
  '  --dry-run           check the request and show it; nothing is sent',
  '  --live              call an operation that must not be repeated on a live service',
  '  -c, --config <path> configuration with the service (else the environment)',
  '  --env-file <path>   read variables from a file such as .env',
  '  --json              one JSON object on standard output, no table',
];
