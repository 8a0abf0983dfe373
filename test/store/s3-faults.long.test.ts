import { createHash, randomBytes } from 'node:crypto';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SourceLimits } from '../../src/config/source-fields.ts';
import { openFile } from '../../src/intake/decode/open-file.ts';
import { readText } from '../../src/intake/decode/read-text.ts';
import { listFiles } from '../../src/store/list-files.ts';
import { openSourceClients, type SourceClients } from '../../src/store/source-clients.ts';
import { replaceEnvironment } from '../support/environment.ts';
import { type S3Server, type S3ServerOptions, startS3Server } from '../support/s3-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { collect, collectAll, holdReason, knownError, sourceSettings } from './source-settings.ts';

const MEBIBYTE = 1_024 ** 2;
const outerEnv = { ...process.env };
let s3: S3Server;
let clients: SourceClients;

beforeEach(() => start());

afterEach(async () => {
  clients.close();
  await s3.close();
  replaceEnvironment(outerEnv);
});

async function start(options: S3ServerOptions = {}): Promise<void> {
  s3 = await startS3Server(options);
  replaceEnvironment({ ...outerEnv, ...s3.env });
  clients = openSourceClients();
}

function list(limits: Partial<SourceLimits> = {}) {
  return collectAll(listFiles(sourceSettings('s3://shop/', limits), { clients }));
}

/** Puts an object, lists it, and opens the listed file. */
async function open(content: Buffer, limits: Partial<SourceLimits> = {}, signal?: AbortSignal) {
  s3.put('shop', 'orders.csv', content);
  const [file] = await list(limits);
  if (file === undefined) throw new Error('the object is not listed');
  const options = { source: sourceSettings('s3://shop/', limits), clients, ...(signal ? { signal } : {}) };
  return { file, bytes: openFile(file, options), text: readText(file, { ...options, encoding: 'utf-8' }) };
}

function reads() {
  return s3.requests.filter(({ operation }) => operation === 'GetObject');
}

describe('a read that is interrupted or stalls', () => {
  const content = randomBytes(3 * MEBIBYTE);

  it('resumes at the same byte of the same version and yields identical bytes', async () => {
    const { bytes, file } = await open(content);
    for (const afterBytes of [0, 100_000, 1_000_000])
      s3.fail({ operation: 'GetObject', kind: 'cut', afterBytes });
    expect((await collect(bytes)).equals(content)).toBe(true);
    const etag = file.version.slice('etag:'.length);
    expect(reads().every(({ ifMatch }) => ifMatch === etag)).toBe(true);
    expect(reads().at(-1)).toMatchObject({ range: 'bytes=1100000-', status: 206 });
  });

  it('resumes after a body that ended early without an error', async () => {
    const { bytes } = await open(content);
    s3.fail({ operation: 'GetObject', kind: 'end', afterBytes: 1_000_000 });
    expect((await collect(bytes)).equals(content)).toBe(true);
  });

  it('is complete if the connection is cut after the last byte', async () => {
    const { bytes } = await open(content);
    s3.fail({ operation: 'GetObject', kind: 'end', afterBytes: content.length, thenCut: true });
    expect((await collect(bytes)).equals(content)).toBe(true);
    expect(reads()).toHaveLength(1);
  });

  it('resumes after a stall in the body', async () => {
    const { bytes } = await open(content, { idleTimeoutSeconds: 0.3 });
    s3.fail({ operation: 'GetObject', kind: 'stall', afterBytes: 1_000_000 });
    expect((await collect(bytes)).equals(content)).toBe(true);
    expect(reads()).toHaveLength(2);
  });

  it('resumes after a stall before the headers', async () => {
    const { bytes } = await open(content, { idleTimeoutSeconds: 0.3 });
    s3.fail({ operation: 'GetObject', kind: 'stall_before_headers' });
    expect((await collect(bytes)).equals(content)).toBe(true);
  });

  it('does not count a slow reader as a stall', async () => {
    const { bytes } = await open(content, { idleTimeoutSeconds: 1 });
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) {
      // The elapsed time is the condition here: longer than the idle timeout, once.
      if (chunks.length === 0) await new Promise((resolve) => setTimeout(resolve, 1_500));
      chunks.push(chunk);
    }
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
  });

  it('holds the file if the store stalls repeatedly', async () => {
    const { bytes } = await open(content, { idleTimeoutSeconds: 0.1 });
    s3.fail({ operation: 'GetObject', kind: 'stall', afterBytes: 0, times: 100 });
    expect(await holdReason(collect(bytes))).toMatchObject({ code: 'read_stalled', isTransient: true });
    await waitFor(() => s3.openAnswers() === 0);
  });

  it('holds the file if every attempt is interrupted', async () => {
    const { bytes } = await open(content);
    s3.fail({ operation: 'GetObject', kind: 'cut', afterBytes: 0, times: 100 });
    expect(await holdReason(collect(bytes))).toMatchObject({ code: 'read_cut', isTransient: true });
  });

  it('holds the file if it was replaced in the meantime, and never mixes two versions', async () => {
    const { bytes, file } = await open(content);
    s3.fail({
      operation: 'GetObject',
      kind: 'meanwhile',
      afterBytes: MEBIBYTE,
      act: () => s3.put('shop', 'orders.csv', randomBytes(3 * MEBIBYTE)),
      thenCut: true,
    });
    expect(await holdReason(collect(bytes))).toMatchObject({
      code: 'changed_while_reading',
      isTransient: true,
    });
    const [next] = await list();
    expect(next?.version).not.toBe(file.version);
  });

  it('reads the listed version to its end if the object is replaced while the connection lasts', async () => {
    const { bytes } = await open(content);
    s3.fail({
      operation: 'GetObject',
      kind: 'meanwhile',
      afterBytes: MEBIBYTE,
      act: () => s3.put('shop', 'orders.csv', 'new'),
    });
    expect((await collect(bytes)).equals(content)).toBe(true);
  });

  it('holds the file if a byte was changed in transit', async () => {
    const { bytes } = await open(content);
    s3.fail({ operation: 'GetObject', kind: 'damage', atByte: 2_000_000 });
    expect(await holdReason(collect(bytes))).toMatchObject({ code: 'read_damaged', isTransient: true });
  });
});

