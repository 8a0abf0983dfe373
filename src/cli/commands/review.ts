import { Option } from 'commander';
import { EXIT } from '../../model/exit-code.ts';
import type { ReviewOptions } from '../actions/review-doubt.ts';
import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  configOption,
  parseId,
} from './command.ts';

type Options = ConfigOptions & ReviewOptions & { readonly job?: string };

export const reviewCommand: CommandDefinition = {
  name: 'review',
  define(command, act) {
    addConfigOptions(
      command.description('list orders in doubt, with what is known about each; or settle one'),
    )
      .argument('[entry]', 'number of the entry to settle', parseId)
      .option('--job <name>', 'doubts of one job only')
      .addOption(
        new Option('--accepted', 'the service shows the order: it was credited').conflicts([
          'writeOff',
          'resend',
        ]),
      )
      .addOption(
        new Option('--write-off', 'give it up: it is never sent again').conflicts(['accepted', 'resend']),
      )
      .addOption(
        new Option('--resend', 'the service does not show the order: send it again').conflicts([
          'accepted',
          'writeOff',
        ]),
      )
      .addOption(
        new Option('--acknowledge', 'for a double credit: you corrected it in the service').conflicts([
          'accepted',
          'writeOff',
          'resend',
        ]),
      )
      .option('--reason <text>', 'why; kept with the decision')
      .option('--deal <id>', 'with --accepted: the deal that was credited')
      .option('--collab <id>', 'with --accepted: the collaboration that was credited')
      .option('--yes', 'with --resend: do not ask');
    addExamples(command, [
      ['review', 'orders in doubt'],
      ["review 17 --accepted --reason 'listed under its sales'", 'the service shows the order'],
      ["review 17 --resend --reason 'not listed after two days'", 'it does not'],
    ]);
    command.action(
      act(async (output, entry: string | undefined, options: Options) => {
        const { openConfig, withDatabase } = await import('../open/open-config.ts');
        const { reviewDoubt } = await import('../actions/review-doubt.ts');
        const { listDoubts } = await import('../../report/list-doubts.ts');
        const { listDoubleCredits } = await import('../../report/list-doubts.ts');
        const { renderDoubts } = await import('../../present/doubts.ts');
        const config = openConfig(options);
        return withDatabase(config, async (db) => {
          if (entry !== undefined) return reviewDoubt({ db, output, entryId: entry, options });
          const doubts = await listDoubts(db, options.job === undefined ? {} : { job: options.job });
          for (const doubt of doubts) output.emit({ event: 'doubt', ...doubt });
          const doubleCredits = await listDoubleCredits(db, { job: options.job ?? null });
          for (const credit of doubleCredits) output.emit({ event: 'double_credit', ...credit });
          const shown = { doubts, doubleCredits, configOption: configOption(options) };
          output.print(renderDoubts(shown, output.terminal));
          return doubts.length + doubleCredits.length === 0 ? EXIT.ok : EXIT.doubts;
        });
      }),
    );
  },
};
