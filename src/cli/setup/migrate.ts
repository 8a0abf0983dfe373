import { defineCommand } from '../command.ts';

export const migrateCommand = defineCommand({
  name: 'migrate',
  changes: true,
  description: 'create or update the tables and views of the database',
  takes: [
    [
      '--roles',
      'also create the roles bi_reader (for analysts) and influencer_sync_app (for jobs), on a server',
    ],
  ],
  examples: [
    ['migrate', 'the database of the nearest pipeline.yaml'],
    ['migrate --config /etc/sync/pipeline.yaml', 'another configuration'],
    ['migrate --roles', 'also the roles, or their rights after an upgrade'],
  ],
  async action({ output }, options) {
    const { isNewEmbedded, openConfig, withDatabase } = await import('../open/open-config.ts');
    const { createRoles, rolesNeedAServer } = await import('../../db/create-roles.ts');
    const { migrate, pendingMigrations } = await import('../../db/migrate.ts');
    const { makeQueues } = await import('../open/open-workers.ts');
    const config = await openConfig(options);
    const withRoles = options.roles === true;
    if (withRoles && config.database.url === '') throw rolesNeedAServer();
    if (options.dryRun === true) {
      if (isNewEmbedded(config)) {
        output.print('Would create the embedded database, with its tables. Nothing was changed.');
        return;
      }
      const pending = await withDatabase(config, pendingMigrations, { migrated: false });
      output.emit({ event: 'dry_run', pending, roles: withRoles });
      const would = [
        ...(pending.length === 0 ? [] : [`apply ${sayMigrations(pending)}`]),
        ...(withRoles ? ['create the roles, or correct their rights'] : []),
      ];
      output.print(would.length === 0 ? UP_TO_DATE : `Would ${would.join(', and ')}. Nothing was changed.`);
      return;
    }
    const applied = await withDatabase(
      config,
      async (db) => {
        const names = await migrate(db);
        await makeQueues(db, config);
        if (withRoles) await createRoles(db);
        return names;
      },
      { migrated: false },
    );
    output.emit({ event: 'migrated', applied, roles: withRoles });
    output.print(applied.length === 0 ? UP_TO_DATE : `Applied ${sayMigrations(applied)}.`);
    if (withRoles) output.print(ROLES);
  },
});

const UP_TO_DATE = 'The database is up to date.';

/** Migrations in a few words: their number, and which is the last one. */
function sayMigrations(names: readonly string[]): string {
  return names.length === 1
    ? `migration ${names[0]}`
    : `${names.length} migrations, from ${names[0]} to ${names.at(-1)}`;
}

const ROLES = `bi_reader reads the views of schema bi; influencer_sync_app runs jobs;
influencer_sync_operator settles doubts, files, checks and paused jobs, and cannot see customers.
If they have no passwords, set them with psql:
  \\password bi_reader
  \\password influencer_sync_app
  \\password influencer_sync_operator`;
