import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { S3Error } from './s3-protocol.ts';

const CRLF = '\r\n';

/**
 * Decodes an aws-chunked body: chunks that begin with their length in hex, then trailers with a checksum of
 * the whole body.
 *
 * @param options.trailer name of the checksum header that must follow.
 */
export function decodeAwsChunked(
  raw: Buffer,
  { trailer, expectedBytes }: { readonly trailer: string; readonly expectedBytes: number },
): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = raw.indexOf(CRLF, at);
    const length = Number.parseInt(raw.toString('latin1', at, lineEnd), 16);
    if (lineEnd < 0 || Number.isNaN(length)) throw new S3Error(400, 'IncompleteBody');
    at = lineEnd + CRLF.length;
    if (length === 0) break;
    pieces.push(raw.subarray(at, at + length));
    at += length + CRLF.length;
  }
  const body = Buffer.concat(pieces);
  if (body.length !== expectedBytes) throw new S3Error(400, 'IncompleteBody');
  const trailers = new Map(
    raw
      .toString('latin1', at)
      .split(CRLF)
      .filter(Boolean)
      .map((line) => line.split(':', 2) as [string, string]),
  );
  verifyChecksum(body, { header: trailer, value: trailers.get(trailer) });
  return body;
}

/** Verifies `x-amz-checksum-crc32` and `-sha256`. Other kinds are not supported. */
export function verifyChecksum(
  body: Buffer,
  { header, value }: { readonly header: string; readonly value: string | undefined },
): void {
  const actual =
    header === 'x-amz-checksum-crc32'
      ? crc32Base64(body)
      : header === 'x-amz-checksum-sha256'
        ? createHash('sha256').update(body).digest('base64')
        : null;
  if (actual === null) throw new S3Error(501, 'NotImplemented', `${header} is not offered.`);
  if (actual !== value) throw new S3Error(400, 'BadDigest', 'The checksum does not fit.');
}

/** Formats a CRC-32 as S3 does: four bytes, big-endian, in base64. */
export function crc32Base64(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}
