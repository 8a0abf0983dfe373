import { sql } from 'kysely';
import { describe, expect, it, test } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { queryViews } from '../../src/reports/query-views.ts';
import { type Question, readQuestions } from '../support/read-questions.ts';
import { setup, setupEmbedded } from '../support/setup.ts';
import { tellStory } from './story.ts';

const SOME = expect.any(String);

/**
 * The expected answer to each question of `deploy/metabase/`, worked out by hand from `story.ts` and
 * `test/reports/seed.ts`. DAY is the day of the story's orders, MONTH the first day of that month, and TIME
 * any time.
 */
const ANSWERS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  accrued: [
    ['2026-04', 'EUR', 'closed', '0', '12.5000'],
    ['2026-04', 'EUR', 'unknown', '2', null],
  ],
  'adjustments-by-deal': [['D1', 'EUR', '1', '-20.0000', '0']],
  // One order, claimed by handle and by deal.
  'answered-claims': [['credited', 'EUR', '2', '45.0000', '45.0000']],
  brands: [['4819', 'Acme', 'false', 'TIME', 'TIME']],
  'brands-by-month': [
    ['MONTH', '4819', 'Acme', 'EUR', '3', '1264.5000'],
    ['MONTH', '4819', 'Acme', 'USD', '1', '0.1000'],
  ],
  'clicks-by-deal': [['D1', null, '12', '5']],
  'codes-without-a-link': [['nora5', null, '12', '11', '91.7', '12.5']],
  'conflicting-orders': [
    [
      'DAY',
      'shop-orders',
      '1011',
      'codes',
      'code MARA15, code JONAS10',
      '7.0000',
      'EUR',
      'held',
      null,
      'deal:D1',
      'handle:jonas',
      null,
    ],
  ],
  'corrected-orders': [['2026-01', 'D1', null, null, 'EUR', '5.0000', '3.0000', '-2.0000']],
  coverage: [
    ['all', '3', '2', '1', '0', '0', '0', null],
    ['autocomplete', '2', '1', '1', '0', '0', '0', null],
    ['codes', '1', '1', '0', '0', '0', '0', null],
  ],
  'creators-without-a-deal': [['duo', 'instagram', 'held', 'several_deals', 'TIME']],
  'credited-by-run': [['1', 'attribute-orders', 'TIME', 'EUR', '30.0000']],
  'deals-by-dealflow': [['Spring', 'Acme', '3', '2']],
  'deals-on-the-first': [['D_1', '1']],
  'deals-that-sell-nothing': [['D3', 'idle.ivy', 'tiktok', 'Acme', 'Spring', '7']],
  'do-orders-add-up': [],
  'earned-and-paid-out': [
    ['D1', 'mara.paints', 'EUR', '8.0000', '5.5', '2.5000'],
    ['D2', 'Mara.Paints', 'EUR', '0', '2', '-2'],
  ],
  funnel: [
    ['attribute-orders', 'EUR', '13', '1', '1', '2', '2', '1', '1', '2', '3', '23.1', '1264.5000'],
    ['attribute-orders', 'USD', '1', '0', '0', '0', '0', '0', '0', '0', '1', '100.0', '0.1000'],
  ],
  'how-fresh': [['TIME', SOME]],
  'how-long-runs-take': [['attribute-orders', '2', '1', '3600.0', '3600.000']],
  'influencers-with-several-deals': [['mara.paints', 'instagram', '2', '1']],
  'influencers-without-a-deal': [
    ['Acme', 'tiktok', 'new.nora', '12000', 'true', '3', '120.5000', 'EUR', 'https://social.test/new.nora'],
  ],
  'job-health': [['attribute-orders', 'lost', 'TIME', SOME, '0', 'false', 'true', '0', '1', '2']],
  'last-night': [
    ['2', 'attribute-orders', 'lost', 'TIME', null, null, null, null, null],
    ['1', 'attribute-orders', 'ok', 'TIME', '3600.000', null, null, '2', null],
  ],
  'money-other-rules-would-move': [['codes', 'EUR', '1', '7.0000', '0', '7.0000', '7.0000', '0']],
  'money-in-doubt': [['EUR', '2', '55.0000', 'TIME']],
  'one-deal-by-day': [
    ['DAY', 'EUR', '3', '3', '1264.5000'],
    ['DAY', 'USD', '1', '1', '0.1000'],
  ],
  'one-order': [['shop-orders', '1001', '#1001', 'paid', 'TIME', 'EUR', '1234.5000', null, 'MARA15', null]],
  'open-claims': [['jonas', 'EUR', '1', '7.0000', '2026-05-01']],
  'paid-creators': [
    ['jonas', 'EUR', '5.0000', '2026-02-04'],
    ['mara.paints', 'EUR', '8.0000', '2026-02-03'],
  ],
  'unconfirmed-payments': [['EUR', 'partly_paid', '1', '15.0000', '2026-02-02']],
  'orders-by-shop': [
    ['shop-orders', 'EUR', '13', '1598.5000', '0', '122.96'],
    ['shop-orders', 'USD', '1', '0.1000', '0', '0.10'],
  ],
  'orders-of-a-deal': [
    ['DAY', 'shop-orders', '1001', '#1001', 'accepted', 'code', 'MARA15', '1234.5000', 'EUR'],
    ['DAY', 'shop-orders', '1002', '#1002', 'accepted', 'code', 'MARA15', '0.1000', 'USD'],
    ['DAY', 'shop-orders', '9001', '#9001', 'accepted', 'code', 'MARA15', '10.0000', 'EUR'],
    ['DAY', 'shop-orders', '9002', '#9002', 'accepted', null, 'MARA15', '20.0000', 'EUR'],
  ],
  'outreach-campaigns': [['O_1', 'instagram', '1', '5000', '1', 'TIME']],
  'outreach-problems': [
    [SOME, 'O_1', 'instagram', 'rejected', 'HTTP 404: unknown id', '2', 'ola.oils'],
    [SOME, 'O_1', 'instagram', 'in_doubt', 'the connection was cut', '1', 'lea.lifts'],
  ],
  'paid-by-month': [['2026-01', 'D1', 'EUR', '10.0000', '-2.0000', '0.0000', '8.0000']],
  refunds: [['shop-orders', 'EUR', '2', '10.0000']],
  'customer-worth': [
    ['MONTH', 'mara.paints', 'EUR', '1', null, null, null],
    ['MONTH', 'mara.paints', 'USD', '1', null, null, null],
  ],
  'new-customers-by-brand': [
    ['MONTH', 'Acme', 'EUR', '1', '1', null],
    ['MONTH', 'Acme', 'USD', '1', '0', '0.01'],
  ],
  'returns-by-campaign': [
    ['Spring', 'EUR', '3', '1244.5000', '124.4500', '373.3500'],
    ['Spring', 'USD', '1', '0.1000', '0.0100', '0.0300'],
  ],
  'returns-by-creator': [
    ['mara.paints', 'EUR', '3', '1244.5000', '124.4500', '373.3500', '1', '1', '1'],
    ['mara.paints', 'USD', '1', '0.1000', '0.0100', '0.0300', '1', '0', '0'],
  ],
  'returns-by-deal': [
    ['MONTH', 'D1', 'mara.paints', 'EUR', '3', '1244.5000', '124.4500', '373.3500', '300.00', 'customers'],
    ['MONTH', 'D1', 'mara.paints', 'USD', '1', '0.1000', '0.0100', '0.0300', '300.00', null],
  ],
  'rows-to-correct': [
    ['shop-orders', 'file:///exports/orders-2026-04.csv', '14', null, 'It is not an amount of money.', '1'],
  ],
  'second-purchases': [['mara.paints', '2', '1', '50.0']],
  'self-purchases': [['mara.paints', 'D1', 'shop-orders', '1001', 'DAY', '1234.5000', 'EUR']],
  'unexplained-orders': [['D1', 'mara.paints', '5', '4', '0', '0', '1', '150.5000', 'EUR']],
  'sold-within-a-month': [['D1', 'mara.paints', '3', '150.50']],
  'stages-of-a-deal': [
    ['D1', '1', 'TIME'],
    ['D1', '2', 'TIME'],
  ],
  'still-to-be-settled': [
    ['held', 'written_off', 'EUR', '1', '6.0000', '0', 'TIME'],
    ['in_doubt', null, 'EUR', '1', '22.0000', '0', 'TIME'],
    ['in_doubt', 'the connection was cut before the answer', 'EUR', '1', '33.0000', '0', 'TIME'],
    ['ready', null, 'EUR', '1', '55.0000', '0', 'TIME'],
    ['rejected', 'HTTP 422: no such influencer', 'EUR', '1', '44.0000', '0', 'TIME'],
  ],
  'top-deals': [
    ['EUR', '1', 'mara.paints', '3', '1264.5000'],
    ['USD', '1', 'mara.paints', '1', '0.1000'],
  ],
  'terms-that-differ': [['mara.paints', 'D1', 'code', null, null, null, null, null]],
  'unowned-clicks': [['acme.test/spring', 'unknown', '30', 'DAY', 'DAY']],
  'unowned-codes': [
    ['EUR', '1', 'SUMMER 5', '2', '150.0000', '0'],
    ['EUR', '2', 'XMAS', '1', '70.0000', '0'],
  ],
  'why-not-credited': [
    [
      'attribute-orders',
      'shop-orders',
      '1004',
      'rejected',
      'HTTP 422: no such influencer',
      'MARA15',
      null,
      'mara.paints',
      '44.0000',
      'EUR',
    ],
  ],
};

