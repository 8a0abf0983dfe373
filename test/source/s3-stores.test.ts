import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { SourceSettings } from '../../src/model/config.ts';
import { createContentCheck } from '../../src/source/content-check.ts';
import { listFiles } from '../../src/source/list-files.ts';
import { openFile } from '../../src/source/open-file.ts';
import { openSourceClients, type SourceClients } from '../../src/source/source-clients.ts';
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
  it('is told from its next version by its modification time, and read again', async () => {
    const { file, bytes } = await open('a,1\n', { ...NO_ETAG, modified: MINUTE_AGO });
    expect((await collect(bytes)).toString()).toBe('a,1\n');
    const next = await open('b,2\n', { ...NO_ETAG, modified: new Date(MINUTE_AGO.getTime() + 1_000) });
    expect(next.file.version).not.toBe(file.version);
    expect((await collect(next.bytes)).toString()).toBe('b,2\n');
    expect(reads().map(({ ifMatch }) => ifMatch)).toEqual([null, null]);
  });

  it('is told from its next version by its size, though the store says no time', async () => {
    const { file } = await open('a,1\n', { ...NO_ETAG, modified: MINUTE_AGO });
    const next = await open('a,12\n', { ...NO_ETAG, modified: MINUTE_AGO });
    expect(next.file.version).not.toBe(file.version);
  });

  it('is told by its version id where the bucket keeps versions, which is then the one that is read', async () => {
    const { file, bytes } = await open('a,1\n', { ...NO_ETAG, versionId: 'v1.2/3' });
    expect(file.version).toBe('version:v1.2/3');
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });

  it('beside others with one leaves their versions as they are', async () => {
    s3.put('shop', 'a.csv', 'a', { ...NO_ETAG, modified: MINUTE_AGO });
    const { etag } = s3.put('shop', 'b.csv', 'b');
    const [a, b] = await list();
    expect(a?.version).toBe(`size:1,modified:${MINUTE_AGO.toISOString()}`);
    expect(b?.version).toBe(`etag:${etag}`);
  });

  it('is listed though the store knows no listing of versions', async () => {
    s3.put('shop', 'a.csv', 'a', NO_ETAG);
    s3.fail({ operation: 'ListObjectVersions', kind: 'error', status: 501, code: 'NotImplemented' });
    expect(await list()).toHaveLength(1);
  });

  it('that is replaced after it was listed is held, not taken for the listed version', async () => {
    const { bytes } = await open('a,1\n', { ...NO_ETAG, modified: MINUTE_AGO });
    s3.put('shop', 'orders.csv', 'b,2\n', { ...NO_ETAG, modified: new Date(MINUTE_AGO.getTime() + 1_000) });
    expect((await holdReason(collect(bytes))).code).toBe('changed_while_reading');
  });

  it('that is replaced while it is read is held, whether or not the connection is cut', async () => {
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

  it('that was changed within this second is read when the second has passed: a later change has another time', async () => {
    const modified = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    const { bytes } = await open('a,1\n', { ...NO_ETAG, modified });
    await collect(bytes);
    expect(Date.now()).toBeGreaterThanOrEqual(modified.getTime() + 1_000);
  });
});

