import { EXIT } from '../../core/exit-code.ts';
import { type KnownError, refusal } from '../../core/known-error.ts';
import { formatAmounts } from '../../core/money.ts';
import { LANGUAGES } from '../../core/text/language.ts';
import { shellWord } from '../../core/text/printable.ts';
import { monthBefore } from '../../core/time/month.ts';
import { say } from '../../render/block.ts';
import { plural } from '../../render/text.ts';
import type { DocumentOf } from '../../reports/money/creator-statement.ts';
import { defineCommand, parseCount, parseMonth } from '../command.ts';
import type { openCommand } from '../open/open-command.ts';
import type { Output } from '../terminal/output.ts';
import { requireReason, usageError } from '../usage-error.ts';

const SHOWN_ORDERS = 50;
const STATEMENT_FORMATS = ['table', 'csv', 'html', 'pdf'] as const;

const closeCommand = defineCommand({
  name: 'close',
  decides: { says: 'why', kept: 'with the statement' },
  description: 'freeze a month: later changes are corrections in the next statement',
  requires: [['--month <month>', 'such as 2026-10', parseMonth]],
  /** Closes a month, and says what is not in its statement: orders that are unknown, pending or not credited yet. */
  async action({ output, open }, { month, reason, dryRun }) {
    const { closeMonth, whyNotClosed } = await import('../../decisions/close-month.ts');
    const { keepEarnings } = await import('../../money/kept-earnings.ts');
    const { loadExchange, loadStatementRules } = await import('../../money/load-rules.ts');
    const { sumStatement } = await import('../../money/sum-statement.ts');
    const { describeHeldOrders } = await import('../../reports/held/describe-held-orders.ts');
    const { listHeldGroups } = await import('../../reports/held/held-orders.ts');
    const { listWaitingOrders } = await import('../../reports/list-orders.ts');
    const { describeLeftOut, describeWaiting } = await import('../../reports/money/statement.ts');
    const { config, read, change, decide } = await open();
    const rules = loadStatementRules(config.statements);
    const exchange = loadExchange(config.statements);
    // A closed statement no longer says what it left out.
    const left = await read((db) => sumStatement(db, { month, rules, limit: SHOWN_DEALS }));
    const groups = await read((db) => listHeldGroups(db, { isDecided: false }));
    const waiting = await read((db) => listWaitingOrders(db, { month, rules, limit: SHOWN_WAITING }));
    const closing = await decide((trx, here) => closeMonth(trx, { month, rules, exchange, reason, ...here }));
    if (closing.kind !== 'closed')
      throw refusal({ code: 'statement_not_closed', where: month, ...whyNotClosed(month, closing) });
    const { lines, hash } = closing;
    output.emit({ event: 'statement_closed', month, lines, hash, notCreditedYet: waiting.sums });
    output.show([
      say(
        `The statement of ${month} is closed: ${plural(lines, 'line')}, SHA-256 ${hash}. Later changes are corrections in the next statement.`,
      ),
      ...describeLeftOut(left, { sums: left.uncountedSums, limit: SHOWN_DEALS }),
      ...describeWaiting(waiting),
      ...describeHeldOrders({ groups: groups.map((group) => ({ ...group, sent: 0 })) }),
    ]);
    if (dryRun !== true) await change((db) => keepEarnings(db, { rules }));
  },
});

