import type { Finding } from '../../../core/finding.ts';
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
import type { Diagnostic } from '../../../runs/diagnostic.ts';
import { findingsOf } from '../findings-of.ts';

const ABOUT = 'database';

/** Checks the version, durability, migrations and privileges of the database. */
export const database: Diagnostic = {
  name: ABOUT,
  async look({ config, db, databaseProblem }) {
    if (databaseProblem !== null) return findingsOf(ABOUT, databaseProblem);
    if (db === null)
      return [
        {
          status: 'ok',
          about: ABOUT,
          what: 'The embedded database does not exist yet; the first run creates it.',
        },
      ];
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
    return {
      status: 'ok',
      about: ABOUT,
      what: `Postgres ${version}${isEmbedded ? ', embedded: one process at a time' : ''}.`,
    };
  return {
    status: 'problem',
    about: ABOUT,
    what: `Postgres ${version} is too old.`,
    why: 'The tables and queries need version 15 or later.',
    fix: 'Move the database to a newer server (database.url).',
  };
}

function durabilityOf({ fsync, fullPageWrites }: ServerFacts): readonly Finding[] {
  const off = [...(fsync ? [] : ['fsync']), ...(fullPageWrites ? [] : ['full_page_writes'])];
  if (off.length === 0) return [];
  return [
    {
      status: 'warning',
      about: ABOUT,
      what: `${off.join(' and ')} is off.`,
      why: 'A power cut could then lose a claim, and its order could be posted twice.',
      fix: 'Set it to on in postgresql.conf. Only a test server may run without it.',
    },
  ];
}

function migrationsOf(pending: readonly string[], { mayCreate }: ServerFacts): readonly Finding[] {
  if (pending.length === 0) return [{ status: 'ok', about: ABOUT, what: 'All migrations are applied.' }];
  const list = `${pending.length === 1 ? 'A migration is' : `${pending.length} migrations are`} not applied yet: ${pending.join(', ')}.`;
  if (mayCreate)
    return [
      {
        status: 'warning',
        about: ABOUT,
        what: list,
        why: 'Commands that only read need them; a run applies them automatically.',
        fix: 'npx influencer-sync migrate',
      },
    ];
  return [
    {
      status: 'problem',
      about: ABOUT,
      what: `${list} This user may not create schemas.`,
      why: 'A run applies them first and would fail.',
      fix: 'Run `npx influencer-sync migrate` as the owner of the database, or GRANT CREATE ON DATABASE … TO this user.',
    },
  ];
}

function readerRightsOf(needless: readonly string[]): readonly Finding[] {
  if (needless.length === 0) return [];
  return [
    {
      status: 'warning',
      about: ABOUT,
      what: `bi_reader has the right ${needless.join(' and ')}, which it does not need.`,
      why: "Users of reports could fill the server's disk, and then no job could run.",
      fix: 'As the user that migrates:  npx influencer-sync migrate --roles',
    },
  ];
}

function roleRightsOf(lacked: readonly LackedRight[]): readonly Finding[] {
  return [...Map.groupBy(lacked, ({ role }) => role)].map(([role, rights]) => ({
    status: 'problem',
    about: ABOUT,
    what: `${role} lacks rights: ${rights.map(({ right }) => right).join(', ')}.`,
    why: 'A migration has added what this role needs, so its commands fail.',
    fix: 'As the user that migrates:  npx influencer-sync migrate --roles',
  }));
}

function rightsOf(missing: readonly string[]): readonly Finding[] {
  if (missing.length === 0) return [];
  const SHOWN = 5;
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : '';
  return [
    {
      status: 'problem',
      about: ABOUT,
      what: `This user lacks rights: ${missing.slice(0, SHOWN).join(', ')}${more}.`,
      why: 'A run reads and writes all of its tables.',
      fix: 'Grant them as the owner of the tables, or use the user that ran the migrations.',
    },
  ];
}
