import { randomBytes } from 'node:crypto';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { S3 } from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFile } from '../../src/intake/decode/open-file.ts';
import { readText } from '../../src/intake/decode/read-text.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { listFiles } from '../../src/store/list-files.ts';
import { createS3Client } from '../../src/store/s3/create-s3-client.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { makeTestFolder } from '../support/setup.ts';
import { collect, collectAll, holdReason, knownError, sourceSettings } from './source-settings.ts';

/**
 * The behaviour that this project expects of S3. Runs against the real store named by AWS_ENDPOINT_URL_S3
 * (with the credentials of the standard chain), otherwise against the test server, which proves that the test
 * server behaves like a real store. Creates its own bucket and removes it.
 */
const bucket = `influencer-sync-test-${randomBytes(6).toString('hex')}`;
const clients = openSourceClients();
let ownServer: S3Server | null = null;
let api: S3;

beforeAll(async () => {
  if (!process.env.AWS_ENDPOINT_URL_S3) {
    ownServer = await startS3Server();
    Object.assign(process.env, ownServer.env);
  }
  api = (await createS3Client(sourceSettings(`s3://${bucket}/`))).api;
  await api.createBucket({ Bucket: bucket });
});

afterAll(async () => {
  const { Contents = [] } = await api.listObjectsV2({ Bucket: bucket });
  if (Contents.length === 1_000) throw new Error('a test left its objects');
  for (const { Key } of Contents) await api.deleteObject({ Bucket: bucket, Key });
  await api.deleteBucket({ Bucket: bucket });
  api.destroy();
  clients.close();
  await ownServer?.close();
});

async function put(key: string, content: string | Buffer): Promise<void> {
  await api.putObject({ Bucket: bucket, Key: key, Body: content });
}

/**
 * Writes a file as users of a file system gateway do: into its folder, bypassing S3. `.ci/versitygw` names
 * the folder of its gateway; the test server gives an object the same properties.
 */
function place(key: string, content: string, modified: Date): void {
  if (ownServer !== null) {
    ownServer.put(bucket, key, content, { etag: '', hasChecksum: false, modified });
    return;
  }
  const path = join(process.env.S3_BUCKETS_FOLDER ?? '', bucket, key);
  writeFileSync(path, content);
  utimesSync(path, modified, modified);
}

async function listKeys(path: string, since: string | null = null): Promise<readonly string[]> {
  const source = sourceSettings(`s3://${bucket}/${path}`);
  const files = await collectAll(listFiles(source, { clients, since }));
  return files.map(({ uri }) => uri.slice(`s3://${bucket}/`.length));
}

async function listOne(key: string) {
  const source = sourceSettings(`s3://${bucket}/${key}`);
  const [file] = await collectAll(listFiles(source, { clients }));
  if (file === undefined) throw new Error(`${key} is not listed`);
  return { source, file };
}

