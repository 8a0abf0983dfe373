import { InvalidArgumentError } from 'commander';
import { UNIT_KINDS, type UnitKind } from '../../../model/work.ts';
import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from '../command.ts';

export type WorkOptions = ConfigOptions & {
  readonly concurrency: number;
  readonly only?: readonly UnitKind[];
};

export const workCommand: CommandDefinition = {
  name: 'work',
  define(command, act) {
    addConfigOptions(
      command.description(
        'do work of runs until stopped: read sources and post orders that runs on other machines hand out (work.engine: pg-boss)',
      ),
    )
      .option('--concurrency <number>', 'units of each kind at a time', parseCount, 1)
      .option('--only <kinds>', `only these, separated by commas: ${UNIT_KINDS.join(', ')}`, parseKinds);
    addExamples(command, [
      ['work', 'one more worker; start as many as you like, on any machine'],
      ['work --concurrency 4 --only read-source', 'read four sources at a time, and post nothing'],
      ['status', 'in another terminal: which workers there are, and what they do'],
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
    if (kind === undefined) throw new InvalidArgumentError(`It should be of ${UNIT_KINDS.join(', ')}.`);
    return kind;
  });
}
