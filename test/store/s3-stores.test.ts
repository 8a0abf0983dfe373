import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { SourceSettings } from '../../src/config/source-fields.ts';
import { openFile } from '../../src/intake/decode/open-file.ts';
import { listFiles } from '../../src/store/list-files.ts';
import { createContentCheck } from '../../src/store/s3/content-check.ts';
import { openSourceClients, type SourceClients } from '../../src/store/source-clients.ts';
import { replaceEnvironment } from '../support/environment.ts';
import { type S3Server, type S3ServerOptions, type S3Traits, startS3Server } from '../support/s3-server.ts';
import { makeTestFolder } from '../support/setup.ts';
import { collect, collectAll, holdReason, inPieces, knownError, sourceSettings } from './source-settings.ts';

/** Stores differ. Each of these behaviours was observed in a real one. */
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

async function restart(options: S3ServerOptions): Promise<void> {
  clients.close();
  await s3.close();
  await start(options);
}

function settings(changes: Partial<SourceSettings> = {}): SourceSettings {
  return { ...sourceSettings('s3://shop/'), ...changes };
}

function list(changes: Partial<SourceSettings> = {}) {
  return collectAll(listFiles(settings(changes), { clients }));
}

async function listOne(changes: Partial<SourceSettings> = {}) {
  const [file] = await list(changes);
  if (file === undefined) throw new Error('the object is not listed');
  return file;
}

/** Puts an object, lists it, and opens the listed file. */
async function open(content: Buffer | string, traits: S3Traits = {}, changes: Partial<SourceSettings> = {}) {
  s3.put('shop', 'orders.csv', content, traits);
  const file = await listOne(changes);
  return { file, bytes: openFile(file, { source: settings(changes), clients }) };
}

function reads() {
  return s3.requests.filter(({ operation }) => operation === 'GetObject');
}

const NO_ETAG = { etag: '', hasChecksum: false };
const MINUTE_AGO = new Date(Math.floor(Date.now() / 1_000) * 1_000 - 60_000);

describe('an object without an ETag', () => {
  it('is identified by its modification time and read again when it changes', async () => {
    const { file, bytes } = await open('a,1\n', { ...NO_ETAG, modified: MINUTE_AGO });
    expect((await collect(bytes)).toString()).toBe('a,1\n');
    const next = await open('b,2\n', { ...NO_ETAG, modified: new Date(MINUTE_AGO.getTime() + 1_000) });
    expect(next.file.version).not.toBe(file.version);
    expect((await collect(next.bytes)).toString()).toBe('b,2\n');
    expect(reads().map(({ ifMatch }) => ifMatch)).toEqual([null, null]);
  });

  it('is identified by its size as well if the modification time is the same', async () => {
    const { file } = await open('a,1\n', { ...NO_ETAG, modified: MINUTE_AGO });
    const next = await open('a,12\n', { ...NO_ETAG, modified: MINUTE_AGO });
    expect(next.file.version).not.toBe(file.version);
  });

  it('is identified and read by its version id if the bucket keeps versions', async () => {
    const { file, bytes } = await open('a,1\n', { ...NO_ETAG, versionId: 'v1.2/3' });
    expect(file.version).toBe('version:v1.2/3');
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });

  it('does not affect the versions of other objects with an ETag', async () => {
    s3.put('shop', 'a.csv', 'a', { ...NO_ETAG, modified: MINUTE_AGO });
    const { etag } = s3.put('shop', 'b.csv', 'b');
    const [a, b] = await list();
    expect(a?.version).toBe(`size:1,modified:${MINUTE_AGO.toISOString()}`);
    expect(b?.version).toBe(`etag:${etag}`);
  });

  it('is listed even if the store cannot list versions', async () => {
    s3.put('shop', 'a.csv', 'a', NO_ETAG);
    s3.fail({ operation: 'ListObjectVersions', kind: 'error', status: 501, code: 'NotImplemented' });
    expect(await list()).toHaveLength(1);
  });

  it('is held if it was replaced after it was listed', async () => {
    const { bytes } = await open('a,1\n', { ...NO_ETAG, modified: MINUTE_AGO });
    s3.put('shop', 'orders.csv', 'b,2\n', { ...NO_ETAG, modified: new Date(MINUTE_AGO.getTime() + 1_000) });
    expect((await holdReason(collect(bytes))).code).toBe('changed_while_reading');
  });

  it('is held if it is replaced during the read, whether or not the connection is cut', async () => {
    for (const thenCut of [false, true]) {
      const content = randomBytes(3_000_000);
      const { bytes } = await open(content, { ...NO_ETAG, modified: MINUTE_AGO });
      const act = () =>
        void s3.put('shop', 'orders.csv', randomBytes(3_000_000), {
          ...NO_ETAG,
          modified: new Date(MINUTE_AGO.getTime() + 5_000),
        });
      s3.fail({ operation: 'GetObject', kind: 'meanwhile', afterBytes: 1_000_000, act, thenCut });
      expect((await holdReason(collect(bytes))).code).toBe('changed_while_reading');
    }
  });

  it('that was changed within the current second is read after that second, so that a later change has another time', async () => {
    const modified = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    const { bytes } = await open('a,1\n', { ...NO_ETAG, modified });
    await collect(bytes);
    expect(Date.now()).toBeGreaterThanOrEqual(modified.getTime() + 1_000);
  });
});

