import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { isLoopback } from '../../core/http/is-loopback.ts';
import { formatJson } from '../../core/json/exact-json.ts';
import { KnownError } from '../../core/known-error.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { type ApiError, toApiError } from '../../service/api-error.ts';
import { buildRequest, type RequestProblem } from '../../service/build-request.ts';
import { type DescribedRequest, describeRequest, type ExchangeInput } from '../../service/client.ts';
import { type OperationName, operationNames, operationOf } from '../../service/contract.ts';
import { specifiedService } from '../../service/description/schema.ts';
import { requestFieldsOf } from '../../service/reference/operation-fields.ts';
import {
  createUnknownMemberFinder,
  explainUnknownMembers,
  type UnknownMember,
} from '../../service/unknown-members.ts';
import type { ConfigOptions } from '../command.ts';
import { findService, openClient } from '../open/open-service.ts';
import type { Output } from '../terminal/output.ts';
import { refusal } from '../usage-error.ts';
import { renderAnswer } from './answer.ts';
import { renderOperationHelp, renderOperations } from './operations.ts';

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
  if (needsLive) throw liveRefused(name);
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

function liveRefused(name: OperationName): KnownError {
  return refusal({
    code: 'live_refused',
    message: `${name} must not be repeated, and this is not a sandbox on this machine.`,
    help: 'To call it anyway, add --live. No ledger records such a call. Post orders with a run instead: its ledger never sends one twice.',
    safe: 'Nothing was sent.',
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

/** The words after `api`, parsed. */
type ApiWords = {
  readonly operation: string | null;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** File with the body, or `-` for standard input; null if not given. */
  readonly bodyFile: string | null;
  readonly config?: string;
  readonly envFile?: string;
  readonly isLive: boolean;
  /** Show the request instead of sending it. */
  readonly isDryRun: boolean;
  readonly isHelp: boolean;
};

/** Options without a value. All others take one. */
const SWITCHES = ['json', 'live', 'dry_run', 'help'];

/**
 * Parses `<operation> --field value …`. Any unknown option is a field, so that fields that the specification
 * does not show can be sent too. `--deal-id` and `--deal_id` are the same.
 *
 * @throws KnownError `usage` (exit 2).
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
