import { createHash, type Hash } from 'node:crypto';
import type { SourceSettings } from '../model/config.ts';
import type { SourceFile } from '../model/source.ts';
import { decodeText } from './decode/decode-text.ts';
import { decompress } from './decode/decompress.ts';
import { openFile } from './open-file.ts';
import type { OpenStored } from './read-ahead.ts';
import type { SourceClients } from './source-clients.ts';

export type ReadTextOptions = {
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  /** Opens its stored bytes; left out, they are read as they come. */
  readonly open?: OpenStored | undefined;
  /** The layout's encoding; the source's own comes before it. */
  readonly encoding: string;
  /** Ends the read at once. */
  readonly signal?: AbortSignal;
  /** Told of stored bytes as they come, for progress against `sizeBytes`. */
  readonly onStoredBytes?: (count: number) => void;
};

export type TextRead = {
  /** Valid UTF-8 without a byte order mark. To be read once. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** SHA-256 of all chunks, hex: the same for the same text under another name, compressed or encoded otherwise. Only after the end. */
  readonly digest: () => string;
};

/**
 * open → decompress → decode. Whatever way the reading of `chunks` ends, nothing stays open: no socket, no file.
 *
 * @throws FileHeld while the chunks are read, also after the last of them: the content counts only once they have ended without error.
 * @throws KnownError where the whole source cannot be read.
 */
export function readText(file: SourceFile, options: ReadTextOptions): TextRead {
  let digest: string | null = null;
  const isFolder = file.version.startsWith('sha256:');

  async function* read(): AsyncGenerator<Uint8Array> {
    const stop = new AbortController();
    const unlink = follow(options.signal, stop);
    let isPlain = false;
    let hash: Hash | null = null;
    const chunks = decode(file, options, {
      signal: stop.signal,
      onPlain: () => {
        isPlain = true;
      },
    });
    try {
      for (;;) {
        const { done, value } = await chunks.next();
        if (done) break;
        // A plain file of a folder is named by this very digest, which opening it verifies: no need to compute it twice.
        if (!(isPlain && isFolder)) {
          hash ??= createHash('sha256');
          hash.update(value);
        }
        yield value;
      }
      digest =
        isPlain && isFolder
          ? file.version.slice('sha256:'.length)
          : (hash ?? createHash('sha256')).digest('hex');
    } finally {
      unlink();
      // First, since a step that waits for bytes would otherwise be let go only when they come.
      stop.abort();
      await chunks.return(undefined).catch(() => {});
    }
  }

  return {
    chunks: read(),
    digest: () => {
      if (digest === null) throw new Error('the digest is known only after the last chunk');
      return digest;
    },
  };
}

function decode(
  file: SourceFile,
  { source, clients, encoding, onStoredBytes, open }: ReadTextOptions,
  { signal, onPlain }: { readonly signal: AbortSignal; readonly onPlain: () => void },
): AsyncGenerator<Uint8Array> {
  const { uri } = file;
  let isCompressed = true;
  const bytes = open?.(file, signal) ?? openFile(file, { source, clients, signal });
  const stored = tell(bytes, onStoredBytes);
  const content = decompress(stored, {
    uri,
    limits: source.limits,
    onFormat: (format) => {
      isCompressed = format !== 'plain';
    },
  });
  return decodeText(content, {
    uri,
    encoding: source.encoding ?? encoding,
    onEncoding: ({ isUnchanged }) => {
      if (isUnchanged && !isCompressed) onPlain();
    },
  });
}

async function* tell(
  bytes: AsyncIterable<Uint8Array>,
  onStoredBytes?: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    onStoredBytes?.(chunk.length);
    yield chunk;
  }
}

/** Aborts `stop` when the signal aborts; gives back what ends that. */
function follow(signal: AbortSignal | undefined, stop: AbortController): () => void {
  if (signal === undefined) return () => {};
  const abort = (): void => stop.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}
