import { maskAddresses } from '../core/text/mask-addresses.ts';
import type { Body } from './answer-request.ts';
import type { Fate } from './request-log.ts';

export type JournaledRequest = Omit<Fate, 'accountId' | 'path'> & {
  readonly at: string;
  readonly account_id: string | null;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Body | null;
  /** Keys and signing secrets to mask. */
  readonly secrets: readonly string[];
};

/** One row of `GET /_sandbox/requests`. E-mail addresses and secrets are masked before it is stored. */
export type JournalEntry = Pick<
  JournaledRequest,
  'sequence' | 'at' | 'account_id' | 'operation' | 'method' | 'status' | 'fault'
> & {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly processed: boolean;
  readonly unknown_members: readonly string[];
};

/** Search criteria. An entry must match all that are given. */
export type JournalQuery = {
  readonly account?: string | undefined;
  readonly operation?: string | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  /** Text that appears in the path, the query, a header or the body, in upper or lower case. */
  readonly text?: string | undefined;
  /** Only requests after this sequence. */
  readonly after?: number | undefined;
  /** Maximum number of entries; the latest are returned. */
  readonly limit: number;
};

/** The latest requests with their content, for debugging. */
export type Journal = {
  add(request: JournaledRequest): void;
  /** Finds entries, oldest first. */
  find(query: JournalQuery): readonly JournalEntry[];
  clear(): void;
};

/** Enough for a test, and uses little memory. The request log has all requests, without their content. */
const MAX_ENTRIES = 1_000;

/** Maximum length of a body. */
const MAX_CHARS = 16_384;

/** Headers whose whole value is a secret. */
const SECRET_HEADERS = ['x-api-key', 'authorization', 'cookie', 'proxy-authorization'];

export function createJournal(): Journal {
  let entries: JournalEntry[] = [];
  return {
    add(request) {
      entries.push(toEntry(request));
      // Truncate only now and then, because each time copies the list.
      if (entries.length >= 2 * MAX_ENTRIES) entries = entries.slice(-MAX_ENTRIES);
    },
    find(query) {
      const found = entries.slice(-MAX_ENTRIES).filter((entry) => fits(entry, query));
      return query.limit === 0 ? [] : found.slice(-query.limit);
    },
    clear() {
      entries = [];
    },
  };
}

function toEntry(request: JournaledRequest): JournalEntry {
  const { sequence, at, account_id, operation, method, url, headers, body, status, fault } = request;
  const mask = (text: string): string =>
    request.secrets.reduce(
      (masked, secret) => (masked.includes(secret) ? masked.replaceAll(secret, '***') : masked),
      maskAddresses(text),
    );
  const [path = '', ...query] = url.split('?');
  return {
    sequence,
    at,
    account_id,
    operation,
    method,
    path: mask(decoded(path)),
    query: Object.fromEntries(
      [...new URLSearchParams(query.join('?'))].map(([name, value]) => [mask(name), mask(value)]),
    ),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        SECRET_HEADERS.includes(name) ? '***' : mask(String(value)),
      ]),
    ),
    body: body === null ? null : mask(readableText(body)).slice(0, MAX_CHARS),
    status,
    processed: request.isProcessed,
    fault,
    unknown_members: request.unknownMembers,
  };
}

/** Decodes JSON escapes, in which the mask would not recognise an e-mail address. */
function readableText({ text, value }: Body): string {
  return value !== undefined && text.includes('\\') ? JSON.stringify(value) : text;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function fits(entry: JournalEntry, wanted: JournalQuery): boolean {
  const { account, operation, method, path, status, text, after } = wanted;
  if (account !== undefined && entry.account_id !== account) return false;
  if (operation !== undefined && entry.operation !== operation) return false;
  if (method !== undefined && entry.method !== method.toUpperCase()) return false;
  if (path !== undefined && entry.path !== path) return false;
  if (status !== undefined && entry.status !== status) return false;
  if (after !== undefined && entry.sequence <= after) return false;
  if (text === undefined) return true;
  const held = JSON.stringify([entry.path, entry.query, entry.headers]) + (entry.body ?? '');
  return held.toLowerCase().includes(text.toLowerCase());
}