describe('a reader that stops early', () => {
  it('leaves no response open', async () => {
    const { bytes } = await open(randomBytes(30 * MEBIBYTE));
    for await (const _ of bytes) break;
    await waitFor(() => s3.openAnswers() === 0);
    expect(s3.openConnections()).toBeLessThanOrEqual(1);
  });

  it('leaves no response open if the store stalls while a decompressor waits for more data', async () => {
    const content = gzipSync(randomBytes(4 * MEBIBYTE).toString('base64'));
    const { text } = await open(content);
    const afterBytes = 2 * MEBIBYTE;
    s3.fail({ operation: 'GetObject', kind: 'stall', afterBytes });
    const available = gunzipSync(content.subarray(0, afterBytes), {
      finishFlush: constants.Z_SYNC_FLUSH,
    }).length;
    let total = 0;
    for await (const chunk of text.chunks) {
      total += chunk.length;
      if (total >= available) break;
    }
    await waitFor(() => s3.openAnswers() === 0, { timeoutMs: 10_000 });
  });

  it('leaves no response open if it is aborted while the store stalls', async () => {
    const stop = new AbortController();
    const { text } = await open(Buffer.from('a,b\n'.repeat(100_000)), {}, stop.signal);
    s3.fail({ operation: 'GetObject', kind: 'stall', afterBytes: 100_000 });
    const reading = collect(text.chunks).then(
      () => null,
      (error: unknown) => error,
    );
    await waitFor(() => reads().length === 1);
    stop.abort();
    expect(await reading).toMatchObject({ name: 'AbortError' });
    await waitFor(() => s3.openAnswers() === 0, { timeoutMs: 10_000 });
  });

  it('has all its connections closed with the clients', async () => {
    const { bytes } = await open(Buffer.from('a,b\n'));
    await collect(bytes);
    expect(s3.openConnections()).toBeGreaterThan(0);
    clients.close();
    await waitFor(() => s3.openConnections() === 0);
  });
});

describe('compressed files over an unreliable network', () => {
  it('are held if truncated at any multiple of 64 KiB', async () => {
    const whole = gzipSync(randomBytes(2 * MEBIBYTE).toString('base64'));
    const codes = new Set<string>();
    for (let at = 64 * 1_024; at < whole.length; at += 64 * 1_024) {
      const { text } = await open(whole.subarray(0, at));
      codes.add((await holdReason(collect(text.chunks))).code);
    }
    expect([...codes]).toEqual(['truncated_gzip']);
  });

  it('yield the same digest as the plain text, also after an interruption', async () => {
    const plain = Buffer.from(randomBytes(MEBIBYTE).toString('base64'));
    const { text } = await open(gzipSync(plain));
    s3.fail({ operation: 'GetObject', kind: 'cut', afterBytes: 500_000 });
    await collect(text.chunks);
    expect(text.digest()).toBe(createHash('sha256').update(plain).digest('hex'));
  });

  it('are held as compression bombs early in the read', async () => {
    const { text } = await open(gzipSync(Buffer.alloc(300 * MEBIBYTE)), { maxRatio: 200 });
    let total = 0;
    const reading = (async () => {
      for await (const chunk of text.chunks) total += chunk.length;
    })();
    expect((await holdReason(reading)).code).toBe('compression_bomb');
    expect(total).toBeLessThan(100 * MEBIBYTE);
    await waitFor(() => s3.openAnswers() === 0);
  });
});

