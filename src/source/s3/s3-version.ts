import type { _Object as S3Object } from '@aws-sdk/client-s3';
import type { SourceFile } from '../../model/source.ts';

/**
 * What tells one version of an object from another, the strongest that its store offers. An ETag changes with the content. Where a store
 * names none (gateways over a file system do, for files that were placed in their folder), a version id does. Where there is neither, size
 * and modification time have to do, and are compared again when all bytes have come.
 */
export type ObjectVersion =
  | { readonly kind: 'etag' /** With its quotes, as `If-Match` takes it. */; readonly etag: string }
  | { readonly kind: 'version_id'; readonly versionId: string }
  | { readonly kind: 'modified' /** Milliseconds since 1970. */; readonly modifiedMs: number };

/** The ETag of an answer with its quotes, whether or not the store sends them; null where there is none. */
export function etagOf({ ETag = '' }: { readonly ETag?: string | undefined }): string | null {
  const bare = ETag.replace(/^"?(.*?)"?$/, '$1');
  return bare === '' ? null : `"${bare}"`;
}

/**
 * What identifies a listed object, as it is kept with the file.
 *
 * @param versionId of an object without an ETag, where its bucket keeps versions.
 */
export function versionText(object: S3Object, versionId: string | null): string {
  const etag = etagOf(object);
  if (etag !== null) return `etag:${etag}`;
  if (versionId !== null) return `version:${versionId}`;
  const { Size: size = 0, LastModified: modified } = object;
  return `size:${size},modified:${modified?.toISOString() ?? 'unknown'}`;
}

/** Reads what `versionText` has written. */
export function parseVersion({ version }: Pick<SourceFile, 'version'>): ObjectVersion {
  if (version.startsWith('etag:')) return { kind: 'etag', etag: version.slice('etag:'.length) };
  if (version.startsWith('version:'))
    return { kind: 'version_id', versionId: version.slice('version:'.length) };
  return { kind: 'modified', modifiedMs: Date.parse(version.replace(/^size:\d+,modified:/, '')) };
}

/** Whether a store told this version by size and time alone, so that a change within its clock's precision goes unseen. */
export function isWeaklyVersioned({ version }: Pick<SourceFile, 'version'>): boolean {
  return version.startsWith('size:');
}
