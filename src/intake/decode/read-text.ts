import { createHash, type Hash } from 'node:crypto';
import type { SourceSettings } from '../../config/source-fields.ts';
import type { SourceFile } from '../../core/source.ts';
import type { SourceClients } from '../../store/source-clients.ts';
import { decodeText } from './decode-text.ts';
import { decompress } from './decompress.ts';
import { openFile } from './open-file.ts';
import type { OpenStored } from './read-ahead.ts';

export type ReadTextOptions = {
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  /** Opens the stored bytes. If omitted, `openFile` reads them. */
  readonly open?: OpenStored | undefined;
  /** The layout's encoding. The encoding of the source takes precedence. */
  readonly encoding: string;
  readonly signal?: AbortSignal;
  /** Called with the number of stored bytes as they arrive, to show progress against `sizeBytes`. */
  readonly onStoredBytes?: (count: number) => void;
};

export type TextRead = {
  /** Valid UTF-8 without a byte order mark. Can be read once. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /**
   * SHA-256 of all chunks in hex. It is the same for the same text with another name, compression or
   * encoding. Available only after the last chunk.
   */
  readonly digest: () => string;
};

/**
 * Reads the text of a file: open, decompress, decode. However the reading of `chunks` ends, all sockets and
 * files are closed.
 *
 * @throws FileHeld while the chunks are read, possibly after the last one. The content is valid only if the
 * iteration ends without an error.
 * @throws KnownError if the whole source cannot be read.
 */
export function readText(file: SourceFile, options: ReadTextOptions): TextRead {
  let digest: string | null = null;
  const isFolder = file.version.startsWith('sha256:');

  async function* read(): AsyncGenerator<Uint8Array> {
    const stop = new AbortController();
    const unlink = follow(options.signal, stop);
    let isPlain = false;
    let isAtEnd = false;
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
        if (done) {
          isAtEnd = true;
          break;
        }
        // The version of an uncompressed local file is this digest, and opening it verifies it, so it need
        // not be computed twice.
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
      // Abort first. Otherwise a step that waits for bytes would be released only when they arrive. At the end
      // of the file, no step waits.
      if (!isAtEnd) stop.abort();
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
  { signal, onPlain }: { signal: AbortSignal; onPlain: () => void },
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

/** Aborts `stop` when the signal aborts. Returns a function that removes the listener. */
function follow(signal: AbortSignal | undefined, stop: AbortController): () => void {
  if (signal === undefined) return () => {};
  const abort = (): void => stop.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}
