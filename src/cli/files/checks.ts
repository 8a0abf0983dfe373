import { refusal } from '../../core/known-error.ts';
import { fileName } from '../../core/text/file-name.ts';
import { plural } from '../../render/text.ts';
import { defineCommand, parseDay, parseId } from '../command.ts';
import { usageError } from '../usage-error.ts';

const acknowledgeCommand = defineCommand({
  name: 'acknowledge',
  decides: { says: 'why', kept: 'with the finding' },
  description: 'confirm that an unusual file is correct; if it is held, the next run reads it',
  takes: [
    [
      '<id...>',
      'numbers of the findings, as `checks` lists them',
      (text: string, before: string[] = []) => [...before, parseId(text)],
    ],
  ],
  examples: [["checks acknowledge 12 13 --reason 'a campaign'", 'confirm two findings']],
  async action({ output, open }, { id: ids, reason }) {
    const { acknowledgeChecks } = await import('../../decisions/decide-checks.ts');
    const { decide } = await open();
    const { findings, released, stillHeldBy } = await decide((trx, here) =>
      acknowledgeChecks(trx, { findingIds: ids, reason, ...here }),
    );
    if (findings.length === 0)
      throw refusal({
        code: 'finding_not_found',
        message: `No open finding has the number ${ids.join(' or ')}.`,
        help: 'npx influencer-sync checks lists them.',
      });
    for (const { findingId, check, source, uri, message } of findings) {
      output.emit({ event: 'check_acknowledged', findingId, check, source, uri, message, reason });
      output.print(`Acknowledged: ${fileName(uri)} (source ${source}): ${message}`);
    }
    if (released > 0) output.print(`The next run reads ${plural(released, 'held file')}.`);
    if (stillHeldBy.length > 0)
      output.print(
        `The file is still held. Acknowledge ${stillHeldBy.join(' ')} too: npx influencer-sync checks acknowledge ${stillHeldBy.join(' ')} --reason '…'`,
      );
  },
});

const expectDateCommand = defineCommand({
  name: 'expect-date',
  changes: true,
  description:
    'expect unusual numbers of orders on a date: counts, codes and statuses in files of that day and the next are neither checked nor learnt from',
  takes: [
    ['<date>', 'YYYY-MM-DD', parseDay],
    ['<name>', 'why, for example "Black Friday"'],
    ['--source <name>', 'one source only (default: all)'],
  ],
  examples: [['checks expect-date 2026-11-27 "Black Friday"', 'for all sources']],
  async action({ output, open }, { date: day, name: why, source = null }) {
    const { findSource } = await import('../open/open-config.ts');
    const { expectDate } = await import('../../decisions/decide-checks.ts');
    const { config, decide } = await open();
    const name = why.trim();
    if (name === '') throw usageError('You must name the date.', 'Say why, for example "Black Friday".');
    if (source !== null) findSource(config, source);
    await decide((trx, here) => expectDate(trx, { day, name, source, ...here }));
    output.emit({ event: 'expected_date', day, name, source });
    output.print(
      `${day} is expected: ${name}. Counts, codes and statuses in files of this date and the next one are neither checked nor learnt from; all other checks still apply.`,
    );
  },
});

export const checksCommand = defineCommand({
  name: 'checks',
  summary: "list the checks of each source's files, and what they found",
  description: 'list the checks of the files of each source, and what they found',
  takes: [['--source <name>', 'one source only']],
  examples: [
    ['checks', 'the latest file of each source, check by check'],
    ['checks --json | jq \'select(.event == "check_finding")\'', 'for a program'],
    ["checks acknowledge 12 --reason 'a campaign'", 'the unusual file is correct'],
    ['checks expect-date 2026-11-27 "Black Friday"', 'a date on which you sell more than usual'],
  ],
  /** Lists the results of all checks. The exit code is 0 in any case; a held file makes its run end with 3. */
  async action({ output, open }, { source }) {
    const { findSource } = await import('../open/open-config.ts');
    const { judgeArrivals } = await import('../../reports/checks/read-checks.ts');
    const { listCheckedFiles, listExpectedDates, listFindings } = await import(
      '../../reports/checks/read-checks.ts'
    );
    const { describeChecks, toFreshnessLine } = await import('../../reports/checks/render-checks.ts');
    const { config, read } = await open();
    const sources = source === undefined ? Object.values(config.sources) : [findSource(config, source)];
    const names = sources.map(({ name }) => name);
    const shown = await read(async (db) => ({
      files: await listCheckedFiles(db, names),
      findings: await listFindings(db, { sources: names }),
      expectedDates: await listExpectedDates(db),
      freshness: (await judgeArrivals(db, { sources, now: new Date() })).map(toFreshnessLine),
    }));
    for (const { results, ...file } of shown.files)
      for (const result of results) output.emit({ event: 'check', ...file, ...result });
    for (const line of shown.freshness) output.emit({ event: 'check', check: 'freshness', ...line });
    for (const date of shown.expectedDates) output.emit({ event: 'expected_date', ...date });
    for (const finding of shown.findings) output.emit({ event: 'check_finding', ...finding });
    output.show(describeChecks(shown));
  },
  commands: [acknowledgeCommand, expectDateCommand],
});
