import type pg from 'pg';
import { from } from 'pg-copy-streams';
import type { CopyRows } from '../copy-rows.ts';

/**
 * Executes `copy … from stdin` and sends it the rows. A module of its own, so that its package is loaded when needed.
 *
 * @returns their number.
 */
export async function copyIn(
  client: pg.PoolClient,
  text: string,
  { bytes }: CopyRows,
): Promise<number | null> {
  const stream = client.query(from(text));
  const { promise: isDone, resolve, reject } = Promise.withResolvers<void>();
  // It finishes when the server has stored the rows and is ready for the next statement.
  stream.on('finish', resolve);
  stream.on('error', reject);
  stream.end(bytes);
  await isDone;
  return stream.rowCount;
}
