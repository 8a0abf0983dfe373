import type { _Object as S3Object } from '@aws-sdk/client-s3';
import type { SourceFile } from '../../core/source.ts';

/**
 * Identifies a version of an object, in the strongest form that its store offers. An ETag changes with the
 * content. If the store has none (gateways over a file system, for files that were copied into their folder),
 * a version id is used. If there is neither, size and modification time are used, and compared again when all
 * bytes have been received.
 */
export type ObjectVersion =
  | { readonly kind: 'etag' /** With its quotes, as `If-Match` takes it. */; readonly etag: string }
  | { readonly kind: 'version_id'; readonly versionId: string }
  | { readonly kind: 'modified' /** Milliseconds since 1970. */; readonly modifiedMs: number };

/** Returns the ETag of an answer with quotes, whether or not the store sends them. Null if there is none. */
export function etagOf({ ETag = '' }: { ETag?: string | undefined }): string | null {
  const bare = ETag.replace(/^"?(.*?)"?$/, '$1');
  return bare === '' ? null : `"${bare}"`;
}

/**
 * Formats the version of a listed object, as it is stored with the file.
 *
 * @param versionId version id of an object without an ETag, if its bucket keeps versions.
 */
export function versionText(object: S3Object, versionId: string | null): string {
  const etag = etagOf(object);
  if (etag !== null) return `etag:${etag}`;
  if (versionId !== null) return `version:${versionId}`;
  const { Size: size = 0, LastModified: modified } = object;
  return `size:${size},modified:${modified?.toISOString() ?? 'unknown'}`;
}

/** Parses the result of `versionText`. */
export function parseVersion({ version }: Pick<SourceFile, 'version'>): ObjectVersion {
  if (version.startsWith('etag:')) return { kind: 'etag', etag: version.slice('etag:'.length) };
  if (version.startsWith('version:'))
    return { kind: 'version_id', versionId: version.slice('version:'.length) };
  return { kind: 'modified', modifiedMs: Date.parse(version.replace(/^size:\d+,modified:/, '')) };
}

/**
 * True if only size and time identify the version, so that a change within the precision of the store's clock
 * is not detected.
 */
export function isWeaklyVersioned({ version }: Pick<SourceFile, 'version'>): boolean {
  return version.startsWith('size:');
}
