import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { FileHeld } from '../model/file-held.ts';
import type { SourceFile } from '../model/source.ts';
import { changedWhileReading, fileGone } from './changed-while-reading.ts';
import { fileUnavailable } from './file-unavailable.ts';
import { codeOf, explainUnreadable, OUTSIDE, READ_BYTES } from './list-folder-files.ts';
import { pathOfFileUri } from './parse-source-uri.ts';

/** Reads a file of a folder. Whether it was the listed version shows at the end, so nothing may be sealed before. */
export async function* openFolderFile(
  file: SourceFile,
  { signal }: { readonly signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const path = pathOfFileUri(file.uri);
  if (file.version === OUTSIDE) throw leadsOutside(file);
  const hash = createHash('sha256');
  const stream = createReadStream(path, { highWaterMark: READ_BYTES, ...(signal ? { signal } : {}) });
  try {
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      hash.update(bytes);
      yield bytes;
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') throw fileGone(file, error);
    const known = explainUnreadable(error, path);
    throw known === null ? error : fileUnavailable(file, known);
  } finally {
    stream.destroy();
  }
  if (`sha256:${hash.digest('hex')}` !== file.version) throw changedWhileReading(file);
}

function leadsOutside({ uri }: SourceFile): FileHeld {
  return new FileHeld({
    code: 'link_outside',
    message: `${uri} is a link that leads out of the source's folder, so it is not read.`,
    help: 'Put the files themselves there. Or, if everybody who can write to the folder may let the job read them, set follow_links: true on the source.',
  });
}
