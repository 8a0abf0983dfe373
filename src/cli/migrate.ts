import { EXIT } from '../model/exit-code.ts';
import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from './command.ts';

export const migrateCommand: CommandDefinition = {
  name: 'migrate',
  define(command, act) {
    addConfigOptions(command.description('create the tables of the database, or bring them up to date'));
    addExamples(command, [
      ['migrate', 'the database of config/pipeline.yaml'],
      ['migrate --config /etc/sync/pipeline.yaml', 'another configuration'],
    ]);
    command.action(
      act(async (output, options: ConfigOptions) => {
        const { openConfig, withDatabase } = await import('./open-config.ts');
        const { migrate } = await import('../db/migrate.ts');
        const applied = await withDatabase(openConfig(options), migrate, { migrated: false });
        output.emit({ event: 'migrated', applied });
        output.print(
          applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`,
        );
        return EXIT.ok;
      }),
    );
  },
};
