/**
 * A store that lists a million objects without having them: what a listing returns is computed from its first
 * key. A day has a thousand objects, `orders/dt=2026-11-22/000.csv` to `999.csv`. It checks no signature.
 */
import { hash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseTarget, xml } from '../test/support/s3-protocol.ts';
import { ORDERS_HEADER } from './shop.ts';

export const KEYS_A_DAY = 1_000;
const PREFIX = 'orders/dt=';
const PAGE = 1_000;
const DAY_MS = 86_400_000;
const MODIFIED = new Date(Date.UTC(2026, 0, 1));

export type OldKeys = {
  readonly url: string;
  /** Date of the first key that is not old (UTC). It stays the same after midnight. */
  readonly today: string;
  /** Number of keys that listings have returned. */
  readonly listed: () => number;
  /** Sets which keys exist, by their numbers: from the first to the one before the last. */
  setKeys(first: number, last: number): void;
  close(): void;
};

/** The key with a number. Number 0 is the first of `today`; the days before have negative numbers. */
export function keyOf(number: number, today: string): string {
  const day = Math.floor(number / KEYS_A_DAY);
  const date = new Date(Date.parse(today) + day * DAY_MS).toISOString().slice(0, 10);
  return `${PREFIX}${date}/${String(number - day * KEYS_A_DAY).padStart(3, '0')}.csv`;
}

/** The number of the first of these keys that sorts after a text. */
function firstAfter(
  text: string,
  { first, last, today }: { readonly first: number; readonly last: number; readonly today: string },
): number {
  let [low, high] = [first, last];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (keyOf(middle, today) > text) high = middle;
    else low = middle + 1;
  }
  return low;
}

export async function startOldKeys(): Promise<OldKeys> {
  const today = new Date().toISOString().slice(0, 10);
  let keys = { first: 0, last: 0 };
  let listed = 0;

  function list(query: URLSearchParams, response: ServerResponse): void {
    const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
    const begin = firstAfter(after, { ...keys, today });
    const end = Math.min(begin + PAGE, keys.last);
    const contents = Array.from({ length: Math.max(0, end - begin) }, (_, index) =>
      describe(keyOf(begin + index, today)),
    );
    listed += contents.length;
    const isTruncated = end < keys.last;
    response.end(
      xml('ListBucketResult', [
        ['EncodingType', 'url'],
        ['IsTruncated', isTruncated],
        ...(isTruncated ? ([['NextContinuationToken', keyOf(end - 1, today)]] as const) : []),
        ...contents,
      ]),
    );
  }

  const server = createServer((request, response) => {
    const { operation, key, query } = parseTarget(request);
    if (operation === 'ListObjectsV2') return list(query, response);
    const body = contentOf(key);
    response
      .writeHead(operation === 'GetObject' ? 200 : 501, {
        etag: etagOf(key),
        'content-length': body.length,
        'last-modified': MODIFIED.toUTCString(),
      })
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    today,
    listed: () => listed,
    setKeys(first, last) {
      keys = { first, last };
      listed = 0;
    },
    close: () => void server.close().closeAllConnections(),
  };
}

function describe(key: string) {
  return [
    'Contents',
    [
      ['Key', key.replace('=', '%3D')],
      ['LastModified', MODIFIED.toISOString()],
      ['ETag', etagOf(key)],
      ['Size', contentOf(key).length],
    ],
  ] as const;
}

/** Not the MD5 of the content, so that SQL can compute it too. */
function etagOf(key: string): string {
  return `"${hash('md5', key)}"`;
}

function contentOf(key: string): string {
  const name = key.slice(PREFIX.length, -'.csv'.length).replace('/', '-');
  const rows = [1, 2, 3].map((line) => `${name}-${line},10.00,EUR,,2026-04-10T11:11:26Z,paid`);
  return `${[ORDERS_HEADER, ...rows].join('\n')}\n`;
}