describe('a store that ignores a request header', () => {
  it('If-Match: another version than the listed one is held', async () => {
    await restart({ ignoresIfMatch: true });
    const { bytes } = await open('a,1\n');
    s3.put('shop', 'orders.csv', 'b,2\n');
    expect((await holdReason(collect(bytes))).code).toBe('changed_while_reading');
  });

  it('Range: bytes already received are skipped, and the content is complete', async () => {
    await restart({ ignoresRange: true });
    const content = randomBytes(3_000_000);
    const { bytes } = await open(content);
    s3.fail({ operation: 'GetObject', kind: 'cut', afterBytes: 1_000_000 });
    expect((await collect(bytes)).equals(content)).toBe(true);
    expect(reads().map(({ range, status }) => [range, status])).toEqual([
      [null, 200],
      ['bytes=1000000-', 200],
    ]);
  });
});

describe('a flipped byte', () => {
  const content = randomBytes(3_000_000);
  const cut = { operation: 'GetObject', kind: 'cut', afterBytes: 1_000_000 } as const;
  const flip = { operation: 'GetObject', kind: 'damage' } as const;

  it.each([
    ['in an answer after a cut, which names no checksum', {}, [cut, { ...flip, atByte: 7 }]],
    ['if the store sends no checksum', { hasChecksum: false }, [{ ...flip, atByte: 2_000_000 }]],
    ['after a cut, if the store sends no checksum', { hasChecksum: false }, [cut, { ...flip, atByte: 7 }]],
    ['where the ETag is no MD5', { etag: '"parts-2"' }, [cut, { ...flip, atByte: 7 }]],
    ['where the object has no ETag', { etag: '', modified: MINUTE_AGO }, [cut, { ...flip, atByte: 7 }]],
  ] as const)('is detected %s', async (_, traits, faults) => {
    const { bytes } = await open(content, traits);
    for (const fault of faults) s3.fail({ ...fault });
    expect(await holdReason(collect(bytes))).toMatchObject({ code: 'read_damaged', isTransient: true });
    // The next run reads the whole file.
    const file = await listOne();
    expect((await collect(openFile(file, { source: settings(), clients }))).equals(content)).toBe(true);
  });

  it('is reported with the checksum that did not match', async () => {
    const { bytes } = await open(content, { hasChecksum: false });
    s3.fail({ ...flip, atByte: 5 });
    const md5 = createHash('md5').update(content).digest('hex');
    const reason = await holdReason(collect(bytes));
    expect(reason.message).toMatch(/its MD5 is [0-9a-f]{32}, and the store names the ETag/);
    expect(reason.message).toContain(md5);
    expect(reason.help).toContain('etag_is_md5: false');
  });
});

