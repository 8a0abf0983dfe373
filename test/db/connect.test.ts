import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';
import { makeTestFolder } from '../support/setup.ts';

it('the embedded database releases its folder when it is closed, even if it was never queried', async () => {
  const folder = makeTestFolder();
  await layEmbeddedDatabase(folder);
  const db = await connect({ url: '', embeddedFolder: folder });
  expect(existsSync(join(folder, 'lock.pid'))).toBe(true);
  await db.destroy();
  expect(existsSync(join(folder, 'lock.pid'))).toBe(false);
});
