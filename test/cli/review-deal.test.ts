import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { reviewDoubt } from '../../src/cli/review/review-doubt.ts';
import { createOutput } from '../../src/cli/terminal/output.ts';
import { renderBlocks } from '../../src/render/render-blocks.ts';
import { describeAllDoubts } from '../../src/reports/doubts/doubts.ts';
import { listDoubts } from '../../src/reports/doubts/list-doubts.ts';
import { seedRuns } from '../reports/seed.ts';
import { setup } from '../support/setup.ts';

it('an order that was sent for a handle can be accepted only for a deal, and the deals of the mirror are suggested', async () => {
  const { db } = await setup();
  const { lostId, runId } = await seedRuns(db);
  const output = createOutput({ stdout: process.stdout, stderr: process.stderr, json: false });
  const options = { accepted: true, reason: 'it is listed' };
  const refused = () =>
    reviewDoubt({ db, output, entryId: lostId, options }).then(
      () => '',
      (error: { details: { message: string; help: string } }) =>
        `${error.details.message} ${error.details.help}`,
    );
  expect(await refused()).toMatch(
    /handle mara\.paints\. The mirror knows no deal of mara\.paints\.[\s\S]*--deal ID/,
  );

  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, brand_id, is_active, raw, row_hash, valid_from, first_seen_at, run_id)
    values ('D7', '@Mara.Paints', '4819', true, '{}', 'a', now(), now(), ${runId}), ('D8', 'mara.paints', '4820', false, '{}', 'b', now(), now(), ${runId}),
      ('D9', 'somebody', '4819', true, '{}', 'c', now(), now(), ${runId})`.execute(db);
  const told = await refused();
  expect(told).toContain('  --deal D7   (brand 4819)\n  --deal D8   (brand 4820, not active)');
  expect(told).not.toContain('D9');
  const doubts = await listDoubts(db, {});
  expect(renderBlocks(describeAllDoubts({ doubts }), output.terminal)).toContain('deal unknown');
});
