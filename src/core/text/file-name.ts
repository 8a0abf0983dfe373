import { toPrintableLine } from './printable.ts';

/**
 * Returns the name of a file for people, on one line: the last part of its address. The address of a local
 * file is a URL and is decoded. An S3 key is taken literally, so `100%.csv` is a valid name.
 */
export function fileName(uri: string): string {
  const path = uri.startsWith('file://') ? decodeURIComponent(uri.slice('file://'.length)) : uri;
  return toPrintableLine(path.slice(path.lastIndexOf('/') + 1) || path);
}
