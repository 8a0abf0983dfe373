import { describeBulk } from '../../../core/bulk.ts';
import { column, number } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { listBulks } from '../../../reports/bulk/read-bulk.ts';
import type { ConsolePage } from '../../console-page.ts';
import { anchor, badge, instant, pagedTable } from '../../markup/parts.ts';
import { idOf, PAGE_ROWS } from '../../read-query.ts';

const PATH = '/bulk';

/** All previewed bulk actions and their results. */
export const bulksPage: ConsolePage = {
  path: PATH,
  place: 'Fix',
  tab: 'Bulk decisions',
  async show(visit) {
    const bulks = await listBulks(visit.db, { limit: PAGE_ROWS + 1, after: idOf(visit, 'after') });
    return {
      title: 'Bulk decisions',
      content: html`<p>Decisions about many entries or files. You make one on the pages ${anchor(visit.link('/doubts'), 'Unclear')} and ${anchor(visit.link('/files', { state: 'held' }), 'Files')}.</p>
${pagedTable(
  bulks,
  [
    column('Bulk action', ({ bulkId }) => anchor(visit.link(`${PATH}/${bulkId}`), bulkId)),
    column('State', ({ state }) => badge(state)),
    column('What', describeBulk),
    column('Chosen', ({ chosen }) => chosen),
    column('Who', ({ createdBy, confirmedBy }) => confirmedBy ?? createdBy),
    column('Previewed', ({ createdAt }) => instant(createdAt, visit)),
    number('Settled', ({ settled }) => formatCount(settled)),
    column('Why', ({ reason }) => reason),
  ],
  { visit, about: 'Bulk actions', none: 'There are no bulk actions yet.', keyOf: ({ bulkId }) => bulkId },
)}`,
    };
  },
};
