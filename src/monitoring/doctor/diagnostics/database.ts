import { type Finding, findingsOf, ok, problem, warning } from '../../../core/finding.ts';
import { pendingMigrations } from '../../../db/migrate.ts';
import {
  inspectServer,
  type LackedRight,
  missingGrants,
  missingRoleGrants,
  needlessReaderRights,
  OLDEST_VERSION,
  type ServerFacts,
} from '../../../db/server/inspect-server.ts';
import type { Diagnostic } from '../../../runs/runnable-kind.ts';

/** Checks the version, durability, migrations and privileges of the database. */
export const database: Diagnostic = {
  name: 'database',
  async look({ config, db, databaseProblem }) {
    if (databaseProblem !== null) return findingsOf('database', databaseProblem);
    if (db === null) return [ok('The embedded database does not exist yet; the first run creates it.')];
    const isEmbedded = config.database.url === '';
    const server = await inspectServer(db);
    const findings = [versionOf(server, isEmbedded), ...(isEmbedded ? [] : durabilityOf(server))];
    // Without these privileges, the applied migrations cannot be read.
    const missing = rightsOf(await missingGrants(db));
    if (missing.length > 0) return [...findings, ...missing];
    if (!isEmbedded)
      findings.push(
        ...readerRightsOf(await needlessReaderRights(db)),
        ...roleRightsOf(await missingRoleGrants(db)),
      );
    return [...findings, ...migrationsOf(await pendingMigrations(db), server)];
  },
};

function versionOf({ version, versionNumber }: ServerFacts, isEmbedded: boolean): Finding {
  if (versionNumber >= OLDEST_VERSION)
    return ok(`Postgres ${version}${isEmbedded ? ', embedded: one process at a time' : ''}.`);
  return problem(
    `Postgres ${version} is too old.`,
    'The tables and queries need version 15 or later.',
    'Move the database to a newer server (database.url).',
  );
}

function durabilityOf({ fsync, fullPageWrites }: ServerFacts): readonly Finding[] {
  const off = [...(fsync ? [] : ['fsync']), ...(fullPageWrites ? [] : ['full_page_writes'])];
  if (off.length === 0) return [];
  const why = 'A power cut could then lose a claim, and its order could be posted twice.';
  const fix = 'Set it to on in postgresql.conf. Only a test server may run without it.';
  return [warning(`${off.join(' and ')} is off.`, why, fix)];
}

function migrationsOf(pending: readonly string[], { mayCreate }: ServerFacts): readonly Finding[] {
  if (pending.length === 0) return [ok('All migrations are applied.')];
  const list = `${pending.length === 1 ? 'A migration is' : `${pending.length} migrations are`} not applied yet: ${pending.join(', ')}.`;
  const automatic = 'Commands that only read need them; a run applies them automatically.';
  if (mayCreate) return [warning(list, automatic, 'npx influencer-sync migrate')];
  return [
    problem(
      `${list} This user may not create schemas.`,
      'A run applies them first and would fail.',
      'Run `npx influencer-sync migrate` as the owner of the database, or GRANT CREATE ON DATABASE … TO this user.',
    ),
  ];
}

const MIGRATE_ROLES = 'As the user that migrates:  npx influencer-sync migrate --roles';

function readerRightsOf(needless: readonly string[]): readonly Finding[] {
  if (needless.length === 0) return [];
  const what = `bi_reader has the right ${needless.join(' and ')}, which it does not need.`;
  return [
    warning(what, "Users of reports could fill the server's disk, and then no job could run.", MIGRATE_ROLES),
  ];
}

function roleRightsOf(lacked: readonly LackedRight[]): readonly Finding[] {
  const why = 'A migration has added what this role needs, so its commands fail.';
  return [...Map.groupBy(lacked, ({ role }) => role)].map(([role, rights]) =>
    problem(`${role} lacks rights: ${rights.map(({ right }) => right).join(', ')}.`, why, MIGRATE_ROLES),
  );
}

function rightsOf(missing: readonly string[]): readonly Finding[] {
  if (missing.length === 0) return [];
  const SHOWN = 5;
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : '';
  return [
    problem(
      `This user lacks rights: ${missing.slice(0, SHOWN).join(', ')}${more}.`,
      'A run reads and writes all of its tables.',
      'Grant them as the owner of the tables, or use the user that ran the migrations.',
    ),
  ];
}