describe('a store that ignores what it is asked', () => {
  it('is If-Match: another version than the listed one is held', async () => {
    await restart({ ignoresIfMatch: true });
    const { bytes } = await open('a,1\n');
    s3.put('shop', 'orders.csv', 'b,2\n');
    expect((await holdReason(collect(bytes))).code).toBe('changed_while_reading');
  });

  it('is Range: what has come already is passed over, and the content is whole', async () => {
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

describe('a flipped byte is never taken for content', () => {
  const content = randomBytes(3_000_000);
  const cut = { operation: 'GetObject', kind: 'cut', afterBytes: 1_000_000 } as const;
  const flip = { operation: 'GetObject', kind: 'damage' } as const;

  it.each([
    ['in an answer after a cut, which names no checksum', {}, [cut, { ...flip, atByte: 7 }]],
    ['if the store sends no checksum', { hasChecksum: false }, [{ ...flip, atByte: 2_000_000 }]],
    ['after a cut, if the store sends no checksum', { hasChecksum: false }, [cut, { ...flip, atByte: 7 }]],
    ['where the ETag is no MD5', { etag: '"parts-2"' }, [cut, { ...flip, atByte: 7 }]],
    ['where the object has no ETag', { etag: '', modified: MINUTE_AGO }, [cut, { ...flip, atByte: 7 }]],
  ] as const)('%s', async (_, traits, faults) => {
    const { bytes } = await open(content, traits);
    for (const fault of faults) s3.fail({ ...fault });
    expect(await holdReason(collect(bytes))).toMatchObject({ code: 'read_damaged', isTransient: true });
    // The next run reads the whole file.
    const file = await listOne();
    expect((await collect(openFile(file, { source: settings(), clients }))).equals(content)).toBe(true);
  });

  it('and the hold says what did not match', async () => {
    const { bytes } = await open(content, { hasChecksum: false });
    s3.fail({ ...flip, atByte: 5 });
    const md5 = createHash('md5').update(content).digest('hex');
    const reason = await holdReason(collect(bytes));
    expect(reason.message).toMatch(/its MD5 is [0-9a-f]{32}, and the store names the ETag/);
    expect(reason.message).toContain(md5);
    expect(reason.help).toContain('etag_is_md5: false');
  });
});

describe('content that is right is never called damaged', () => {
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
  ] as const)('when %s', async (_, traits) => {
    const { bytes } = await open('a,1\n', traits);
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });

  it('when the source says that its ETags are no MD5', async () => {
    const traits = { etag: '"0123456789abcdef0123456789abcdef"', hasChecksum: false };
    const { bytes } = await open('a,1\n', traits, { etagIsMd5: false });
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });
});

describe('each checksum that S3 names', () => {
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

  it.each(answers)('is compared piece by piece: %o', async (answer) => {
    expect(await mismatchOf(answer, CHECK)).toBeNull();
    expect(await mismatchOf(answer, Buffer.from('123456780'))).not.toBeNull();
  });

  it('is passed over when it is that of the parts', async () => {
    const composite = { ChecksumCRC32: 'AAAAAA==-2', ETag: '"9b2cf535f27731c974343645a3985328-2"' };
    expect(await mismatchOf(composite, CHECK)).toBeNull();
    expect(await mismatchOf({ ChecksumSHA256: 'AAAA', ChecksumType: 'COMPOSITE' }, CHECK)).toBeNull();
  });
});

describe('one object that fails', () => {
  it.each([
    [403, 'AccessDenied'],
    [403, 'Forbidden'],
    [400, 'InvalidRequest'],
    [500, 'InternalError'],
  ])('with %i %s is held as unavailable and tried again', async (status, code) => {
    const { bytes } = await open('a,1\n');
    s3.fail({ operation: 'GetObject', kind: 'error', status, code, times: 100 });
    const reason = await holdReason(collect(bytes));
    expect(reason).toMatchObject({ code: 'file_unavailable', isTransient: true });
    expect(reason.help).toContain('files release');
  });

  it('with what holds for all of them ends the source', async () => {
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
  ] as const)('is told with both regions: %s', async (_, status, code, more) => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    s3.fail({ operation: 'ListObjectsV2', kind: 'error', status, code, ...more, times: 100 });
    const error = await knownError(list());
    expect(error).toMatchObject({ code: 's3_wrong_region', exitCode: 2 });
    expect(error.message).toContain('"us-east-1"');
    expect(error.message).toContain('"eu-central-1"');
    expect(error.help).toContain('region: eu-central-1');
  });

  it('that the store does not name is told with the endpoint that it does', async () => {
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

describe('how a store is reached', () => {
  it('is told apart when its name cannot be resolved: to run again may do', async () => {
    const error = await knownError(list({ endpoint: 'http://no-such-store.invalid:9000' }));
    expect(error).toMatchObject({ code: 's3_unreachable', exitCode: 1 });
    expect(error.message).toContain('no-such-store.invalid');
    expect(error.message).toMatch(/resolved/);
  });

  it('is said for each source, so that one configuration reads two stores', async () => {
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
  ])('names the profile %s that does not exist', async (_, changes, env) => {
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

describe('a store with a certificate of its own', () => {
  const pem = (name: string) => new URL(`../fixtures/tls/localhost-${name}.pem`, import.meta.url).pathname;

  beforeEach(() =>
    restart({ tls: { key: readFileSync(pem('key')), cert: readFileSync(pem('certificate')) } }),
  );

  it('is refused, and the variable that makes it known is named', async () => {
    s3.put('shop', 'orders.csv', 'a,b\n');
    const error = await knownError(list());
    expect(error).toMatchObject({ code: 's3_certificate_untrusted', exitCode: 2 });
    expect(error.help).toContain('NODE_EXTRA_CA_CERTS');
    expect(error.help).toContain('AWS_CA_BUNDLE');
  });

  it('is read when AWS_CA_BUNDLE names it', async () => {
    process.env.AWS_CA_BUNDLE = pem('certificate');
    const { bytes } = await open('a,1\n');
    expect((await collect(bytes)).toString()).toBe('a,1\n');
  });

  it('and a bundle that is not there are told with its path', async () => {
    process.env.AWS_CA_BUNDLE = '/nonexistent/ca.pem';
    expect(await knownError(list())).toMatchObject({
      code: 's3_ca_bundle_unreadable',
      exitCode: 2,
      where: '/nonexistent/ca.pem',
    });
  });
});
