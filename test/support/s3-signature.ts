import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decodeAwsChunked } from './s3-chunked-body.ts';
import { S3Error } from './s3-protocol.ts';

export type S3Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
};

/** The clock difference that S3 tolerates. */
const MAX_SKEW_MS = 15 * 60_000;

const UNSIGNED = 'UNSIGNED-PAYLOAD';
const STREAMED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';

/**
 * Verifies a request's Signature Version 4 (in its headers) and the digest of its body, as S3 does.
 *
 * @returns the body, decoded if it was aws-chunked.
 */
export async function authorize(request: IncomingMessage, credentials: S3Credentials): Promise<Buffer> {
  const authorization = request.headers.authorization ?? '';
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (match === null) throw new S3Error(403, 'AccessDenied', 'Anonymous access is forbidden.');
  const [, accessKeyId = '', date = '', region = '', signedHeaders = '', signature = ''] = match;
  if (accessKeyId !== credentials.accessKeyId) throw new S3Error(403, 'InvalidAccessKeyId');
  if (region !== credentials.region) {
    const headers = { 'x-amz-bucket-region': credentials.region };
    throw new S3Error(301, 'PermanentRedirect', 'The bucket is in another region.', { headers });
  }
  const time = String(request.headers['x-amz-date'] ?? '');
  if (Math.abs(parseTime(time) - Date.now()) > MAX_SKEW_MS) throw new S3Error(403, 'RequestTimeTooSkewed');

  const expected = sign(canonicalRequest(request, signedHeaders), { date, time, credentials });
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature))) {
    throw new S3Error(403, 'SignatureDoesNotMatch');
  }
  return readBody(request);
}

function sign(
  canonical: string,
  scope: { readonly date: string; readonly time: string; readonly credentials: S3Credentials },
): string {
  const { date, time, credentials } = scope;
  const place = `${date}/${credentials.region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, place, sha256(canonical)].join('\n');
  const parts = [date, credentials.region, 's3', 'aws4_request'];
  const key = parts.reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`);
  return hmac(key, text).toString('hex');
}

function canonicalRequest(request: IncomingMessage, signedHeaders: string): string {
  const [path = '', search = ''] = (request.url ?? '').split('?', 2);
  const query = search
    .split('&')
    .filter((part) => part !== '')
    .map((part) => (part.includes('=') ? part : `${part}=`))
    .sort()
    .join('&');
  const names = signedHeaders.split(';');
  for (const name of ['host', 'x-amz-content-sha256', 'x-amz-date']) {
    if (!names.includes(name)) throw new S3Error(403, 'AccessDenied', `The header ${name} must be signed.`);
  }
  const headers = names.map(
    (name) =>
      `${name}:${String(request.headers[name] ?? '')
        .trim()
        .replace(/ +/g, ' ')}\n`,
  );
  return [
    request.method,
    path,
    query,
    headers.join(''),
    signedHeaders,
    request.headers['x-amz-content-sha256'],
  ].join('\n');
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const digest = String(request.headers['x-amz-content-sha256'] ?? '');
  const trailer = String(request.headers['x-amz-trailer'] ?? '');
  if (digest === STREAMED) {
    const expectedBytes = Number(request.headers['x-amz-decoded-content-length']);
    return decodeAwsChunked(raw, { trailer, expectedBytes });
  }
  if (digest !== UNSIGNED && digest !== sha256(raw)) throw new S3Error(400, 'XAmzContentSHA256Mismatch');
  return raw;
}

function parseTime(time: string): number {
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
