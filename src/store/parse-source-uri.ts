import { fileURLToPath } from 'node:url';
import { configurationError, type KnownError } from '../core/known-error.ts';
import { type DatedNames, parseDatedNames, WILDCARD } from '../core/time/dated-names.ts';

/** The location of a source, and which of its files belong to the source. */
export type SourceLocation =
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /**
       * The prefix for requests to the store: the part of the key before the first wildcard, or the whole
       * key.
       */
      readonly prefix: string;
      /** Pattern for whole keys. Null if everything below the prefix belongs to the source. */
      readonly glob: string | null;
      /** The date in whole keys. Null if the uri contains none. */
      readonly dated: DatedNames | null;
    }
  | {
      readonly kind: 'folder';
      /** Absolute, perhaps with wildcards. */
      readonly path: string;
      /** The date in absolute paths. Null if the uri contains none. */
      readonly dated: DatedNames | null;
    };

/**
 * Parses the address of a source: `s3://bucket/prefix/`, `s3://bucket/orders/*.csv.gz`,
 * `s3://bucket/dt={date}/`, `/absolute/folder`, `file:///absolute/folder`.
 *
 * @throws KnownError `source_address_invalid` (exit 2).
 */
export function parseSourceUri(uri: string): SourceLocation {
  if (/^s3:/i.test(uri)) {
    const { bucket, key } = parseObjectUri(uri);
    const dated = parseDatedNames(key);
    if (dated !== null) return { kind: 's3', bucket, prefix: dated.prefix, glob: dated.glob, dated };
    const wildcard = key.search(WILDCARD);
    if (wildcard < 0) return { kind: 's3', bucket, prefix: key, glob: null, dated };
    return { kind: 's3', bucket, prefix: key.slice(0, wildcard), glob: key, dated };
  }
  if (/^file:/i.test(uri)) return inFolder(pathOfFileUri(uri));
  if (uri.startsWith('/')) return inFolder(uri);
  throw invalidAddress(uri);
}

function inFolder(path: string): SourceLocation {
  const dated = parseDatedNames(path);
  return { kind: 'folder', path: dated?.glob ?? path, dated };
}

/** Identifies an object. The key is not %-encoded. */
export type ObjectName = { readonly bucket: string; readonly key: string };

/** Splits `s3://bucket/key`. The key is not %-encoded. */
export function parseObjectUri(uri: string): ObjectName {
  const match = /^s3:\/\/([^/]+)(?:\/(.*))?$/is.exec(uri);
  const bucket = match?.[1];
  if (bucket === undefined) throw invalidAddress(uri);
  return { bucket, key: match?.[2] ?? '' };
}

/** Converts `file:///…` to an absolute path. */
export function pathOfFileUri(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    throw invalidAddress(uri);
  }
}

function invalidAddress(uri: string): KnownError {
  return configurationError({
    code: 'source_address_invalid',
    message: 'The address is neither an S3 address nor a folder.',
    where: uri,
    help: 'Write s3://bucket/prefix/ or the path of a folder, with an optional glob at the end.',
    safe: 'Nothing was read.',
  });
}

/** Returns a function that cuts from the address of a file the folder that all files of its source are in. */
export function nameInSource(sourceUri: string): (uri: string) => string {
  const place = parseSourceUri(sourceUri);
  const pattern = place.kind === 's3' ? (place.glob ?? place.prefix) : place.path;
  const wildcard = pattern.search(WILDCARD);
  const fixed = wildcard < 0 ? pattern : pattern.slice(0, pattern.lastIndexOf('/', wildcard) + 1);
  const folder = fixed === '' || fixed.endsWith('/') ? fixed : `${fixed}/`;
  return (uri) => {
    const path = uri.startsWith('s3:') ? parseObjectUri(uri).key : pathOfFileUri(uri);
    return path.startsWith(folder) ? path.slice(folder.length) : path.slice(path.lastIndexOf('/') + 1);
  };
}
