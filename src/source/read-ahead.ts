import pLimit from 'p-limit';
import type { SourceFile } from '../model/source.ts';
import { type OpenFileOptions, openFile } from './open-file.ts';

/** Opens the stored bytes of a file, like `openFile`. */
export type OpenStored = (file: SourceFile, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** Prefetches the files of a source that are read one after the other. */
export type ReadAhead = {
  /**
   * Moves to the file at this position in the list, and drops fetched data of the files before it.
   *
   * @param isAvailable whether the store's last answer succeeded. If so, the files after this one are
   * fetched.
   */
  moveTo(place: number, isAvailable: boolean): void;
  readonly open: OpenStored;
  /** True if a file is small, and its bytes are on this machine or on their way. */
  isNear(file: SourceFile): boolean;
  /** Aborts all fetches in progress. */
  stop(): void;
};

/**
 * Number of files that are fetched at a time. A store that takes 100 ms for each file then delivers 160 per
 * second.
 */
const AT_A_TIME = 16;
/**
 * Number of files that are fetched ahead. Files are read together, and others are fetched meanwhile, so it is a
 * multiple of the number that is read together.
 */
const FILES = 48;
/**
 * Maximum size of a file that is fetched ahead, in bytes. For a larger file, the time to request it is small
 * compared with the transfer.
 */
const LARGEST = 1024 ** 2;

/** Maximum size of all files that are fetched ahead, in bytes. */
const MAX_BYTES = 16 * LARGEST;

/**
 * Fetches small files of a store into memory before they are needed: at most 48 files of at most a megabyte, 16
 * at a time. A prefix with thousands of files is then not limited by the latency of single requests. An error of a file
 * is thrown when that file is opened.
 *
 * Local files are not prefetched.
 */
export function readAhead(files: readonly SourceFile[], options: Omit<OpenFileOptions, 'signal'>): ReadAhead {
  const fetched = new Map<SourceFile, Promise<readonly Uint8Array[]>>();
  const stopping = new AbortController();
  const limit = pLimit(AT_A_TIME);
  /** Place of the last file that was requested. */
  let requested = 0;

  async function fetchWhole(file: SourceFile): Promise<readonly Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of openFile(file, { ...options, signal: stopping.signal })) chunks.push(chunk);
    return chunks;
  }

  const isSmall = ({ sizeBytes }: SourceFile): boolean => sizeBytes <= LARGEST;
  const isLocal = ({ uri }: SourceFile): boolean => uri.startsWith('file:');

  function begin(file: SourceFile): void {
    const fetching = limit(fetchWhole, file);
    // The error is thrown when the file is opened. This handler prevents an unhandled rejection until then.
    fetching.catch(() => {});
    fetched.set(file, fetching);
  }

  async function* open(file: SourceFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const fetching = fetched.get(file);
    fetched.delete(file);
    if (fetching === undefined) yield* openFile(file, { ...options, signal });
    else yield* await unlessAborted(fetching, signal);
  }

  return {
    moveTo(place, isAvailable) {
      for (const file of files.slice(Math.max(0, place - FILES), place)) fetched.delete(file);
      if (!isAvailable) return;
      let bytes = 0;
      for (const [index, file] of files.slice(place + 1, place + 1 + FILES).entries()) {
        if (isLocal(file) || !isSmall(file)) continue;
        bytes += file.sizeBytes;
        if (bytes > MAX_BYTES) break;
        if (place + index < requested) continue;
        begin(file);
        requested = place + index + 1;
      }
    },
    open,
    isNear: (file) => fetched.has(file) || (isLocal(file) && isSmall(file)),
    stop: () => stopping.abort(),
  };
}

/** Waits for the work. @throws the reason of the signal if it aborts first. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
