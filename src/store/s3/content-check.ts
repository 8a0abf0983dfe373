import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { etagOf } from './s3-version.ts';

/**
 * Checks that the received bytes are those that the store keeps. The first answer of a read covers the whole
 * object and contains its checksum. Later answers, for a range, contain none. Therefore one digest covers the
 * bytes of all answers and is compared after the last byte.
 */
export type ContentCheck = {
  readonly update: (bytes: Uint8Array) => void;
  /** Call after the last byte. Resolves to null if the content matches. */
  readonly findMismatch: () => Promise<Mismatch | null>;
};

export type Mismatch = {
  /** `CRC64NVME`, for example, or `MD5` if the ETag is used as one. */
  readonly digest: string;
  readonly isEtag: boolean;
  readonly actual: string;
  /** The digest that the store reports. */
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

/**
 * Cheapest first, because an object may have several checksums. Names and byte order follow the S3 API
 * reference.
 */
const KINDS: readonly Kind[] = [
  { name: 'CRC32', field: 'ChecksumCRC32', create: createCrc32 },
  { name: 'SHA-256', field: 'ChecksumSHA256', create: () => createHash('sha256') },
  { name: 'SHA-1', field: 'ChecksumSHA1', create: () => createHash('sha1') },
  { name: 'CRC32C', field: 'ChecksumCRC32C', create: async () => new (await loadCrc()).Crc32c() },
  { name: 'CRC64NVME', field: 'ChecksumCRC64NVME', create: async () => new (await loadCrc()).Crc64Nvme() },
];

/**
 * Loads the SDK's own CRC code, only when a store uses it. The SDK verifies single answers with the same
 * code.
 */
function loadCrc() {
  return import('@aws-sdk/checksums/crc');
}

/**
 * Creates the check for an object from its first answer, which must be whole. Uses the full-object checksum,
 * or else the ETag if it is an MD5. If there is neither, nothing is checked.
 */
export async function createContentCheck(
  answer: GetObjectCommandOutput,
  { isEtagMd5 }: { isEtagMd5: boolean },
): Promise<ContentCheck> {
  for (const { name, field, create } of KINDS) {
    const expected = answer[field];
    if (expected !== undefined && answer.ChecksumType !== 'COMPOSITE' && !/-\d+$/.test(expected))
      return compare(await create(), { digest: name, isEtag: false, expected, encoding: 'base64' });
  }
  const md5 = isEtagMd5 ? md5Of(answer) : null;
  if (md5 !== null)
    return compare(createHash('md5'), { digest: 'MD5', isEtag: true, expected: md5, encoding: 'hex' });
  return { update: () => {}, findMismatch: async () => null };
}

/**
 * Returns the MD5 from an ETag. The ETag is not the MD5 of the content if it contains a hyphen (multipart
 * upload), or if the object is encrypted with a customer key or KMS.
 */
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
