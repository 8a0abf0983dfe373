import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32Base64, verifyChecksum } from './s3-chunked-body.ts';
import type { Fault } from './s3-faults.ts';
import { S3Error, type S3Target, xml } from './s3-protocol.ts';
import { sendBody } from './s3-send-body.ts';

export type S3Object = {
  readonly content: Buffer;
  /** As in answers, with its quotes. Empty for a file that was put directly into the folder of a gateway. */
  readonly etag: string;
  readonly modified: Date;
  /** Included in answers if versions are kept. Null otherwise. */
  readonly versionId: string | null;
  /** Whether complete answers include a checksum of the content. */
  readonly hasChecksum: boolean;
  /** Encryption at rest, as reported in answers. With a KMS key, the ETag is not an MD5. */
  readonly encryption: string | null;
};
export type S3Bucket = Map<string, S3Object>;

export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Body of the request. */
  readonly body: Buffer;
  readonly fault: Fault | null;
  readonly buckets: Map<string, S3Bucket>;
  /** If true, every answer contains the whole object. */
  readonly ignoresRange: boolean;
  /** If true, every answer contains the current object. */
  readonly ignoresIfMatch: boolean;
};

const MAX_KEYS = 1_000;

export function toObject(content: Buffer, traits: Partial<Omit<S3Object, 'content'>> = {}): S3Object {
  return {
    content,
    etag: `"${createHash('md5').update(content).digest('hex')}"`,
    modified: new Date(),
    versionId: null,
    hasChecksum: true,
    encryption: null,
    ...traits,
  };
}

/** Performs a signed request. */
export async function answerRequest(target: S3Target, exchange: Exchange): Promise<void> {
  const { operation, bucket } = target;
  const { response, buckets } = exchange;
  if (operation === 'Unknown') throw new S3Error(501, 'NotImplemented');
  if (operation === 'CreateBucket') {
    if (buckets.has(bucket)) throw new S3Error(409, 'BucketAlreadyOwnedByYou');
    buckets.set(bucket, new Map());
    return void response.writeHead(200, { location: `/${bucket}` }).end();
  }
  const objects = buckets.get(bucket);
  if (objects === undefined) throw new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
  if (operation === 'HeadBucket') return void response.writeHead(200).end();
  if (operation === 'DeleteBucket') {
    if (objects.size > 0) throw new S3Error(409, 'BucketNotEmpty');
    buckets.delete(bucket);
    return void response.writeHead(204).end();
  }
  if (operation === 'ListObjectsV2') return list(objects, target, exchange);
  if (operation === 'ListObjectVersions') return listVersions(objects, target, exchange);
  if (operation === 'PutObject') return put(objects, target, exchange);
  if (operation === 'DeleteObject') {
    objects.delete(target.key);
    return void response.writeHead(204).end();
  }
  return get(objects, target, exchange);
}

function put(objects: S3Bucket, { key }: S3Target, { request, response, body }: Exchange): void {
  const header = Object.keys(request.headers).find((name) => /^x-amz-checksum-(crc|sha)/.test(name));
  if (header !== undefined) verifyChecksum(body, { header, value: String(request.headers[header]) });
  const object = toObject(body);
  objects.set(key, object);
  response.writeHead(200, { etag: object.etag, 'x-amz-checksum-crc32': crc32Base64(body) }).end();
}

