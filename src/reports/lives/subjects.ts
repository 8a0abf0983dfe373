import { type RawBuilder, sql } from 'kysely';
import { EXIT } from '../../core/exit-code.ts';
import { formatAmounts } from '../../core/money.ts';
import { helpForCodesInText } from '../../core/text/codes-in-text.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import { shellWord } from '../../core/text/printable.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import {
  type Block,
  type Facts,
  facts,
  item,
  number,
  say,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';
import type { OwnedCode } from '../codes/list-codes.ts';
import { findFileRead } from '../files/list-files.ts';
import { sayFooterRow } from '../files/read-files.ts';
import { spellingsOf } from '../find-handles.ts';
import { findDeal, type ListedDeal, listDealMonths, listDeals, stateOfDeal } from '../list-deals.ts';
import { findRun } from '../runs/list-runs.ts';
import { type DidOfRun, describeRuns } from '../runs/runs.ts';
import { readEntryLife } from './entry-lives.ts';
import { explainCustomer } from './explain-customer.ts';
import { explainOrder } from './explain-order.ts';
import type { Subject } from './find-subjects.ts';
import { describeCustomerLife, describeExplained, describeOrderLife } from './lives.ts';

/** What is known about something: for a program, and as blocks. */
export type Life = { readonly data: readonly object[]; readonly blocks: readonly Block[] };

/** Reads and describes what is known about something that `findSubjects` found. */
export async function readSubject(db: Database, subject: Subject, didOf: DidOfRun): Promise<Life> {
  const { kind, id, source, name } = subject;
  switch (kind) {
    case 'order': {
      const lives = await explainOrder(db, source === null ? { order: id } : { order: id, source });
      return { data: lives, blocks: lives.flatMap(describeOrderLife) };
    }
    case 'entry': {
      const life = await readEntryLife(db, id);
      const entries = life === null ? [] : [life];
      // The body of a batch of customers has their addresses.
      const data = entries.map(({ body: _body, ...entry }) => entry);
      return { data, blocks: describeExplained({ title: `Entry ${id}`, sections: [], entries }) };
    }
    case 'customer': {
      const lives = await explainCustomer(db, [id]);
      return { data: lives, blocks: lives.flatMap(describeCustomerLife) };
    }
    case 'creator':
      return describeCreator(db, id, name);
    case 'deal':
      return describeDeal(db, id);
    case 'code':
      return describeCode(db, id, name);
    case 'file':
      return describeFile(db, id);
    case 'run': {
      const run = await findRun(db, id);
      if (run === null) return { data: [], blocks: [] };
      const commands =
        run.exitCode === EXIT.rowsRejected ? { lines: [`npx influencer-sync rejected --run ${id}`] } : null;
      return { data: [run], blocks: section(`Run ${id}`, { parts: describeRuns([run], didOf), commands }) };
    }
  }
}

async function describeCreator(db: Database, folded: string, name: string): Promise<Life> {
  const found = await listDeals(db, { limit: 50, spellings: await spellingsOf(db, folded) });
  const deals = found.map((deal) => ({
    dealId: deal.dealId,
    platform: deal.platform,
    brand: deal.brandName ?? deal.brandId,
    state: stateOfDeal(deal),
  }));
  const codes = await listOwners(db, sql`handle_folded = ${folded}`);
  return {
    data: [{ handle: name, deals, codes }],
    blocks: [
      say(`Creator ${name}.`, { tone: 'bold' }),
      ...section('Deals', {
        otherwise: 'none in the mirror',
        parts: table(deals, [
          whole('deal', ({ dealId }) => dealId),
          whole('state', ({ state }) => state),
          whole('platform', ({ platform }) => platform),
          whole('brand', ({ brand }) => brand),
        ]),
      }),
      ...section('Codes', { parts: ownerTable(codes), otherwise: 'none' }),
    ],
  };
}

async function describeDeal(db: Database, dealId: string): Promise<Life> {
  const deal = await findDeal(db, dealId);
  const months = await listDealMonths(db, { dealId, limit: 12 });
  const codes = await listOwners(db, sql`deal_id = ${dealId}`);
  return {
    data: [{ dealId, deal, months, codes }],
    blocks: [
      say(`Deal ${dealId}${deal === null ? ', which the mirror has not read' : ''}.`, {
        tone: 'bold',
        parts: deal === null ? [] : [factsOfDeal(deal)],
      }),
      ...section('Orders by month (UTC)', {
        otherwise: 'none',
        parts: table(months, [
          whole('month', ({ month }) => month),
          number('credited', ({ accepted }) => formatCount(accepted)),
          number('not settled', ({ open }) => formatCount(open)),
          number('amount', (one) => formatAmounts([one])),
        ]),
      }),
      ...section('Codes', { parts: ownerTable(codes), otherwise: 'none' }),
    ],
  };
}

function factsOfDeal(deal: ListedDeal): Facts {
  return facts([
    ['creator', deal.influencerHandle],
    ['platform', deal.platform],
    ['brand', deal.brandName ?? deal.brandId],
    ['dealflow', deal.dealflowName],
    ['state', stateOfDeal(deal)],
    ["the service's count", deal.totalReferrals === null ? null : `${deal.totalReferrals} orders`],
  ]);
}

/** A code of a job with its owner, as the last run loaded it. */
type CodeOwner = Pick<
  OwnedCode,
  'job' | 'code' | 'line' | 'validFrom' | 'validTo' | 'validFromText' | 'validToText'
> & { readonly owner: string | null };

function listOwners(db: Database, condition: RawBuilder<unknown>) {
  return rowsOf<CodeOwner>(db)`
    select job, code, coalesce(influencer_handle, deal_id, collab_id) as owner, line_no as line,
      valid_from as "validFrom", valid_to as "validTo", valid_from_text as "validFromText",
      valid_to_text as "validToText"
    from intake.codes where code is not null and ${condition}
    order by job, code_folded, valid_from nulls first, line_no limit 50`;
}

/** An instant that no person wrote, to the minute. */
function sayInstant(at: Date | null): string | null {
  return at === null ? null : `${formatMinute(at)} UTC`;
}

function ownerTable(owners: readonly CodeOwner[]) {
  return table(owners, [
    whole('code', ({ code }) => code),
    whole('owner', ({ owner }) => owner),
    whole('from', ({ validFrom, validFromText }) => validFromText ?? sayInstant(validFrom)),
    whole('until', ({ validTo, validToText }) => validToText ?? sayInstant(validTo)),
    whole('job', ({ job }) => job),
    number('line', ({ line }) => (line < 0 ? null : String(line))),
  ]);
}

const ADD_CODE =
  'Add the code to codes.csv, or assign it in the console. The next run looks at its orders again.';

async function describeCode(db: Database, folded: string, name: string): Promise<Life> {
  const owners = await listOwners(db, sql`code_folded = ${folded}`);
  const row = await rowOf<{ orders: string | null; first: string | null; last: string | null }>(db)`
    select sum(orders) as orders, to_char(min(day_utc), 'YYYY-MM-DD') as first,
      to_char(max(day_utc), 'YYYY-MM-DD') as last
    from reporting.code_use_days where code_folded = ${folded}`;
  const use = row?.orders == null ? null : row;
  const used =
    use === null
      ? 'in no order that was read'
      : `in ${plural(Number(use.orders), 'order')}, from ${use.first} to ${use.last} (UTC)`;
  return {
    data: [{ code: name, owners, use }],
    blocks: [
      say(`Code ${name}, ${used}.`, { tone: 'bold' }),
      ...section('Owners', {
        parts:
          owners.length === 0 ? item('none', helpForCodesInText([name]) ?? ADD_CODE) : ownerTable(owners),
      }),
    ],
  };
}

async function describeFile(db: Database, sourceFileId: string): Promise<Life> {
  const file = await findFileRead(db, sourceFileId);
  if (file === null) return { data: [], blocks: [] };
  const { uri, state, rowsRead, rejectedRows, runId, firstSeenAt, holdMessage, holdHelp } = file;
  return {
    data: [file],
    blocks: section(`File ${fileName(uri)}`, {
      note: state,
      parts: [
        facts([
          ['address', uri],
          ['source', `${file.source}, for ${file.readFor}`],
          ['layout', file.layout],
          ['rows', rowsRead === null ? null : formatCount(rowsRead)],
          ['rejected', rejectedRows === null ? null : formatCount(rejectedRows)],
          ['no records', file.footer?.map(sayFooterRow).join('; ') ?? null],
          ['first read', `${formatMinute(firstSeenAt)} (UTC)`],
          ['last read', `by run ${runId}`],
          ['same as', file.duplicateOf],
        ]),
        ...(state === 'held' && holdMessage !== null ? [item(holdMessage, holdHelp)] : []),
      ],
      commands:
        rejectedRows === 0 || rejectedRows === null
          ? null
          : { lines: [`npx influencer-sync rejected --file ${shellWord(fileName(uri))}`] },
    }),
  };
}