const sendCommand = defineCommand({
  name: 'send',
  decides: { says: 'why', kept: 'with the mail' },
  description: 'send the closed statement of a deal to its creator by mail, once',
  requires: [
    ['--month <month>', 'such as 2026-10', parseMonth],
    ['--deal <id>', 'the deal'],
  ],
  takes: [
    ['--creator <handle>', 'the document for a creator who had the deal before'],
    ['--to <address>', 'instead of the address in statements.creators'],
    ['--language <code>', 'instead of theirs', LANGUAGES],
    ['--again', 'send it again, although it was sent'],
  ],
  /**
   * Sends the statement of a deal.
   * @returns 6 if it is unclear whether the mail server took it, 2 if it did not.
   */
  async action(
    { output, open },
    { month, deal: dealId, creator = null, to = null, language = null, again = false, reason, dryRun },
  ) {
    const { describeMail, LAST, requestStatementMail, sendStatementMails } = await import(
      '../../decisions/send-statement.ts'
    );
    const { listStatementMails } = await import('../../reports/money/statement-mails.ts');
    const { config, read, change, decide } = await open();
    const asked = {
      month,
      dealId,
      creator,
      recipient: to,
      language,
      after: again ? LAST : null,
      reason,
      config,
    };
    const requested = await decide((trx, here) => requestStatementMail(trx, { ...asked, ...here }));
    if (requested.kind === 'refused')
      throw refusal({
        code: 'statement_not_sent',
        where: `${month}, deal ${dealId}`,
        message: requested.why,
        help: 'See what was sent with  npx influencer-sync statement mails . To send it again, add --again.',
      });
    if (dryRun === true) return EXIT.ok;
    await change((db) => sendStatementMails(db, { config }));
    const mails = await read((db) => listStatementMails(db, { about: requested.about, limit: 1 }));
    const [mail] = mails;
    if (mail === undefined) throw new Error('a mail was not stored');
    output.emit({ event: 'statement_mail', ...mail });
    output.print(describeMail(mail));
    if (mail.state === 'sent') return EXIT.ok;
    return mail.state === 'failed' ? EXIT.configuration : EXIT.doubts;
  },
});

const mailsCommand = defineCommand({
  name: 'mails',
  changes: true,
  description: 'list what was sent, or say what became of an unclear mail',
  takes: [
    ['--month <month>', 'one month only', parseMonth],
    ['--arrived <mail>', 'it has arrived'],
    ['--not-arrived <mail>', 'it has not arrived, and can be sent again'],
    ['--reason <text>', 'how you know; kept with the decision'],
  ],
  async action({ output, open }, options) {
    const { describeMail, settleInterrupted, settleStatementMail } = await import(
      '../../decisions/send-statement.ts'
    );
    const { listStatementMails, sayAbout } = await import('../../reports/money/statement-mails.ts');
    const { read, change, decide } = await open();
    await change(settleInterrupted);
    const { arrived, notArrived } = options;
    const mailId = arrived ?? notArrived;
    if (mailId !== undefined) {
      if (arrived !== undefined && notArrived !== undefined)
        throw usageError('A mail has arrived or not.', 'Give one of --arrived and --not-arrived.');
      const reason = requireReason(options.reason, 'with the decision');
      const outcome = arrived === undefined ? 'failed' : 'sent';
      const isSettled = /^\d{1,18}$/.test(mailId)
        ? await decide((trx, here) => settleStatementMail(trx, { mailId, outcome, reason, ...here }))
        : false;
      if (!isSettled)
        throw refusal({
          code: 'mail_not_unclear',
          where: mailId,
          message: 'There is no unclear mail with this number.',
          help: 'List them with  npx influencer-sync statement mails .',
        });
    }
    const mails = await read((db) =>
      listStatementMails(db, { month: options.month ?? null, limit: SHOWN_MAILS }),
    );
    for (const mail of mails) output.emit({ event: 'statement_mail', ...mail });
    output.print(
      mails.length === 0
        ? 'No statement was sent.'
        : mails.map((mail) => `Mail ${mail.mailId}: ${sayAbout(mail)}. ${describeMail(mail)}`).join('\n'),
    );
  },
});

