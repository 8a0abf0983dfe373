import { inTransaction } from '../../db/in-transaction.ts';
import { type Closing, closeStatement, verifyStatements } from '../../earnings/close-statement.ts';
import { readStatement } from '../../earnings/read-statement.ts';
import type { Statement } from '../../earnings/statement.ts';
import { EXIT, type ExitCode } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import { loadStatementRules } from '../../pipeline/statements/load-rules.ts';
import { renderBlocks } from '../../present/blocks/render-blocks.ts';
import { renderBlocksPage } from '../../present/html/report-page.ts';
import { describeStatement, renderStatementCsv } from '../../present/statement.ts';
import { formatInstant, plural } from '../../present/text.ts';
import { type ConfigOptions, configOption } from '../commands/command.ts';
import type { CloseOptions, StatementOptions } from '../commands/statement.ts';
import { openConfig, withDatabase } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';
import { decidedHere } from '../terminal/read-operator.ts';
import { requireReason } from '../usage-error.ts';

/** Prints a statement: closed, or as closing would write it now. @throws KnownError about the terms. */
export async function showStatement(output: Output, options: StatementOptions): Promise<ExitCode> {
  const config = openConfig(options);
  const rules = loadStatementRules(config.statements);
  const month = options.month ?? monthBefore(new Date(), rules.timeZone);
  const whole = await withDatabase(config, (db) => readStatement(db, { month, rules }));
  const statement = narrow(whole, options);
  for (const line of statement.lines) output.emit({ event: 'statement_line', month, ...line });
  for (const orders of statement.uncounted) output.emit({ event: 'statement_uncounted', month, ...orders });
  const { closed } = statement;
  output.emit({
    event: 'statement',
    month,
    closed: closed === null ? null : { by: closed.by, at: closed.at, hash: closed.hash },
    lines: statement.lines.length,
  });
  const blocks = describeStatement(statement, {
    showsLines: options.deal !== undefined || options.format === 'html',
    configOption: configOption(options),
  });
  if (options.format === 'csv') output.print(renderStatementCsv(statement));
  else if (options.format === 'html')
    output.print(renderBlocksPage(blocks, { title: `Statement of ${month}`, madeAt: new Date() }));
  else output.print(renderBlocks(blocks, output.terminal));
  return EXIT.ok;
}

/** Closes a month and writes down who did. @throws KnownError `statement_not_closed` (exit 2) where that is not possible. */
export async function performClosing(output: Output, options: CloseOptions): Promise<ExitCode> {
  const config = openConfig(options);
  const { month } = options;
  const reason = requireReason(options.reason, {
    message: 'You must give a reason.',
    kept: 'with the statement',
  });
  const rules = loadStatementRules(config.statements);
  const closing = await withDatabase(config, (db) =>
    inTransaction(db, async (trx) => {
      const { decidedBy, audit } = decidedHere(trx);
      const closed = await closeStatement(trx, { month, rules, closedBy: decidedBy, reason });
      if (closed.kind === 'closed')
        await audit({
          action: 'close_statement',
          subjectKind: 'statement',
          subject: month,
          summary: `The statement of ${month} is closed: ${plural(closed.lines, 'line')}.`,
          reason,
          after: { lines: closed.lines, hash: closed.hash },
        });
      return closed;
    }),
  );
  if (closing.kind !== 'closed') throw notClosed(month, closing);
  output.emit({ event: 'statement_closed', month, lines: closing.lines, hash: closing.hash });
  output.print(
    `The statement of ${month} is closed: ${plural(closing.lines, 'line')}, SHA-256 ${closing.hash}. What changes later is a correction in the next one.`,
  );
  return EXIT.ok;
}

/** @returns 3 where a closed statement is not as it was closed. */
export async function performVerifying(output: Output, options: ConfigOptions): Promise<ExitCode> {
  const config = openConfig(options);
  const { statements, broken } = await withDatabase(config, verifyStatements);
  output.emit({ event: 'statements_verified', statements, broken });
  if (broken.length === 0) {
    output.print(
      statements === 0
        ? 'No statement is closed yet.'
        : `${plural(statements, 'closed statement')}: each is as it was closed.`,
    );
    return EXIT.ok;
  }
  output.print(
    `Not as closed: ${broken.map(({ month }) => month).join(', ')}. Somebody changed the rows in spite of the trigger, or a statement before them. Compare with the files that you sent out.`,
  );
  return EXIT.rowsRejected;
}

function narrow(statement: Statement, { brand, deal }: StatementOptions): Statement {
  return {
    ...statement,
    lines: statement.lines.filter(
      ({ brandId, dealId }) => (brand ?? brandId) === brandId && (deal ?? dealId) === dealId,
    ),
    uncounted: statement.uncounted.filter(({ dealId }) => (deal ?? dealId) === dealId),
  };
}

/** The last month that is over by the clocks of a zone. */
function monthBefore(now: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' }).format(now);
  const [year = 0, month = 0] = parts.split('-').map(Number);
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7);
}

function notClosed(month: string, closing: Exclude<Closing, { readonly kind: 'closed' }>): KnownError {
  return new KnownError({
    code: 'statement_not_closed',
    where: month,
    ...whyNot(month, closing),
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}

function whyNot(
  month: string,
  closing: Exclude<Closing, { readonly kind: 'closed' }>,
): { readonly message: string; readonly help: string } {
  switch (closing.kind) {
    case 'closed_already':
      return {
        message: `The statement of ${month} was closed by ${closing.by} at ${formatInstant(closing.at)} UTC.`,
        help: `See it with:  npx influencer-sync statement --month ${month}\nWhat has changed since is in the statement of the next month.`,
      };
    case 'later_is_closed':
      return {
        message: `The statement of ${closing.month} is closed, and it holds what ${month} would.`,
        help: 'Close the month after it: whatever is new is there.',
      };
    case 'month_not_over':
      return {
        message: `${month} is not over.`,
        help: `See how it stands with:  npx influencer-sync statement --month ${month}`,
      };
  }
}
