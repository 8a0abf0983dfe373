import pLimit from 'p-limit';
import type { SourceFile } from '../../core/source.ts';
import { type OpenFileOptions, openFile } from './open-file.ts';

/** Opens the stored bytes of a file, like `openFile`. */
export type OpenStored = (file: SourceFile, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** Prefetches the files of a source that are read one after the other. */
export type ReadAhead = {
  /**
   * Moves to the file at this position in the list, and drops fetched data of the files before it.
   *
   * @param isAvailable whether the store's last answer succeeded. If so, the files after this one are
   * fetched. If not, only this one is, if it was put in line before.
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
  // Once a file has failed, the store may fail all of them. So no other is requested until it is known.
  let isPaused = false;
  /** Files that got a place while that was so. They are requested once the store answers again. */
  const waiting: Waiting[] = [];
  /** The file whose turn it is. It is requested even then. */
  let current: SourceFile | undefined;
  /** Place of the last file that was put in line. */
  let last = 0;

  async function fetchWhole(file: SourceFile): Promise<readonly Uint8Array[]> {
    stopping.signal.throwIfAborted();
    const chunks: Uint8Array[] = [];
    for await (const chunk of openFile(file, { ...options, signal: stopping.signal })) chunks.push(chunk);
    return chunks;
  }

  const isSmall = ({ sizeBytes }: SourceFile): boolean => sizeBytes <= LARGEST;
  const isLocal = ({ uri }: SourceFile): boolean => uri.startsWith('file:');

  function fetchAhead(file: SourceFile): void {
    const { promise, ...settle } = Promise.withResolvers<readonly Uint8Array[]>();
    // The error is thrown when the file is opened. This handler prevents an unhandled rejection until then.
    promise.catch(() => {});
    fetched.set(file, promise);
    putInLine({ file, ...settle });
  }

  function putInLine(next: Waiting): void {
    void limit(async () => {
      const isItsTurn = !isPaused || next.file === current || stopping.signal.aborted;
      if (isItsTurn) await request(next);
      else waiting.push(next);
    });
  }

  async function request({ file, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await fetchWhole(file));
    } catch (error) {
      isPaused = true;
      reject(error);
    }
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
      current = files[place];
      isPaused = !isAvailable;
      if (isPaused) {
        const isNext = waiting[0] !== undefined && waiting[0].file === current;
        for (const next of waiting.splice(0, isNext ? 1 : 0)) void request(next);
        return;
      }
      for (const next of waiting.splice(0)) putInLine(next);
      let bytes = 0;
      for (const [index, file] of files.slice(place + 1, place + 1 + FILES).entries()) {
        if (isLocal(file) || !isSmall(file)) continue;
        bytes += file.sizeBytes;
        if (bytes > MAX_BYTES) break;
        if (place + index < last) continue;
        fetchAhead(file);
        last = place + index + 1;
      }
    },
    open,
    isNear: (file) => fetched.has(file) || (isLocal(file) && isSmall(file)),
    stop() {
      stopping.abort();
      for (const { reject } of waiting.splice(0)) reject(stopping.signal.reason);
    },
  };
}

type Waiting = {
  readonly file: SourceFile;
  readonly resolve: (chunks: readonly Uint8Array[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Waits for the work. */
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
