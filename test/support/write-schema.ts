/**
 * `npm run schema`: writes the files generated from `sql/migrations/` and `sql/views/`: the dumped schema,
 * the types of the tables, the data dictionary and its picture. Also writes the page of errors, from
 * the code.
 */
import { writeFileSync } from 'node:fs';
import { connect } from '../../src/db/connect.ts';
import { DATA_MODEL_FILE, DICTIONARY_FILE, describeViews } from './data-dictionary.ts';
import { describeErrors, TROUBLESHOOTING_FILE } from './error-reference.ts';
import { dumpSchema, generateTableTypes, SCHEMA_FILE, TABLES_FILE } from './generated-files.ts';
import { startPostgresServer } from './postgres-server.ts';
import { createTestDatabase, prepareDatabases } from './test-database.ts';

writeFileSync(TROUBLESHOOTING_FILE, describeErrors());
writeFileSync(SCHEMA_FILE, await dumpSchema());
const server = await startPostgresServer();
try {
  const { databases, drop } = await prepareDatabases(server.url, 'wal_log');
  const { url } = await createTestDatabase(databases);
  writeFileSync(TABLES_FILE, await generateTableTypes(url));
  const db = await connect({ url, embeddedFolder: '' });
  const { dictionary, picture } = await describeViews(db);
  writeFileSync(DICTIONARY_FILE, dictionary);
  writeFileSync(DATA_MODEL_FILE, picture);
  await db.destroy();
  await drop();
} finally {
  await server.stop();
}
