import { InvalidArgumentError } from 'commander';
import { UNIT_KINDS, type UnitKind } from '../../../core/work.ts';
import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from '../../command.ts';

export type WorkOptions = ConfigOptions & {
  readonly concurrency: number;
  readonly only?: readonly UnitKind[];
};

export const workCommand: CommandDefinition = {
  name: 'work',
  define(command, act) {
    addConfigOptions(
      command.description(
        'do work for runs on other machines until stopped: read sources, post orders, submit customers and mirror deals (needs work.engine: pg-boss)',
      ),
    )
      .option('--concurrency <number>', 'number of units of each kind to do at a time', parseCount, 1)
      .option(
        '--only <kinds>',
        `only these kinds of units, separated by commas: ${UNIT_KINDS.join(', ')}`,
        parseKinds,
      );
    addExamples(command, [
      ['work', 'one more worker; start as many as you like, on any machine'],
      ['work --concurrency 4 --only read-source', 'read four sources at a time, and post nothing'],
      ['status', 'in another terminal: the workers, and what they are doing'],
    ]);
    command.action(
      act(async (output, options: WorkOptions) =>
        (await import('../../actions/perform-work.ts')).performWork(output, options),
      ),
    );
  },
};

function parseKinds(text: string): readonly UnitKind[] {
  return text.split(',').map((word) => {
    const kind = UNIT_KINDS.find((candidate) => candidate === word.trim());
    if (kind === undefined) throw new InvalidArgumentError(`It should be one of ${UNIT_KINDS.join(', ')}.`);
    return kind;
  });
}
