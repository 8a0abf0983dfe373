import { CompiledQuery } from 'kysely';
import type { Database } from './connect.ts';

/** Rows for `copyInto`, as `TextRows` or `BinaryRows` writes them. */
export class CopyRows {
  readonly bytes: Buffer;

  /** Creates the parameter. @param bytes rows in the format that the statement names. */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/**
 * Executes `copy … from stdin` with these rows. Only for a server (`canCopy`): the embedded database does not read
 * from its client.
 */
export async function copyInto(db: Database, statement: string, rows: CopyRows): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement, [rows]));
}
