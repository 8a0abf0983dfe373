import { toPrintableLine } from './printable.ts';

/**
 * What a person calls a file, on one line: the last part of its address. That of a folder's file is a URL; a key of S3 is what it is, `100%.csv` included.
 */
export function fileName(uri: string): string {
  const path = uri.startsWith('file://') ? decodeURIComponent(uri.slice('file://'.length)) : uri;
  return toPrintableLine(path.slice(path.lastIndexOf('/') + 1) || path);
}
