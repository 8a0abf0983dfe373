import { PROBLEM_KINDS } from '../../core/notify/notice.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount, plural } from '../../render/text.ts';
import { type ListedNotice, listChannelTroubles, listNotices } from '../../reports/notices/list-notices.ts';
import { definePage } from '../console-page.ts';
import { byOption, readFilter } from '../markup/filter.ts';
import { amountList, badge, noted, pagedTable, tablePart } from '../markup/parts.ts';
import { taskList } from '../markup/task-list.ts';
import { pageOf } from '../read-query.ts';

/** What waits for a person, as Home lists it, sent notices, and whether each was delivered. */
export const noticesPage = definePage('/notices', async (visit) => {
  const { filter, form } = readFilter(visit, { problem: byOption('Problem', PROBLEM_KINDS) });
  const [problems, troubles, notices] = await Promise.all([
    visit.waiting(),
    listChannelTroubles(visit.db),
    listNotices(visit.db, { ...filter, ...pageOf(visit) }),
  ]);
  const { channels } = visit.config.notify;
  return {
    title: 'Notices',
    content: html`<p>${
      channels.length === 0
        ? 'No channel is configured (notify.channels), so no notice is sent. What waits for a person is listed here and on Home.'
        : `Notices are sent through ${channels.map(({ name }) => name).join(', ')}.`
    }</p>
<h2>Open problems</h2>
${taskList(problems, visit)}
${tablePart('Channels that do not accept notices', { rows: troubles }, [
  column('Channel', ({ channel }) => channel),
  number('Waiting', ({ failing }) => formatCount(failing)),
  number('Given up', ({ givenUp }) => formatCount(givenUp)),
  column('Why', ({ lastError }) => lastError),
  column('Since', ({ since }) => visit.instant(since)),
  column('Next', ({ channel }) => html`<code>npx influencer-sync notify test ${channel}</code>`),
])}
<h2>Notices</h2>
${form()}
${pagedTable({ rows: notices, visit, about: 'Notices', none: 'No notice was sent yet.', key: 'noticeId' }, [
  column('When', ({ createdAt }) => visit.instant(createdAt)),
  column('Event', ({ event }) => badge(event)),
  column('Severity', ({ event, severity }) =>
    event === 'opened' || event === 'reminded' ? badge(severity) : null,
  ),
  column('Problem', ({ problem, job }) => noted(problem.replaceAll('_', ' '), job)),
  column('Summary', ({ summary }) => summary),
  number('Amount', ({ amounts }) => amountList(amounts)),
  column('Delivered', ({ deliveries }) => deliveryList(deliveries)),
])}`,
  };
});

function deliveryList(deliveries: ListedNotice['deliveries']): Html | string {
  if (deliveries.length === 0) return 'no channel';
  return html`${deliveries.map(
    ({ channel, state, attempts, lastError }) =>
      html`<div>${channel} ${badge(state)}${lastError === null || state === 'sent' ? null : html` <small>${lastError}, ${plural(attempts, 'attempt')}</small>`}</div>
`,
  )}`;
}
