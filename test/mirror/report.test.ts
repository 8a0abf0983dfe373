import { expect, it } from 'vitest';
import { renderMirror } from '../../jobs/mirror-account/render.ts';
import { renderRunSummary } from '../../src/render/report-renderer.ts';
import { plainTerminal } from '../support/plain-terminal.ts';
import { knowDeals, type MirrorRun, openStory } from './story.ts';
import { dealRecord } from './stub-service.ts';

function show({ finished, report }: MirrorRun, isPlan = false): string {
  return renderRunSummary(
    { finished, report, isPlan },
    { renderer: renderMirror, terminal: plainTerminal(80) },
  );
}

it('a summary lists changes, partial reads, unreadable answers and drift', async () => {
  const { service, db, run } = await openStory();
  service.brands = { items: [{ id: 1, name: 'Acme' }], has_more: true };
  service.deals.set('A', dealRecord('A', { is_active: 'yes' }));
  service.override = ({ query }) => (query.deal_id === 'B' ? { body: { message: 'soon' } } : null);
  await knowDeals(db, ['A', 'B', 'C']);
  const result = await run();
  const text = show(result);
  expect(text).toContain('Sent 5 requests, discovered 3 new deals.');
  expect(text).toMatch(/ {2}deals +1 +0 +0 +0\n/);
  expect(text).toMatch(/ {2}codes\.csv +3 +0 +1 +0 +0 +2 +0 /);
  expect(text).toContain('The list of brands is not complete: the answer says that there is more');
  expect(text).toContain('1 × deal: HTTP 404: Deal not found.');
  expect(text).toContain('1 × deal: the answer contains no deal');
  expect(text).toContain('deal.is_active should be true or false and is text, in 1 record, for example A');
  expect(text).toContain('3 deals requested = 1 new + 2 not read');
  expect(text.split('\n').every((line) => line.length <= 80)).toBe(true);
  const { did, events } = renderMirror;
  expect(did(result.report.counts)).toBe('3 read, 1 new or changed');
  expect(events?.(result.report)).toMatchObject([{ event: 'drift', field: 'is_active' }]);
});

it('a plan lists the number of requests of each kind, and reports if the budget is too small', async () => {
  const { db, plan } = await openStory();
  await knowDeals(db, ['A', 'B', 'C']);
  const text = show(await plan({ budget: 4, autocompleteBudget: 2 }), true);
  const words = text.replace(/\s+/g, ' ');
  expect(text).toMatch(/3 {2}deals that are due: codes\.csv 3\n/);
  expect(words).toContain('At most 4 requests (budget), 2 of them to search for deals.');
  expect(words).toContain('The rest waits for the next run');
});
