import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tooLarge } from './decode/cap-size.ts';

/** A temporary file without a name. */
export type SpooledFile = AsyncDisposable & { readonly fd: number };

/**
 * Puts a stream into a temporary file that only this process can reach. Its name is removed before the first byte is written, so nothing
 * stays behind, not even after SIGKILL.
 */
export async function spool(
  bytes: AsyncIterable<Uint8Array>,
  { uri, maxBytes }: { readonly uri: string; readonly maxBytes: number },
): Promise<SpooledFile> {
  const folder = await mkdtemp(join(tmpdir(), 'influencer-sync-'));
  const file = await open(join(folder, 'spool'), 'wx+', 0o600).finally(() =>
    rm(folder, { recursive: true, force: true }),
  );
  try {
    let total = 0;
    for await (const chunk of bytes) {
      total += chunk.length;
      if (total > maxBytes) throw tooLarge(uri, maxBytes);
      await file.writeFile(chunk);
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return { fd: file.fd, [Symbol.asyncDispose]: () => file.close() };
}