describe('a failing store', () => {
  it('is retried when it throttles', async () => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    s3.fail({ operation: 'ListObjectsV2', kind: 'error', status: 503, code: 'SlowDown', times: 2 });
    expect(await list()).toHaveLength(1);
  });

  it('is retried when a page of its listing is cut or stalls', async () => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    s3.fail({ operation: 'ListObjectsV2', kind: 'cut', afterBytes: 20 });
    expect(await list({ idleTimeoutSeconds: 0.3 })).toHaveLength(1);
    s3.fail({ operation: 'ListObjectsV2', kind: 'stall', afterBytes: 20 });
    expect(await list({ idleTimeoutSeconds: 0.3 })).toHaveLength(1);
  });

  it.each([
    [403, 'AccessDenied', 's3_access_denied', 2],
    [403, 'ExpiredToken', 's3_credentials_refused', 2],
    [403, 'RequestTimeTooSkewed', 's3_clock_wrong', 2],
    [503, 'SlowDown', 's3_failing', 1],
    [500, 'InternalError', 's3_failing', 1],
  ])('is reported with a known error: %i %s', async (status, code, known, exitCode) => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    s3.fail({ operation: 'ListObjectsV2', kind: 'error', status, code, times: 100 });
    expect(await knownError(list())).toMatchObject({ code: known, exitCode, where: 's3://shop/' });
  });

  it('is reported if an object cannot be read', async () => {
    const { bytes } = await open(Buffer.from('a,b\n'));
    s3.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'AccessDenied', times: 100 });
    const reason = await holdReason(collect(bytes));
    expect(reason).toMatchObject({ code: 'file_unavailable', isTransient: true });
    expect(reason.message).toContain('s3://shop/orders.csv');
    expect(reason.help).toContain('s3:GetObject');
  });

  it('is reported if an object is archived', async () => {
    const { bytes } = await open(Buffer.from('a,b\n'));
    s3.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'InvalidObjectState' });
    expect((await holdReason(collect(bytes))).code).toBe('file_archived');
  });

  it('is reported with its address and without credentials if it is unreachable', async () => {
    await s3.close();
    process.env.AWS_ENDPOINT_URL_S3 = s3.url.replace('http://', 'http://user:secret@');
    const error = await knownError(list());
    expect(error).toMatchObject({ code: 's3_unreachable', exitCode: 1 });
    expect(error.message).toContain(new URL(s3.url).host);
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it('is reported if there are no credentials', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
      delete process.env[name];
    Object.assign(process.env, {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/nonexistent',
      AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
    });
    expect(await knownError(list())).toMatchObject({ code: 's3_credentials_missing', exitCode: 2 });
  });

  it('is found in another region than the configured one', async () => {
    await s3.close();
    await start({ region: 'eu-central-1' });
    s3.put('shop', 'orders.csv', 'a,b\n');
    process.env.AWS_REGION = '';
    expect(await list()).toHaveLength(1);
  });
});

describe('a large listing', () => {
  it('is read page by page and sorted', async () => {
    for (let index = 0; index < 2_500; index += 1)
      s3.put('shop', `${(index * 7_919) % 2_500}.csv`, `${index}`);
    s3.setListingLatency(5);
    const files = await list();
    expect(files).toHaveLength(2_500);
    expect(files.map(({ uri }) => uri)).toEqual(files.map(({ uri }) => uri).sort());
    expect(s3.requests.filter(({ operation }) => operation === 'ListObjectsV2')).toHaveLength(3);
  });
});

describe('the test server', () => {
  it('rejects an upload with a wrong checksum', async () => {
    s3.put('shop', 'orders.csv', '');
    const { api } = await clients.s3(sourceSettings('s3://shop/'));
    const upload = api.putObject({ Bucket: 'shop', Key: 'a.csv', Body: 'a,b\n', ChecksumCRC32: 'AAAAAA==' });
    await expect(upload).rejects.toMatchObject({ name: 'BadDigest' });
  });
});
