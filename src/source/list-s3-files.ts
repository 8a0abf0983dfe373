import { posix } from 'node:path';
import type { ListObjectsV2CommandOutput, _Object as S3Object } from '@aws-sdk/client-s3';
import type { SourceFile } from '../model/source.ts';
import type { S3Client } from './create-s3-client.ts';
import { explainS3Error } from './explain-s3-error.ts';
import type { SourcePlace } from './parse-source-uri.ts';

export type S3Place = Extract<SourcePlace, { kind: 's3' }>;

/**
 * Lists the objects of a place, page after page (1,000 keys each). A listing names no version ids, so the ETag is what pins an object.
 * The whole listing is held, about 300 bytes an object, since not every store lists in order.
 */
export async function* listS3Files(
  place: S3Place,
  { client, signal }: { readonly client: S3Client; readonly signal?: AbortSignal },
): AsyncGenerator<SourceFile> {
  const files: { readonly key: string; readonly file: SourceFile }[] = [];
  for await (const page of listPages(place, { client, ...(signal ? { signal } : {}) })) {
    for (const object of page.Contents ?? []) {
      const key = keyOf(object, page.EncodingType === 'url');
      if (key === null || !belongs(key, object, place)) continue;
      files.push({ key, file: toSourceFile(key, object, place.bucket) });
    }
  }
  files.sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const { file } of files) yield file;
}

async function* listPages(
  { bucket, prefix }: S3Place,
  { client, signal }: { readonly client: S3Client; readonly signal?: AbortSignal },
): AsyncGenerator<ListObjectsV2CommandOutput> {
  let token: string | undefined;
  do {
    const page: ListObjectsV2CommandOutput = await client.api
      .listObjectsV2(
        // Keys may hold characters that XML cannot, so they come %-encoded.
        {
          Bucket: bucket,
          Prefix: prefix,
          EncodingType: 'url',
          ...(token ? { ContinuationToken: token } : {}),
        },
        signal ? { abortSignal: signal } : {},
      )
      .catch((error: unknown) => {
        throw explainS3Error(error, { bucket, key: null, endpoint: client.endpoint }) ?? error;
      });
    yield page;
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

function keyOf(object: S3Object, isEncoded: boolean): string | null {
  if (object.Key === undefined) return null;
  return isEncoded ? decodeURIComponent(object.Key.replaceAll('+', ' ')) : object.Key;
}

function belongs(key: string, object: S3Object, { prefix, glob }: S3Place): boolean {
  const isDirectoryMarker = key.endsWith('/') && (object.Size ?? 0) === 0;
  if (isDirectoryMarker) return false;
  if (glob !== null) return posix.matchesGlob(key, glob);
  // `orders` means the object of that name and what lies below it, not `orders-old/…`.
  const isBelow = prefix === '' || prefix.endsWith('/') || key === prefix || key.startsWith(`${prefix}/`);
  return isBelow && (key === prefix || !/(^|\/)\./.test(key.slice(prefix.length)));
}

function toSourceFile(key: string, object: S3Object, bucket: string): SourceFile {
  const etag = (object.ETag ?? '').replace(/^"?(.*?)"?$/, '"$1"');
  const { Size: sizeBytes = 0, LastModified: modifiedAt } = object;
  const file = { uri: `s3://${bucket}/${key}`, version: `etag:${etag}`, sizeBytes };
  return modifiedAt === undefined ? file : { ...file, modifiedAt };
}