describe('the questions of deploy/metabase', () => {
  const questions = readQuestions();

  it('return the answers that the data of the story determine', async () => {
    const { db } = await setup();
    expect(await answerAll(db, questions)).toEqual(ANSWERS);
  });

  it('return the same answers from the embedded database', async () => {
    const db = await setupEmbedded();
    expect(await answerAll(db, questions)).toEqual(ANSWERS);
  });

  it('about creators join neither brands nor dealflows, which they do not show', async () => {
    const { db } = await setup();
    const tablesOf = async (slug: string): Promise<readonly string[]> => {
      const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain ${sql.raw(questions.find((question) => question.slug === slug)?.sql ?? '')}`.execute(db);
      const plan = rows.map((row) => row['QUERY PLAN']).join(' ');
      return ['return_months', 'brand_versions', 'dealflow_versions'].filter((table) => plan.includes(table));
    };
    expect(await tablesOf('returns-by-creator')).toEqual(['return_months']);
    expect(await tablesOf('returns-by-campaign')).toEqual(['return_months', 'dealflow_versions']);
  });

  it('are exactly those that the comments of the views and functions name', async () => {
    const { db } = await setup();
    const { rows } = await sql<{ name: string; comment: string }>`
      select 'bi.' || relname as name, obj_description(oid, 'pg_class') as comment
      from pg_class where relnamespace = 'bi'::regnamespace and relkind = 'v'
      union all
      select 'bi.' || proname, obj_description(oid, 'pg_proc') from pg_proc where pronamespace = 'bi'::regnamespace
      order by 1`.execute(db);
    const named = rows.map(({ name, comment }) => ({ name, titles: titlesIn(comment) }));
    const asked = rows.map(({ name }) => ({
      name,
      titles: questions
        .filter(({ view }) => view === name)
        .map(({ title }) => title)
        .sort(),
    }));
    expect(named).toEqual(asked);
    expect(questions.filter(({ view }) => !rows.some(({ name }) => name === view))).toEqual([]);
  });
});

test('bi.brand_performance_daily never sums amounts of two currencies', async () => {
  const { db } = await setup();
  await tellStory(db);
  const { rows } = await sql<{ days: string; sums: string }>`
    select count(*) as days, count(distinct currency) as sums from bi.brand_performance_daily`.execute(db);
  expect(rows).toEqual([{ days: '2', sums: '2' }]);
});

/** Returns the questions listed after `Answers:` in a comment. */
function titlesIn(comment: string): readonly string[] {
  const [, titles = ''] = comment.split('Answers: ');
  return titles
    .split(/(?<=\?) /)
    .filter((title) => title !== '')
    .sort();
}

async function answerAll(db: Database, questions: readonly Question[]): Promise<Record<string, unknown>> {
  const { ordered } = await tellStory(db);
  const answers: Record<string, unknown> = {};
  for (const { slug, sql: text } of questions) {
    const { rows } = await queryViews(db, { text, limit: 100, timeoutMs: 30_000 });
    answers[slug] = rows.map((row) => row.map((cell) => nameDays(cell, ordered)));
  }
  return answers;
}

function nameDays(cell: string | null, ordered: string): string | null {
  if (cell === ordered) return 'DAY';
  if (cell === `${ordered.slice(0, 7)}-01`) return 'MONTH';
  return cell === null ? null : cell.replace(/^\d{4}-\d\d-\d\dT.*$/, 'TIME');
}