const restatedCommand = defineCommand({
  name: 'restated',
  changes: true,
  description: 'list posted orders that are stated in another currency since, or decide what they come to',
  takes: [
    ['--source <name>', 'orders of one source only'],
    ['--order <id...>', 'these orders only'],
    [
      '--as <decision>',
      'sent: they earn what they earned before; returned: all was paid back, and they earn nothing',
      ['sent', 'returned'],
    ],
    ['--reason <text>', 'how you know; kept in the audit'],
    ['--limit <count>', `maximum orders to list as a table (default: ${SHOWN_ORDERS})`, parseCount],
    ['--format <format>', 'what to print', ['table', 'csv'], 'table'],
  ],
  /**
   * Lists orders that are stated in another currency than was sent, or decides about those that are named.
   * @returns 3 if orders are listed that wait for a decision.
   */
  async action({ output, open }, options) {
    const { settleOtherCurrency } = await import('../../decisions/settle-restated.ts');
    const { keepEarnings } = await import('../../money/kept-earnings.ts');
    const { loadStatementRules } = await import('../../money/load-rules.ts');
    const { listOtherCurrency } = await import('../../reports/money/list-other-currency.ts');
    const { describeOtherCurrency, renderOtherCurrencyCsv } = await import(
      '../../reports/money/other-currency.ts'
    );
    const { source = null, order: orderIds = null, as: comesTo, limit } = options;
    if (limit !== undefined && (comesTo !== undefined || options.format === 'csv'))
      throw usageError(
        `${comesTo === undefined ? 'A CSV has all orders' : 'A decision is about all orders that you name'}, so --limit has no effect.`,
        'Leave it out. --order ID and --source NAME say which orders are meant.',
      );
    const { config, read, change, decide } = await open();
    const filter = { source, orderIds };
    if (comesTo === undefined) {
      const orders = await read((db) => listOtherCurrency(db, filter));
      for (const order of orders) output.emit({ event: 'restated_order', ...order });
      const sent = orders.map(({ sentAmount: amount, currency }) => ({ amount, currency }));
      if (options.format === 'csv') output.printRows(await renderOtherCurrencyCsv(orders));
      else if (orders.length === 0) output.print('No posted order is stated in another currency.');
      else
        output.show(
          describeOtherCurrency(orders.slice(0, limit ?? SHOWN_ORDERS), { count: orders.length, sent }),
        );
      return orders.length > 0 ? EXIT.rowsRejected : EXIT.ok;
    }
    if (source === null && orderIds === null)
      throw usageError('It is not said which orders are meant.', 'Name them: --order ID, or --source NAME.');
    const reason = requireReason(options.reason, 'in the audit');
    const rules = loadStatementRules(config.statements);
    const ended = await decide((trx, { audit }) =>
      settleOtherCurrency(trx, { filter, comesTo, rules, reason, audit }),
    );
    if (ended.kind === 'unclear') {
      const { unknown, several } = ended;
      const ids = unknown.length > 0 ? unknown : several;
      throw refusal({
        code: 'order_not_restated',
        where: [...ids, ...(source === null ? [] : [`source ${source}`])].join(', '),
        message: `${ids === several && ids.length > 0 ? 'Several sources state an order with this id in another currency than was sent.' : 'No such order is stated in another currency than was sent.'} Nothing is decided.`,
        help: 'npx influencer-sync statement restated lists those that are, as their sources write them. Add --source if several have the same id.',
      });
    }
    const settled = ended.orders;
    for (const order of settled) output.emit({ event: 'restated_settled', comesTo, ...order });
    const sums = formatAmounts(settled.map(({ sentAmount: amount, currency }) => ({ amount, currency })));
    const known = settled.flatMap(({ earned, currency }) =>
      earned === null ? [] : [{ amount: earned, currency }],
    );
    const earns = [
      ...(known.length === 0 ? [] : [formatAmounts(known)]),
      ...(known.length === settled.length
        ? []
        : [`unknown for ${plural(settled.length - known.length, 'order')} (see the statement)`]),
    ].join(', and ');
    output.print(
      comesTo === 'sent'
        ? `${plural(settled.length, 'order')}, sent with ${sums}: ${settled.length === 1 ? 'it earns' : 'they earn'} what was earned before: ${earns}.`
        : `${plural(settled.length, 'order')}, sent with ${sums}: returned in full. The next statement takes back what a closed one paid. In the service, the orders stay as they were sent.`,
    );
    if (options.dryRun !== true) await change((db) => keepEarnings(db, { rules }));
    return EXIT.ok;
  },
});