describe('listing', () => {
  it('returns the objects below a prefix, sorted by key, without directory markers and dotfiles', async () => {
    await api.putObject({ Bucket: bucket, Key: 'list/', Body: Buffer.alloc(0), ContentLength: 0 });
    for (const key of ['list/b.csv', 'list/a.csv', 'list/2026/a.csv', 'list/.hidden.csv', 'list-old/a.csv']) {
      await put(key, 'a,b\n');
    }
    expect(await listKeys('list/')).toEqual(['list/2026/a.csv', 'list/a.csv', 'list/b.csv']);
    expect(await listKeys('list')).toEqual(['list/2026/a.csv', 'list/a.csv', 'list/b.csv']);
    expect(await listKeys('list/a.csv')).toEqual(['list/a.csv']);
  });

  it('supports a glob after the prefix', async () => {
    for (const key of ['glob/a.csv', 'glob/a.csv.gz', 'glob/2026/01/b.csv.gz', 'glob/readme.txt'])
      await put(key, 'x');
    expect(await listKeys('glob/*.csv')).toEqual(['glob/a.csv']);
    expect(await listKeys('glob/**/*.csv.gz')).toEqual(['glob/2026/01/b.csv.gz', 'glob/a.csv.gz']);
    expect(await listKeys('glob/*.{csv,txt}')).toEqual(['glob/a.csv', 'glob/readme.txt']);
  });

  it('returns all objects of a uri with a date, or those from a day on', async () => {
    const days = ['2026-11-09', '2026-11-19', '2026-11-20', '2026-11-21'];
    for (const day of days) await put(`dated/dt=${day}/a.csv`, day);
    for (const key of ['dated/dt=unknown/a.csv', 'dated/a.csv']) await put(key, 'x');
    const keyOf = (day: string) => `dated/dt=${day}/a.csv`;
    expect(await listKeys('dated/dt={date}/')).toEqual(days.map(keyOf));
    expect(await listKeys('dated/dt={date}/', '2026-11-20')).toEqual(['2026-11-20', '2026-11-21'].map(keyOf));
    // A store starts after a key, so the first key of a day must not be the one that it starts after.
    for (const day of days) await put(`exact/${day}`, day);
    expect(await listKeys('exact/{date}', '2026-11-20')).toEqual(['exact/2026-11-20', 'exact/2026-11-21']);
  });

  it('handles special characters in keys', async () => {
    const keys = ['odd/a b+c.csv', 'odd/100%25.csv', 'odd/ä€😀.csv', 'odd/<&>".csv', "odd/quote'(1)!*.csv"];
    for (const key of keys) await put(key, key);
    expect([...(await listKeys('odd/'))].sort()).toEqual([...keys].sort());
    for (const file of await collectAll(listFiles(sourceSettings(`s3://${bucket}/odd/`), { clients }))) {
      const source = sourceSettings(`s3://${bucket}/odd/`);
      const content = await collect(openFile(file, { source, clients }));
      expect(file.uri).toBe(`s3://${bucket}/${content.toString()}`);
    }
  });

  it('continues past 1,000 keys', async () => {
    const keys = Array.from({ length: 1_050 }, (_, index) => `many/${String(index).padStart(5, '0')}.csv`);
    const limit = pLimit(16);
    await Promise.all(keys.map((key) => limit(() => put(key, key))));
    expect(await listKeys('many/')).toEqual(keys);
    await Promise.all(keys.map((key) => limit(() => api.deleteObject({ Bucket: bucket, Key: key }))));
  });

  it('identifies a version by its content: the same bytes are the same version', async () => {
    await put('version.csv', 'one');
    const { file: first } = await listOne('version.csv');
    await put('version.csv', 'one');
    const { file: again } = await listOne('version.csv');
    await put('version.csv', 'two');
    const { file: other } = await listOne('version.csv');
    expect(first.version).toMatch(/^etag:"[^"]+"$/);
    expect(again.version).toBe(first.version);
    expect(other.version).not.toBe(first.version);
  });

  it('returns an empty list if there is nothing below a prefix', async () => {
    expect(await listKeys('nothing-here/')).toEqual([]);
  });
});

describe('reading', () => {
  it('yields the stored bytes of small, large and empty objects', async () => {
    for (const content of [Buffer.from('a,b\n1,2\n'), randomBytes(6 * 1_024 ** 2), Buffer.alloc(0)]) {
      await put('bytes.csv', content);
      const { file, source } = await listOne('bytes.csv');
      expect(file.sizeBytes).toBe(content.length);
      expect((await collect(openFile(file, { source, clients }))).equals(content)).toBe(true);
    }
  });

  it('yields an object that was uploaded as a stream with a trailing checksum', async () => {
    const content = randomBytes(1_500_000);
    await api.putObject({
      Bucket: bucket,
      Key: 'stream.csv',
      Body: Readable.from([content]),
      ContentLength: content.length,
    });
    const { file, source } = await listOne('stream.csv');
    expect((await collect(openFile(file, { source, clients }))).equals(content)).toBe(true);
  });

  it('yields the text of a compressed object', async () => {
    await put('text.csv', gzipSync('name\nJosé\n'));
    const { file, source } = await listOne('text.csv');
    const { chunks } = readText(file, { source, clients, encoding: 'utf-8' });
    expect((await collect(chunks)).toString()).toBe('name\nJosé\n');
  });

  it('holds an object that was replaced after it was listed', async () => {
    await put('replaced.csv', 'old');
    const { file, source } = await listOne('replaced.csv');
    await put('replaced.csv', 'new');
    const reason = await holdReason(collect(openFile(file, { source, clients })));
    expect(reason).toMatchObject({ code: 'changed_while_reading', isTransient: true });
  });

  it('reports that an object was deleted', async () => {
    await put('gone.csv', 'old');
    const { file, source } = await listOne('gone.csv');
    await api.deleteObject({ Bucket: bucket, Key: 'gone.csv' });
    expect((await holdReason(collect(openFile(file, { source, clients })))).code).toBe('file_gone');
  });

  it('supports a range pinned to a version, with which an interrupted read resumes', async () => {
    await put('range.csv', '0123456789');
    const { file } = await listOne('range.csv');
    const IfMatch = file.version.slice('etag:'.length);
    const answer = await api.getObject({ Bucket: bucket, Key: 'range.csv', IfMatch, Range: 'bytes=4-' });
    expect(answer.ContentRange).toBe('bytes 4-9/10');
    expect(await answer.Body?.transformToString()).toBe('456789');
    const other = api.getObject({ Bucket: bucket, Key: 'range.csv', IfMatch: '"other"', Range: 'bytes=4-' });
    await expect(other).rejects.toMatchObject({ $metadata: { httpStatusCode: 412 } });
  });
});

