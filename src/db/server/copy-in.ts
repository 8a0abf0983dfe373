import type pg from 'pg';
import { from } from 'pg-copy-streams';
import type { CopyRows } from '../copy-rows.ts';

/** Executes `copy … from stdin` and sends it the rows. */
export async function copyIn(
  client: pg.PoolClient,
  text: string,
  { bytes }: CopyRows,
): Promise<Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>> {
  const stream = client.query(from(text));
  const { promise: isDone, resolve, reject } = Promise.withResolvers<void>();
  // It finishes when the server has stored the rows and is ready for the next statement.
  stream.on('finish', resolve);
  stream.on('error', reject);
  stream.end(bytes);
  await isDone;
  return { command: 'COPY', rowCount: stream.rowCount, rows: [] };
}
