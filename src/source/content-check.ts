import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { etagOf } from './s3/s3-version.ts';

/**
 * Whether the bytes that came are those that the store keeps. The first answer of a read is whole, so it names what the whole object must
 * come to; later answers, for a range, name nothing. One digest therefore runs over all answers, and is compared after the last byte.
 */
export type ContentCheck = {
  readonly update: (bytes: Uint8Array) => void;
  /** After the last byte; null when all is well. */
  readonly findMismatch: () => Promise<Mismatch | null>;
};

export type Mismatch = {
  /** `CRC64NVME`, or `MD5` where the ETag is taken for one. */
  readonly digest: string;
  readonly isEtag: boolean;
  readonly actual: string;
  /** What the store names. */
  readonly expected: string;
};

type Digest = {
  readonly update: (bytes: Uint8Array) => void;
  readonly digest: () => Uint8Array | Promise<Uint8Array>;
};

type Kind = {
  readonly name: string;
  readonly field:
    | 'ChecksumCRC32'
    | 'ChecksumSHA1'
    | 'ChecksumSHA256'
    | 'ChecksumCRC32C'
    | 'ChecksumCRC64NVME';
  readonly create: () => Digest | Promise<Digest>;
};

/** The cheapest first: an object may have several. Sizes of answers and order of bytes are those of the S3 API reference. */
const KINDS: readonly Kind[] = [
  { name: 'CRC32', field: 'ChecksumCRC32', create: createCrc32 },
  { name: 'SHA-256', field: 'ChecksumSHA256', create: () => createHash('sha256') },
  { name: 'SHA-1', field: 'ChecksumSHA1', create: () => createHash('sha1') },
  { name: 'CRC32C', field: 'ChecksumCRC32C', create: async () => new (await loadCrc()).Crc32c() },
  { name: 'CRC64NVME', field: 'ChecksumCRC64NVME', create: async () => new (await loadCrc()).Crc64Nvme() },
];

/** Loaded where a store uses them: the SDK's own, which it would verify a single answer with. */
function loadCrc() {
  return import('@aws-sdk/checksums/crc');
}

/** Says what a whole answer's object is checked against: its full-object checksum, else its ETag where that is an MD5, else nothing. */
export async function createContentCheck(
  answer: GetObjectCommandOutput,
  { isEtagMd5 }: { readonly isEtagMd5: boolean },
): Promise<ContentCheck> {
  for (const { name, field, create } of KINDS) {
    const expected = answer[field];
    if (expected !== undefined && isOfWholeObject(answer, expected))
      return compare(await create(), { digest: name, isEtag: false, expected, encoding: 'base64' });
  }
  const md5 = isEtagMd5 ? md5Of(answer) : null;
  if (md5 !== null)
    return compare(createHash('md5'), { digest: 'MD5', isEtag: true, expected: md5, encoding: 'hex' });
  return { update: () => {}, findMismatch: async () => null };
}

/** That of an object of several parts may be one of the parts' checksums, with their number behind it. */
function isOfWholeObject({ ChecksumType }: GetObjectCommandOutput, checksum: string): boolean {
  return ChecksumType !== 'COMPOSITE' && !/-\d+$/.test(checksum);
}

/** An ETag is the MD5 of the content unless it says "parts" by a hyphen, or the object is encrypted with a key of its own or of KMS. */
function md5Of(answer: GetObjectCommandOutput): string | null {
  const { ServerSideEncryption: encryption, SSECustomerAlgorithm: customer } = answer;
  if (customer !== undefined || (encryption !== undefined && encryption !== 'AES256')) return null;
  return /^"([0-9a-f]{32})"$/i.exec(etagOf(answer) ?? '')?.[1]?.toLowerCase() ?? null;
}

function compare(
  running: Digest,
  { encoding, ...named }: Omit<Mismatch, 'actual'> & { readonly encoding: 'base64' | 'hex' },
): ContentCheck {
  return {
    update: (bytes) => void running.update(bytes),
    findMismatch: async () => {
      const actual = Buffer.from(await running.digest()).toString(encoding);
      return actual === named.expected ? null : { ...named, actual };
    },
  };
}

function createCrc32(): Digest {
  let value = 0;
  return {
    update: (bytes) => {
      value = crc32(bytes, value);
    },
    digest: () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}
