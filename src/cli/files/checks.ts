import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { fileName } from '../../core/text/file-name.ts';
import { plural } from '../../render/text.ts';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseDay,
  parseId,
} from '../command.ts';
import type { Output } from '../terminal/output.ts';
import { requireReason, usageError } from '../usage-error.ts';

type ChecksOptions = ConfigOptions & { readonly source?: string };
type AcknowledgeOptions = ConfigOptions & { readonly reason: string };
type ExpectDateOptions = ConfigOptions & { readonly source?: string };

export const checksCommand: CommandDefinition = {
  name: 'checks',
  define(command, act) {
    addConfigOptions(command.description('list the checks of the files of each source, and what they found'))
      .option('--source <name>', 'one source only')
      .action(act(showChecks));
    addExamples(command, [
      ['checks', 'the latest file of each source, check by check'],
      ['checks --json | jq \'select(.event == "check_finding")\'', 'for a program'],
      ["checks acknowledge 12 --reason 'a campaign'", 'the unusual file is correct'],
      ['checks expect-date 2026-11-27 "Black Friday"', 'a date on which you sell more than usual'],
    ]);
    defineDecisions(command, act);
  },
};

function defineDecisions(command: Command, act: Act): void {
  const acknowledge = addConfigOptions(
    command
      .command('acknowledge')
      .description('confirm that an unusual file is correct; if it is held, the next run reads it'),
  )
    .argument(
      '<id...>',
      'numbers of the findings, as `checks` lists them',
      (text: string, before: string[] = []) => [...before, parseId(text)],
    )
    .requiredOption('--reason <text>', 'why; kept with the finding')
    .action(act(acknowledgeFindings));
  addExamples(acknowledge, [["checks acknowledge 12 13 --reason 'a campaign'", 'confirm two findings']]);
  const expectDate = addConfigOptions(
    command
      .command('expect-date')
      .description(
        'expect unusual numbers of orders on a date: counts, codes and statuses in files of that day and the next are neither checked nor learnt from',
      ),
  )
    .argument('<date>', 'YYYY-MM-DD', parseDay)
    .argument('<name>', 'why, for example "Black Friday"')
    .option('--source <name>', 'one source only (default: all)')
    .action(
      act(async (output, day: string, name: string, options: ExpectDateOptions) =>
        expectDateOf(output, { day, name }, options),
      ),
    );
  addExamples(expectDate, [['checks expect-date 2026-11-27 "Black Friday"', 'for all sources']]);
}

/** Lists the results of all checks. The exit code is 0 in any case; a held file makes its run end with 3. */
async function showChecks(output: Output, options: ChecksOptions): Promise<ExitCode> {
  const { findSource, openConfig, reading, withDatabase } = await import('../open/open-config.ts');
  const { judgeArrivals } = await import('../../reports/checks/judge-arrivals.ts');
  const { listCheckedFiles, listExpectedDates, listFindings } = await import(
    '../../reports/checks/read-checks.ts'
  );
  const { renderChecks, toFreshnessLine } = await import('../../reports/checks/render-checks.ts');
  const config = await openConfig(options);
  const { source } = options;
  if (source !== undefined) findSource(config, source);
  return withDatabase(
    config,
    async (db) => {
      const sources = Object.values(config.sources).filter(
        ({ name }) => source === undefined || name === source,
      );
      const names = sources.map(({ name }) => name);
      const files = await listCheckedFiles(db, names);
      const findings = await listFindings(db, { sources: names });
      const expectedDates = await listExpectedDates(db);
      const freshness = (await judgeArrivals(db, { sources, now: new Date() })).map(toFreshnessLine);
      for (const { results, ...file } of files)
        for (const result of results) output.emit({ event: 'check', ...file, ...result });
      for (const line of freshness) output.emit({ event: 'check', check: 'freshness', ...line });
      for (const date of expectedDates) output.emit({ event: 'expected_date', ...date });
      for (const finding of findings) output.emit({ event: 'check_finding', ...finding });
      const shown = { files, freshness, findings, expectedDates };
      output.print(renderChecks(shown, output.terminal));
      return EXIT.ok;
    },
    reading(output),
  );
}

/**
 * Acknowledges findings.
 * @throws KnownError (exit 2) if none of the findings is open.
 */
async function acknowledgeFindings(
  output: Output,
  ids: readonly string[],
  options: AcknowledgeOptions,
): Promise<ExitCode> {
  const { openConfig, withDatabase } = await import('../open/open-config.ts');
  const { decidedHere } = await import('../terminal/read-operator.ts');
  const { inTransaction } = await import('../../db/in-transaction.ts');
  const { acknowledgeChecks } = await import('../../decisions/decide-checks.ts');
  const config = await openConfig(options);
  const reason = requireReason(options.reason, {
    message: 'You must give a reason to acknowledge a finding.',
    kept: 'with the finding',
  });
  return withDatabase(config, async (db) => {
    const { findings, released, stillHeldBy } = await inTransaction(db, (trx) =>
      acknowledgeChecks(trx, { findingIds: ids, reason, ...decidedHere(trx) }),
    );
    if (findings.length === 0) throw noSuchFinding(ids);
    for (const { findingId, check, source, uri, message } of findings) {
      output.emit({ event: 'check_acknowledged', findingId, check, source, uri, message, reason });
      output.print(`Acknowledged: ${fileName(uri)} (source ${source}): ${message}`);
    }
    if (released > 0) output.print(`The next run reads ${plural(released, 'held file')}.`);
    if (stillHeldBy.length > 0)
      output.print(
        `The file is still held. Acknowledge ${stillHeldBy.join(' ')} too: npx influencer-sync checks acknowledge ${stillHeldBy.join(' ')} --reason '…'`,
      );
    return EXIT.ok;
  });
}

async function expectDateOf(
  output: Output,
  date: { readonly day: string; readonly name: string },
  options: ExpectDateOptions,
): Promise<ExitCode> {
  const { findSource, openConfig, withDatabase } = await import('../open/open-config.ts');
  const { decidedHere } = await import('../terminal/read-operator.ts');
  const { inTransaction } = await import('../../db/in-transaction.ts');
  const { expectDate } = await import('../../decisions/decide-checks.ts');
  const config = await openConfig(options);
  const name = date.name.trim();
  const { day } = date;
  if (name === '') throw usageError('You must name the date.', 'Say why, for example "Black Friday".');
  const { source = null } = options;
  if (source !== null) findSource(config, source);
  return withDatabase(config, async (db) => {
    await inTransaction(db, (trx) => expectDate(trx, { day, name, source, ...decidedHere(trx) }));
    output.emit({ event: 'expected_date', day, name, source });
    output.print(
      `${day} is expected: ${name}. Counts, codes and statuses in files of this date and the next one are neither checked nor learnt from; all other checks still apply.`,
    );
    return EXIT.ok;
  });
}

function noSuchFinding(ids: readonly string[]): KnownError {
  return new KnownError({
    code: 'finding_not_found',
    message: `No open finding has the number ${ids.join(' or ')}.`,
    help: 'npx influencer-sync checks lists them.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}
