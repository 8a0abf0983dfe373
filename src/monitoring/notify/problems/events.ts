import { plural } from '../../../core/text/plural.ts';
import { listUnreadEvents } from '../../../reports/list-unread-events.ts';
import type { Found, ProblemFinder } from './problem-finder.ts';

export const eventsUnread: ProblemFinder = {
  kind: 'events_unread',
  title: 'Events cannot be read',
  async find({ db }) {
    const unread = await listUnreadEvents(db);
    const [first] = unread;
    if (first === undefined) return [];
    const found: Found = {
      job: null,
      severity: 'warning',
      since: first.since,
      amounts: [],
      summary: unread.map(sayWhy).join(' '),
      command: 'npx influencer-sync doctor --service',
      page: '/',
    };
    return [found];
  },
  over: () => 'An event of the service was read.',
};

function sayWhy({ what, events, proposal }: Awaited<ReturnType<typeof listUnreadEvents>>[number]): string {
  return what === 'signature'
    ? `Events are signed with the account's secret, but in another way than service.events says, and were refused. These settings fit: ${proposal ?? ''}.`
    : `${plural(events, 'event')} of orders had no order id where service.events.members says, and settled nothing.`;
}