const verifyCommand = defineCommand({
  name: 'verify',
  description: 'check closed statements against their hashes',
  /**
   * Verifies the hashes of all closed statements.
   * @returns 3 if a statement was changed after it was closed.
   */
  async action({ output, open }) {
    const { read } = await open();
    const { verifyStatements } = await import('../../money/close-statement.ts');
    const { statements, broken } = await read(verifyStatements);
    output.emit({ event: 'statements_verified', statements, broken });
    if (broken.length === 0) {
      output.print(
        statements === 0
          ? 'No statement is closed yet.'
          : `${plural(statements, 'closed statement')}: none has been changed since it was closed.`,
      );
      return EXIT.ok;
    }
    output.print(
      `Changed since they were closed: ${broken.map(({ month }) => month).join(', ')}. Somebody bypassed the trigger and changed rows of these statements or of an earlier one. Compare them with the files that you sent out.`,
    );
    return EXIT.rowsRejected;
  },
});

export const statementCommand = defineCommand({
  name: 'statement',
  summary: 'show what influencers earned in a month, net of refunds',
  description: 'show what influencers earned in a month, net of refunds and cancellations',
  takes: [
    ['--month <month>', 'such as 2026-10 (default: last month)', parseMonth],
    ['--brand <id>', 'one brand only'],
    ['--deal <id>', 'one deal only, with every order'],
    ['--creator <handle>', 'the document of the deal for a creator who had it before'],
    ['--language <code>', 'of the document for a creator (default: theirs)', LANGUAGES],
    ['--format <format>', 'what to print', STATEMENT_FORMATS, 'table'],
  ],
  examples: [
    ['statement', 'what each deal earned last month'],
    ['statement --month 2026-10 --deal D1', 'every order of one deal'],
    ['statement --month 2026-10 --format csv > october.csv', 'every line, for a spreadsheet'],
    [
      'statement --month 2026-10 --deal D1 --format pdf > october.pdf',
      'the document for the creator, in their language',
    ],
    [
      "statement close --month 2026-10 --reason 'paid out'",
      'freeze it; later changes go into the next statement',
    ],
    ['statement send --month 2026-10 --deal D1 --reason monthly', 'by mail, to the address in creators.csv'],
    [
      "statement restated --order 1001 --as sent --reason 'the shop changed its currency'",
      'what was posted stays',
    ],
    ['statement verify', 'check that closed statements have not been changed'],
  ],
  /** Prints a statement: as it was closed, or as closing it now would write it. */
  async action({ output, open }, options) {
    const { convertLines } = await import('../../money/convert-lines.ts');
    const { findBrokenRules, loadExchange, loadStatementRules } = await import('../../money/load-rules.ts');
    const { readClosed, readStatement, refuseContained } = await import('../../money/read-statement.ts');
    const { renderBlocksPage } = await import('../../render/html/report-page.ts');
    const { describeStatement, narrowStatement, renderStatementCsv } = await import(
      '../../reports/money/statement.ts'
    );
    const isDocument = options.deal !== undefined && (options.format === 'html' || options.format === 'pdf');
    if (options.creator !== undefined && !isDocument)
      throw usageError('--creator is for the document of a deal.', 'Add --deal, and --format pdf or html.');
    if (options.format === 'pdf' && output.terminal.isInteractive)
      throw usageError('A PDF cannot be shown in a terminal.', 'Write it to a file: add > statement.pdf');
    const { config, read } = await open({ warnsOfTerms: false });
    const month = options.month ?? monthBefore(new Date(), config.statements.timeZone);
    const broken = findBrokenRules(config.statements);
    const whole = await read(
      async (db) =>
        (await readClosed(db, month)) ??
        readStatement(db, { month, rules: loadStatementRules(config.statements) }),
    ).catch((error: unknown) => {
      // What cannot be read of the configuration comes before a database that does not exist yet.
      throw broken[0] ?? error;
    });
    await read((db) => refuseContained(db, month));
    const { closed } = whole;
    const exchange = closed === null ? loadExchange(config.statements) : whole.exchange;
    const statement = narrowStatement(whole, {
      brandId: options.brand ?? null,
      dealId: options.deal ?? null,
    });
    for (const line of statement.lines) output.emit({ event: 'statement_line', month, ...line });
    for (const orders of statement.uncounted) output.emit({ event: 'statement_uncounted', month, ...orders });
    for (const deal of statement.carried) output.emit({ event: 'statement_carried', month, ...deal });
    for (const orders of statement.held) output.emit({ event: 'statement_held', month, ...orders });
    for (const fee of statement.unknownFees) output.emit({ event: 'statement_unknown_fee', month, ...fee });
    const total = exchange === null ? null : convertLines(statement.lines, exchange);
    output.emit({
      event: 'statement',
      month,
      closed: closed === null ? null : { by: closed.by, at: closed.at, hash: closed.hash },
      lines: statement.lines.length,
      ...(total === null ? {} : { inReportingCurrency: total }),
    });
    if (options.deal !== undefined && (options.format === 'html' || options.format === 'pdf')) {
      const { deal: dealId, creator = null, language = null, format } = options;
      await writeDocument(output, { month, dealId, creator, language, format, config, read });
      if (closed !== null) warnOfBrokenRules(output, broken);
      return;
    }
    const blocks = describeStatement(statement, {
      showsLines: options.deal !== undefined || options.format === 'html' || options.format === 'pdf',
      total,
    });
    const title = `Statement of ${month}`;
    if (options.format === 'pdf') {
      const { renderBlocksPdf } = await import('../../render/render-pdf.ts');
      // The same statement is always the same file.
      const madeAt = closed?.at ?? new Date(`${month}-01T00:00:00Z`);
      if (!output.json) output.write(await renderBlocksPdf(blocks, { title, madeAt }));
    } else if (options.format === 'csv') {
      output.printRows(renderStatementCsv(statement));
      const left = statement.carried.length + statement.uncounted.length + statement.unknownFees.length;
      if (left > 0)
        output.warn(
          'The CSV has lines only. What is unknown, pending or carried forward is not in it: see --format table.',
        );
    } else if (options.format === 'html')
      output.printRows(output.completePage(renderBlocksPage(blocks, { title, madeAt: new Date() })));
    else output.show(blocks);
    if (closed !== null) warnOfBrokenRules(output, broken);
  },
  commands: [closeCommand, sendCommand, mailsCommand, restatedCommand, verifyCommand],
});

