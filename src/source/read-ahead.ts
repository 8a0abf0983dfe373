import type { SourceFile } from '../model/source.ts';
import { type OpenFileOptions, openFile } from './open-file.ts';

/** Opens the stored bytes of a file, as `openFile` does. */
export type OpenStored = (file: SourceFile, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** The files of a source that are read one after the other. */
export type ReadAhead = {
  /**
   * The file with this place in the list comes next: what was fetched of those before it is let go.
   *
   * @param isAvailable whether the store gave what it was last asked for: then those after it are fetched.
   */
  moveTo(place: number, isAvailable: boolean): void;
  readonly open: OpenStored;
  /** Ends whatever is still being fetched. */
  stop(): void;
};

/** So many files after the one that is read are fetched: a store that takes 100 ms for each then gives 160 a second. */
const FILES = 16;
/** A larger file is read as it comes: what it takes to ask for it is little beside the rest. */
const LARGEST = 1024 ** 2;

/**
 * Fetches small files of a store before it is their turn, into memory: at most 16 of at most a megabyte, so that a prefix of thousands of them
 * is not read at the pace of one answer after the other. What goes wrong with a file is thrown when it is its turn.
 *
 * Files of a folder are read when it is their turn.
 */
export function readAhead(files: readonly SourceFile[], options: Omit<OpenFileOptions, 'signal'>): ReadAhead {
  const fetched = new Map<SourceFile, Promise<readonly Uint8Array[]>>();
  const stopping = new AbortController();

  async function fetchWhole(file: SourceFile): Promise<readonly Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of openFile(file, { ...options, signal: stopping.signal })) chunks.push(chunk);
    return chunks;
  }

  function begin(file: SourceFile): void {
    if (fetched.has(file) || file.uri.startsWith('file:') || file.sizeBytes > LARGEST) return;
    const fetching = fetchWhole(file);
    // It is thrown where the file is opened; until then it is nobody's.
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
      if (isAvailable) for (const file of files.slice(place + 1, place + 1 + FILES)) begin(file);
    },
    open,
    stop: () => stopping.abort(),
  };
}

/** @throws the reason of the signal when that comes first. */
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