// The folder is accessible only if the store is a gateway.
const isGateway = !process.env.AWS_ENDPOINT_URL_S3 || process.env.S3_BUCKETS_FOLDER;

describe.skipIf(!isGateway)('a file that was written to the folder of a gateway', () => {
  const noon = new Date('2026-04-10T12:00:00Z');
  const later = new Date('2026-04-10T12:00:01Z');

  it('has no ETag, can be read, and has a new version when it is replaced', async () => {
    place('placed.csv', 'a,b\n1,2\n', noon);
    const { file, source } = await listOne('placed.csv');
    expect(file.version).toBe('size:8,modified:2026-04-10T12:00:00.000Z');
    expect((await collect(openFile(file, { source, clients }))).toString()).toBe('a,b\n1,2\n');
    expect((await listOne('placed.csv')).file.version).toBe(file.version);
    place('placed.csv', 'a,b\n3,4\n', later);
    expect((await listOne('placed.csv')).file.version).not.toBe(file.version);
  });

  it('is held if it was replaced after it was listed', async () => {
    place('placed-late.csv', 'a,b\n1,2\n', noon);
    const { file, source } = await listOne('placed-late.csv');
    place('placed-late.csv', 'a,b\n3,4\n', later);
    const reason = await holdReason(collect(openFile(file, { source, clients })));
    expect(reason).toMatchObject({ code: 'changed_while_reading', isTransient: true });
  });
});

describe('a failure of the whole source', () => {
  it('is reported for a missing bucket', async () => {
    const source = sourceSettings('s3://influencer-sync-no-such-bucket/orders/');
    const error = await knownError(collectAll(listFiles(source, { clients })));
    expect(error).toMatchObject({
      code: 's3_bucket_missing',
      exitCode: 2,
      where: 's3://influencer-sync-no-such-bucket/',
    });
  });

  it.each([
    ['key', { AWS_ACCESS_KEY_ID: 'WRONGKEYID', AWS_SECRET_ACCESS_KEY: 'wrong-secret' }],
    ['secret', { AWS_SECRET_ACCESS_KEY: 'wrong-secret' }],
  ])('is reported for a rejected %s, without printing it', async (_, wrong) => {
    const own = openSourceClients();
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
    Object.assign(process.env, wrong);
    try {
      const error = await knownError(
        collectAll(listFiles(sourceSettings(`s3://${bucket}/`), { clients: own })),
      );
      expect(error).toMatchObject({ code: 's3_credentials_refused', exitCode: 2 });
      expect(JSON.stringify(error)).not.toMatch(/wrong-secret|WRONGKEYID/);
    } finally {
      Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
      own.close();
    }
  });
});

describe('files of the project itself', () => {
  it('can be written, listed, downloaded and removed, only below their own prefix', async () => {
    const source = sourceSettings(`s3://${bucket}/mark`);
    const folder = makeTestFolder();
    const store = openFileStore(source);
    await put('mark-of-others/a.ndjson', 'x');
    await store.write('a.ndjson', 'first\n');
    await store.write('a.ndjson', 'second\n');
    writeFileSync(join(folder, 'big'), randomBytes(6 * 1024 ** 2));
    await store.upload('b.ndjson', join(folder, 'big'));
    expect((await store.list()).map(({ name }) => name)).toEqual(['a.ndjson', 'b.ndjson']);
    await store.download('a.ndjson', join(folder, 'a'));
    await store.download('b.ndjson', join(folder, 'b'));
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('second\n');
    expect(readFileSync(join(folder, 'b')).equals(readFileSync(join(folder, 'big')))).toBe(true);
    await store.remove('a.ndjson');
    await store.remove('a.ndjson');
    expect((await store.list()).map(({ name }) => name)).toEqual(['b.ndjson']);
    await store.remove('b.ndjson');
    await api.deleteObject({ Bucket: bucket, Key: 'mark-of-others/a.ndjson' });
    store.close();
  });
});
