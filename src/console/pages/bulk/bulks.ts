import { describeBulk } from '../../../core/bulk.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount } from '../../../render/text.ts';
import { listBulks } from '../../../reports/bulk/read-bulk.ts';
import type { ConsolePage } from '../../console-page.ts';
import { anchor, badge, instant, pager, table } from '../../markup/parts.ts';
import { idOf, nextKey, PAGE_ROWS } from '../../read-query.ts';

const PATH = '/bulk';

/** All previewed bulk actions and their results. */
export const bulksPage: ConsolePage = {
  path: PATH,
  navigation: null,
  async show(visit) {
    const bulks = await listBulks(visit.db, { limit: PAGE_ROWS + 1, after: idOf(visit, 'after') });
    return {
      title: 'Bulk actions',
      content: html`<p>Decisions about many entries or files. You make one on the pages ${anchor(visit.link('/doubts'), 'Doubts')} and ${anchor(visit.link('/files', { state: 'held' }), 'Files')}.</p>
${table(
  [
    { title: 'Bulk action', cell: ({ bulkId }) => anchor(visit.link(`${PATH}/${bulkId}`), bulkId) },
    { title: 'State', cell: ({ state }) => badge(state) },
    { title: 'What', cell: describeBulk },
    { title: 'Chosen', cell: ({ chosen }) => chosen },
    { title: 'Who', cell: ({ createdBy, confirmedBy }) => confirmedBy ?? createdBy },
    { title: 'Previewed', cell: ({ createdAt }) => instant(createdAt, visit) },
    { title: 'Settled', align: 'right', cell: ({ settled }) => formatCount(settled) },
    { title: 'Why', cell: ({ reason }) => reason },
  ],
  bulks.slice(0, PAGE_ROWS),
  { about: 'Bulk actions', none: 'There are no bulk actions yet.' },
)}
${pager(visit, PATH, { after: nextKey(bulks, ({ bulkId }) => bulkId) })}`,
    };
  },
};