async function get(objects: S3Bucket, { key, operation }: S3Target, exchange: Exchange): Promise<void> {
  const { request, response, fault, ignoresRange, ignoresIfMatch } = exchange;
  const object = objects.get(key);
  if (object === undefined) throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
  const { 'if-match': ifMatch } = request.headers;
  const range = ignoresRange ? undefined : request.headers.range;
  if (!ignoresIfMatch && ifMatch !== undefined && ifMatch !== '*' && ifMatch !== object.etag)
    throw new S3Error(412, 'PreconditionFailed');
  const size = object.content.length;
  const part = range === undefined ? null : parseRange(range, size);
  const body = part === null ? object.content : object.content.subarray(part.first, part.last + 1);
  const wantsChecksum =
    object.hasChecksum &&
    part === null &&
    fault?.kind !== 'end' &&
    request.headers['x-amz-checksum-mode'] === 'ENABLED';
  response.writeHead(part === null ? 200 : 206, {
    ...(object.etag === '' ? {} : { etag: object.etag }),
    ...(object.encryption === null ? {} : { 'x-amz-server-side-encryption': object.encryption }),
    'accept-ranges': 'bytes',
    ...(fault?.kind === 'end' ? {} : { 'content-length': body.length }),
    'content-type': 'binary/octet-stream',
    'last-modified': object.modified.toUTCString(),
    ...(part === null ? {} : { 'content-range': `bytes ${part.first}-${part.last}/${size}` }),
    ...(wantsChecksum
      ? { 'x-amz-checksum-crc32': crc32Base64(body), 'x-amz-checksum-type': 'FULL_OBJECT' }
      : {}),
  });
  if (operation === 'HeadObject') return void response.end();
  response.flushHeaders();
  await sendBody(response, { body, fault });
}

/** Lists versions in a single page, which is sufficient here. */
async function listVersions(
  objects: S3Bucket,
  { bucket, query }: S3Target,
  { response, fault }: Exchange,
): Promise<void> {
  const prefix = query.get('prefix') ?? '';
  const versions = [...objects].filter(([key]) => key.startsWith(prefix));
  if (versions.length > MAX_KEYS) throw new S3Error(501, 'NotImplemented');
  const page = xml('ListVersionsResult', [
    ['Name', bucket],
    ['EncodingType', 'url'],
    ['IsTruncated', false],
    ...versions.map(
      ([key, { versionId, etag }]) =>
        [
          'Version',
          [
            ['Key', encodeURIComponent(key).replaceAll('%2F', '/')],
            ['VersionId', versionId ?? 'null'],
            ['IsLatest', true],
            ['ETag', etag],
          ],
        ] as const,
    ),
  ]);
  response.writeHead(200, { 'content-type': 'application/xml' });
  await sendBody(response, { body: Buffer.from(page), fault });
}

function parseRange(range: string, size: number): { readonly first: number; readonly last: number } {
  const match = /^bytes=(\d+)-(\d*)$/.exec(range);
  const first = Number(match?.[1]);
  const last = Math.min(match?.[2] ? Number(match[2]) : size - 1, size - 1);
  if (match === null || first > last) throw new S3Error(416, 'InvalidRange');
  return { first, last };
}

async function list(
  objects: S3Bucket,
  { bucket, query }: S3Target,
  { response, fault }: Exchange,
): Promise<void> {
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token');
  const after =
    token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString();
  const maxKeys = Math.min(Number(query.get('max-keys') ?? MAX_KEYS), MAX_KEYS);
  const isEncoded = query.get('encoding-type') === 'url';
  const show = (text: string): string =>
    isEncoded ? encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%20', '+') : text;

  const left = [...objects.keys()]
    .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const keys = left.slice(0, maxKeys);
  const isTruncated = left.length > keys.length;
  const contents = keys.map((key) => {
    const object = objects.get(key);
    return [
      'Contents',
      [
        ['Key', show(key)],
        ['LastModified', object?.modified.toISOString() ?? ''],
        ['ETag', object?.etag ?? ''],
        ['Size', object?.content.length ?? 0],
        ['StorageClass', 'STANDARD'],
      ],
    ] as const;
  });
  const page = xml('ListBucketResult', [
    ['Name', bucket],
    ['Prefix', show(prefix)],
    ['MaxKeys', maxKeys],
    ['KeyCount', keys.length],
    ['IsTruncated', isTruncated],
    ...(isEncoded ? ([['EncodingType', 'url']] as const) : []),
    ...(isTruncated
      ? ([['NextContinuationToken', Buffer.from(keys.at(-1) ?? '').toString('base64url')]] as const)
      : []),
    ...contents,
  ]);
  response.writeHead(200, { 'content-type': 'application/xml' });
  await sendBody(response, { body: Buffer.from(page), fault });
}