/** Writes the statement of one deal as its creator gets it. */
async function writeDocument(
  output: Output,
  {
    format,
    read,
    ...of
  }: DocumentOf & {
    readonly format: 'html' | 'pdf';
    readonly read: Awaited<ReturnType<typeof openCommand>>['read'];
  },
): Promise<void> {
  const { openCreatorStatement, whyNoDocument } = await import('../../reports/money/creator-statement.ts');
  const document = await read((db) => openCreatorStatement(db, of));
  if (document === null)
    throw refusal({
      code: 'deal_unknown',
      where: of.dealId,
      message: whyNoDocument(of),
      help: 'Check the id; statement lists the deals of a month.',
    });
  const others = document.formerCreators.map((handle) => `--creator ${shellWord(handle)}`).join(', ');
  if (of.creator == null && others !== '')
    output.warn(
      `What was closed to a former creator of the deal is corrected in a document of its own: ${others}`,
    );
  if (format === 'html') {
    const { renderBlocksPage } = await import('../../render/html/report-page.ts');
    output.printRows(output.completePage(renderBlocksPage(document.blocks, document)));
  } else if (!output.json) {
    const { renderBlocksPdf } = await import('../../render/render-pdf.ts');
    output.write(await renderBlocksPdf(document.blocks, document));
  }
}

/** A closed statement is shown from storage. Says why open ones cannot be shown at present. */
function warnOfBrokenRules(output: Output, broken: readonly KnownError[]): void {
  for (const { details } of broken) {
    const { where, message, problems = [] } = details;
    output.emit({ event: 'statement_rules_broken', where, message, problems });
    output.warn(
      [
        `${where}: ${message} This closed statement does not depend on it. Open statements cannot be shown or closed until you correct it.`,
        ...problems.map((problem) => `  ${problem.where}: ${problem.message} ${problem.help}`),
      ].join('\n'),
    );
  }
}

/** Maximum number of deals of each kind that closing lists. */
const SHOWN_DEALS = 20;

/** Maximum number of orders that are not credited yet that closing lists. */
const SHOWN_WAITING = 5;

const SHOWN_MAILS = 1_000;
