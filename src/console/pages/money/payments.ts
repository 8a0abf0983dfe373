import { FILE_KINDS, type FileKind } from '../../../core/money/payments.ts';
import { formatAmounts, formatMoney, subtractMoney } from '../../../core/money.ts';
import { monthBefore } from '../../../core/time/month.ts';
import { readExportedAgain, readUnpaid } from '../../../decisions/pay.ts';
import { loadStatementRules } from '../../../money/load-rules.ts';
import { digestOf } from '../../../money/payments/find-unpaid.ts';
import { listPayments, type Payment } from '../../../money/payments/keep-payments.ts';
import { type BankEntry, listBankEntries } from '../../../money/payments/match-bookings.ts';
import { listStatements } from '../../../money/sum-statement.ts';
import { column, number } from '../../../render/block.ts';
import { type Html, html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { describeAccruals, readAccruals, renderAccrualsCsv } from '../../../reports/payments/accruals.ts';
import { accountOf, describeUnpaid, outcomeOf, stateOf } from '../../../reports/payments/payments.ts';
import { definePage, type Visit } from '../../console-page.ts';
import { actColumn, actionForm, notOffered } from '../../markup/action-form.ts';
import { queryForm } from '../../markup/filter.ts';
import { anchor, blockList, describeKnown, missing, noted, pagedTable, table } from '../../markup/parts.ts';
import { idOf, monthOf, PAGE_ROWS, pageOf, textOf } from '../../read-query.ts';

const PATH = '/money/payments';

const KIND_NAMES: Readonly<Record<FileKind, string>> = {
  'pain.001': 'pain.001 (SEPA, only EUR)',
  csv: 'CSV',
};

/** What closed statements owe, the payments that were proposed of it, and what the bank said. */
export const paymentsPage = definePage(PATH, async (visit) => {
  const rows = await listPayments(visit.db, pageOf(visit));
  const held = await listBankEntries(visit.db, { onlyHeld: true });
  // Apart from the rows of the page: a proposal is exported as a whole.
  const open = await Promise.all(
    (['proposed', 'exported'] as const).map((state) => listPayments(visit.db, { state })),
  );
  const proposals = [...Map.groupBy(open.flat(), ({ proposalId }) => proposalId)];
  return {
    title: 'Payments',
    content: html`<p>What closed statements owe, and what became of it. Nothing here pays: you send a file to your bank. An amount is in one live payment at most.</p>
<h2>Not proposed yet</h2>
${await unpaidPart(visit)}
${proposals.length === 0 ? null : html`<h2>Proposals for the bank</h2>${proposals.map(([id, payments]) => proposalPart(visit, { id, payments }))}`}
${held.length === 0 ? null : heldPart(visit, held.slice(0, PAGE_ROWS))}
<h2>Payments</h2>
${pagedTable({ rows, visit, about: 'Payments', none: 'No payment was proposed yet.', key: 'paymentId' }, [
  column('Payment', ({ paymentId }) => paymentId),
  column('Proposal', ({ proposalId, month }) => noted(proposalId, `until ${month}`)),
  column('Creator', ({ creator }) => visit.creator(creator)),
  number('Amount', ({ amount, currency }) => formatMoney(amount, currency)),
  column('Account', accountOf),
  column('State', (payment) => noted(stateOf(payment), payment.settleReason)),
  actColumn(visit, `${PATH}/cancel`, [
    'Decide',
    (payment) => html`${cancelForm(visit, payment)}${completeForm(visit, payment)}`,
  ]),
])}
${visit.may(`POST ${PATH}/cancel`) || rows.length === 0 ? null : html`<p>${notOffered(visit, `POST ${PATH}/cancel`, 'cancel or complete payments')}</p>`}`,
  };
});

async function unpaidPart(visit: Visit): Promise<Html> {
  const [last] = await listStatements(visit.db, { limit: 1 });
  if (last === undefined) return html`<p class="none">No statement is closed yet.</p>`;
  const { month } = last;
  const { statements } = visit.config;
  try {
    const unpaid = await readUnpaid(visit.db, { month, statements });
    return html`${blockList(describeUnpaid(unpaid), visit)}
${
  unpaid.some(({ becomes }) => becomes === 'pay')
    ? actionForm(visit, `${PATH}/propose`, {
        hidden: { month, shown: digestOf(unpaid) },
        button: `Propose what is to pay until ${month}`,
        isMain: true,
      })
    : null
}`;
  } catch (error) {
    return describeKnown(error);
  }
}

function proposalPart(visit: Visit, { id, payments }: { id: string; payments: readonly Payment[] }): Html {
  const kinds = [...new Set(payments.flatMap(({ exportedAs }) => exportedAs ?? []))];
  const waiting = payments.filter(({ state }) => state === 'proposed');
  // To export a kind again writes the payments of its first file, and none that waits.
  const open = FILE_KINDS.filter((kind) => !kinds.includes(kind));
  return html`<h3>Proposal ${id}</h3>
${kinds.map((kind) => html`<p>${visit.may(`GET ${PATH}/file`) ? anchor(visit.link(`${PATH}/file`, { proposal: id, format: kind }), `Download the file as ${kind}`) : `Exported as ${kind}.`} It has bank data of creators.</p>`)}
${
  waiting.length === 0
    ? null
    : open.length === 0
      ? html`<p>${formatCount(waiting.length)} of its payments are in no file: ${formatAmounts(waiting)}. To pay them, cancel them and propose them again.</p>`
      : actionForm(visit, `${PATH}/export`, {
          hidden: { proposal: id },
          fields: html`<label>File for the bank <select name="format">${open.map((kind) => html`<option value="${kind}">${KIND_NAMES[kind]}</option>`)}</select></label>`,
          button: `Export ${formatCount(waiting.length)} of proposal ${id}: ${formatAmounts(waiting)}`,
          confirm: 'From then on, the file may be at the bank.',
        })
}`;
}

function heldPart(visit: Visit, held: readonly BankEntry[]): Html {
  return html`<h2>Bookings that are held</h2>
<p>They do not count until somebody decides.</p>
${table({ rows: held, about: 'Bookings that are held' }, [
  column('Booking', ({ bankEntryId }) => bankEntryId),
  column('Day', ({ bookedOn }) => bookedOn),
  number('Amount', ({ amount, currency }) => formatMoney(amount, currency)),
  column('Payment', ({ paymentId }) => paymentId),
  column('Why', outcomeOf),
  actColumn(visit, `${PATH}/settle-booking`, [
    'Decide',
    ({ bankEntryId }) =>
      html`<details><summary>Decide</summary>${actionForm(visit, `${PATH}/settle-booking`, {
        hidden: { booking: bankEntryId },
        fields: html`<label>Booking ${bankEntryId} is <select name="is"><option value="payment">the payment</option><option value="other">about something else, or in another currency</option></select></label>`,
        reasonLabel: 'How you know',
        button: 'Save',
      })}</details>`,
  ]),
])}`;
}

function cancelForm(visit: Visit, { paymentId, state }: Payment): Html | null {
  if (state !== 'proposed' && state !== 'exported' && state !== 'partly_paid') return null;
  return html`<details><summary>Cancel</summary>${actionForm(visit, `${PATH}/cancel`, {
    hidden: { payment: paymentId },
    button: `Cancel payment ${paymentId}`,
    ...(state === 'exported'
      ? { confirm: 'No bank will pay it, or pay it again. Otherwise it is paid twice.' }
      : {}),
  })}</details>`;
}

function completeForm(
  visit: Visit,
  { paymentId, state, amount, paidAmount, currency }: Payment,
): Html | null {
  if (state !== 'partly_paid') return null;
  const rest = formatMoney(subtractMoney(amount, paidAmount), currency);
  return html`<details><summary>Paid in another way</summary>${actionForm(visit, `${PATH}/complete`, {
    hidden: { payment: paymentId },
    fields: html`<label>Day on which you paid the rest, ${rest}, or agreed that it is not owed <input type="date" name="on" required></label>`,
    reasonLabel: 'How',
    button: `Payment ${paymentId} is complete`,
  })}</details>`;
}

/** The file for the bank again, of payments that are exported. It changes nothing. */
export const paymentFilePage = definePage(`${PATH}/file`, async (visit) => {
  const [proposalId, as] = [
    idOf(visit, 'proposal'),
    textOf(visit, 'format') === 'csv' ? 'csv' : 'pain.001',
  ] as const;
  if (proposalId === null) return missing('File for the bank', 'There is no such proposal.');
  const { exportForBank } = await import('../../../reports/payments/export-payments.ts');
  const { statements } = visit.config;
  try {
    const { file } = await exportForBank({ as, statements, on: null, now: visit.now }, () =>
      readExportedAgain(visit.db, { proposalId, as, statements }),
    );
    const [name, type] = as === 'csv' ? ['csv', 'text/csv'] : ['xml', 'application/xml'];
    return { download: { name: `payments-${proposalId}.${name}`, type, content: file } };
  } catch (error) {
    return { title: 'File for the bank', content: describeKnown(error), status: 404 };
  }
});

/** What is earned and not paid at the end of a month. */
export const accrualsPage = definePage('/money/accruals', async (visit) => {
  const { statements } = visit.config;
  const month = monthOf(visit, 'month') ?? monthBefore(visit.now, statements.timeZone);
  const title = `Accruals at the end of ${month}`;
  try {
    const { payments } = statements;
    const rules = loadStatementRules(statements);
    const accruals = await readAccruals(visit.db, { month, rules, payments });
    if (textOf(visit, 'download') === 'csv')
      return {
        download: { name: `accruals-${month}.csv`, type: 'text/csv', content: renderAccrualsCsv(accruals) },
      };
    return {
      title,
      content: html`${queryForm(
        visit,
        { asks: ['month'], label: 'Choose a month', className: 'filter' },
        html`<label>Month <input type="text" name="month" value="${month}" pattern="\\d{4}-(0[1-9]|1[0-2])" required></label>
<button type="submit">Show</button>`,
      )}<h2>Earned and not paid</h2>
${blockList(describeAccruals(accruals), visit)}
<p>${anchor(visit.link('/money/accruals', { month, download: 'csv' }), 'Download as CSV')}</p>`,
    };
  } catch (error) {
    return { title, content: describeKnown(error) };
  }
});
