import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { fileName } from '../../core/text/file-name.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { acknowledgeChecks, expectDate } from '../../decisions/decide-checks.ts';
import { plural } from '../../render/text.ts';
import { judgeArrivals } from '../../reports/checks/judge-arrivals.ts';
import { listCheckedFiles, listExpectedDates, listFindings } from '../../reports/checks/read-checks.ts';
import { renderChecks, toFreshnessLine } from '../../reports/checks/render-checks.ts';
import type { AcknowledgeOptions, ChecksOptions, ExpectDateOptions } from '../commands/checks.ts';
import { findSource, openConfig, reading, withDatabase } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';
import { decidedHere } from '../terminal/read-operator.ts';
import { requireReason, usageError } from '../usage-error.ts';

/** Lists the results of all checks. The exit code is 0 in any case; a held file makes its run end with 3. */
export async function showChecks(output: Output, options: ChecksOptions): Promise<ExitCode> {
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
export async function acknowledge(
  output: Output,
  ids: readonly string[],
  options: AcknowledgeOptions,
): Promise<ExitCode> {
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

export async function expectDateOf(
  output: Output,
  date: { readonly day: string; readonly name: string },
  options: ExpectDateOptions,
): Promise<ExitCode> {
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