describe('correct content', () => {
  it.each([
    [
      'its ETag is that of several parts',
      { etag: '"9b2cf535f27731c974343645a3985328-3"', hasChecksum: false },
    ],
    [
      'it is encrypted with a key of KMS',
      { etag: '"0123456789abcdef0123456789abcdef"', encryption: 'aws:kms', hasChecksum: false },
    ],
    ['its ETag is not an MD5 by its length', { etag: '"0x8DCF1A2B3C4D5E6"', hasChecksum: false }],
    ['its ETag is weak', { etag: 'W/"abc"', hasChecksum: false }],
  ] as const)('is not reported as damaged if %s', async (_, traits) => {
    const { bytes } = await open('a,1\n', traits);
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });

  it('is not reported as damaged if the source sets etag_is_md5 to false', async () => {
    const traits = { etag: '"0123456789abcdef0123456789abcdef"', hasChecksum: false };
    const { bytes } = await open('a,1\n', traits, { etagIsMd5: false });
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });
});

describe('a checksum of S3', () => {
  // The nine bytes with which every catalogue of CRCs is checked.
  const CHECK = Buffer.from('123456789');
  const answers = [
    { ChecksumCRC32: 'y/Q5Jg==' },
    { ChecksumCRC32C: '4waSgw==' },
    { ChecksumCRC64NVME: 'rosUhgp5mIg=' },
    { ChecksumSHA1: createHash('sha1').update(CHECK).digest('base64') },
    { ChecksumSHA256: createHash('sha256').update(CHECK).digest('base64') },
    { ETag: `"${createHash('md5').update(CHECK).digest('hex')}"` },
  ];

  async function mismatchOf(answer: Partial<GetObjectCommandOutput>, content: Buffer) {
    const check = await createContentCheck({ $metadata: {}, ...answer }, { isEtagMd5: true });
    for await (const piece of inPieces(content, 4)) check.update(piece);
    return check.findMismatch();
  }

  it.each(answers)('is verified incrementally: %o', async (answer) => {
    expect(await mismatchOf(answer, CHECK)).toBeNull();
    expect(await mismatchOf(answer, Buffer.from('123456780'))).not.toBeNull();
  });

  it('is ignored if it is a checksum of the parts', async () => {
    const composite = { ChecksumCRC32: 'AAAAAA==-2', ETag: '"9b2cf535f27731c974343645a3985328-2"' };
    expect(await mismatchOf(composite, CHECK)).toBeNull();
    expect(await mismatchOf({ ChecksumSHA256: 'AAAA', ChecksumType: 'COMPOSITE' }, CHECK)).toBeNull();
  });
});

describe('an object that fails', () => {
  it.each([
    [403, 'AccessDenied'],
    [403, 'Forbidden'],
    [400, 'InvalidRequest'],
    [500, 'InternalError'],
  ])('with %i %s is held as unavailable and retried', async (status, code) => {
    const { bytes } = await open('a,1\n');
    s3.fail({ operation: 'GetObject', kind: 'error', status, code, times: 100 });
    const reason = await holdReason(collect(bytes));
    expect(reason).toMatchObject({ code: 'file_unavailable', isTransient: true });
    expect(reason.help).toContain('files release');
  });

  it('with an error that concerns all objects ends the source', async () => {
    const { bytes } = await open('a,1\n');
    s3.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'ExpiredToken', times: 100 });
    expect(await knownError(collect(bytes))).toMatchObject({ code: 's3_credentials_refused' });
  });
});

describe('a bucket in another region', () => {
  const malformed =
    "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-central-1'";

  it.each([
    [
      '400 with the region in its XML',
      400,
      'AuthorizationHeaderMalformed',
      { fields: { Region: 'eu-central-1' } },
    ],
    [
      '400 with the region in its message',
      400,
      'AuthorizationHeaderMalformed',
      { fields: { Message: malformed } },
    ],
    [
      '301 with an endpoint only',
      301,
      'PermanentRedirect',
      { fields: { Endpoint: 'shop.s3.eu-central-1.amazonaws.com' } },
    ],
    ['307 with a header', 307, 'TemporaryRedirect', { headers: { 'x-amz-bucket-region': 'eu-central-1' } }],
    [
      '307 with a location',
      307,
      'TemporaryRedirect',
      { headers: { location: 'https://shop.s3-eu-central-1.amazonaws.com/' } },
    ],
  ] as const)('is reported with both regions: %s', async (_, status, code, more) => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    s3.fail({ operation: 'ListObjectsV2', kind: 'error', status, code, ...more, times: 100 });
    const error = await knownError(list());
    expect(error).toMatchObject({ code: 's3_wrong_region', exitCode: 2 });
    expect(error.message).toContain('"us-east-1"');
    expect(error.message).toContain('"eu-central-1"');
    expect(error.help).toContain('region: eu-central-1');
  });

  it('is reported with its endpoint if the store does not name the region', async () => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    const fields = { Endpoint: 'shop.storage.example.net' };
    s3.fail({
      operation: 'ListObjectsV2',
      kind: 'error',
      status: 307,
      code: 'TemporaryRedirect',
      fields,
      times: 100,
    });
    const { message } = await knownError(list());
    expect(message).toContain('"us-east-1"');
    expect(message).toContain('shop.storage.example.net');
  });
});

