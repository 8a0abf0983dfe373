/** `npm run schema`: writes what follows from `sql/migrations/`, the dumped schema and the types of the tables. */
import { writeFileSync } from 'node:fs';
import { dumpSchema, generateTableTypes, SCHEMA_FILE, TABLES_FILE } from './generated-files.ts';
import { startPostgresServer } from './postgres-server.ts';
import { createTestDatabase, prepareDatabases } from './test-database.ts';

writeFileSync(SCHEMA_FILE, await dumpSchema());
const server = await startPostgresServer();
try {
  const { databases, drop } = await prepareDatabases(server.url);
  const { url } = await createTestDatabase(databases);
  writeFileSync(TABLES_FILE, await generateTableTypes(url));
  await drop();
} finally {
  await server.stop();
}