describe('the connection to a store', () => {
  it('fails with its own message and a retryable exit code if the host name cannot be resolved', async () => {
    const error = await knownError(list({ endpoint: 'http://no-such-store.invalid:9000' }));
    expect(error).toMatchObject({ code: 's3_unreachable', exitCode: 1 });
    expect(error.message).toContain('no-such-store.invalid');
    expect(error.message).toMatch(/resolved/);
  });

  it('is configured per source, so that one configuration can read two stores', async () => {
    const other = await startS3Server({ region: 'eu-west-3' });
    onTestFinished(() => other.close());
    s3.put('shop', 'a.csv', 'a');
    other.put('shop', 'b.csv', 'b');
    const folder = makeTestFolder();
    writeFileSync(
      join(folder, 'credentials'),
      `[partner]\naws_access_key_id = ${other.env.AWS_ACCESS_KEY_ID}\naws_secret_access_key = ${other.env.AWS_SECRET_ACCESS_KEY}\n`,
    );
    Object.assign(process.env, {
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
      AWS_CONFIG_FILE: join(folder, 'none'),
    });
    const there = { endpoint: other.url, region: 'eu-west-3', profile: 'partner' };
    expect((await list()).map(({ uri }) => uri)).toEqual(['s3://shop/a.csv']);
    expect((await list(there)).map(({ uri }) => uri)).toEqual(['s3://shop/b.csv']);
    expect(other.requests).toHaveLength(1);
  });

  it.each([
    ['of the source', { profile: 'partner' }, {}],
    ['of the environment', {}, { AWS_PROFILE: 'partner' }],
  ])('fails with the name of the profile %s if it does not exist', async (_, changes, env) => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
      delete process.env[name];
    Object.assign(process.env, env, {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/nonexistent/config',
      AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
    });
    const error = await knownError(list(changes));
    expect(error).toMatchObject({ code: 's3_profile_missing', exitCode: 2 });
    expect(error.message).toContain('"partner"');
    expect(error.message).toContain('/nonexistent/config');
  });
});

describe('a store with a self-signed certificate', () => {
  const pem = (name: string) => new URL(`../fixtures/tls/localhost-${name}.pem`, import.meta.url).pathname;

  beforeEach(() =>
    restart({ tls: { key: readFileSync(pem('key')), cert: readFileSync(pem('certificate')) } }),
  );

  it('is rejected with the variables that make it trusted', async () => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    const error = await knownError(list());
    expect(error).toMatchObject({ code: 's3_certificate_untrusted', exitCode: 2 });
    expect(error.help).toContain('NODE_EXTRA_CA_CERTS');
    expect(error.help).toContain('AWS_CA_BUNDLE');
  });

  it('is read if AWS_CA_BUNDLE contains its certificate', async () => {
    process.env.AWS_CA_BUNDLE = pem('certificate');
    const { bytes } = await open('a,1\n');
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });

  it('is rejected with the path of the bundle if the bundle does not exist', async () => {
    process.env.AWS_CA_BUNDLE = '/nonexistent/ca.pem';
    expect(await knownError(list())).toMatchObject({
      code: 's3_ca_bundle_unreadable',
      exitCode: 2,
      where: '/nonexistent/ca.pem',
    });
  });
});
