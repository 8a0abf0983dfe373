import { formatAmounts } from '../../core/money.ts';
import type { Html } from '../../core/text/html.ts';
import { html } from '../../render/html/html.ts';
import type { WaitingOrders } from '../../reports/status/read-overview.ts';
import type { Needs } from '../../reports/status/read-status.ts';
import type { Visit } from '../console-page.ts';
import { COUNT_LIMIT } from '../read-query.ts';
import { countOf, figure } from './parts.ts';

type Waiting = {
  readonly needs: Needs;
  readonly waitingOrders: readonly WaitingOrders[];
  readonly rejectedRows: number;
};

type Money = { readonly amount: string; readonly currency: string | null };

type Need = {
  readonly label: string;
  readonly count: number;
  readonly tone: 'red' | 'yellow';
  /** Address of the list of exactly these items. */
  readonly href: string;
  readonly amounts?: readonly Money[];
  /** Whether there are more items, and more money, than were counted. */
  readonly isPart?: boolean;
  readonly note: string;
};

/** Shows everything that waits for a person, with the money at stake. Each figure links to its items. */
export function needsOfPerson(waiting: Waiting, visit: Visit): Html {
  const found = listNeeds(waiting, visit).filter(({ count }) => count > 0);
  if (found.length === 0) return html`<p class="green">Nothing needs your attention.</p>`;
  return html`<div class="figures">${found.map(
    ({ label, count, tone, href, amounts = [], isPart = false, note }) =>
      figure(label, countOf(count, isPart), {
        tone,
        href,
        note: html`${isPart && amounts.length > 0 ? 'more than ' : null}${formatAmounts(amounts)} ${note}`,
      }),
  )}</div>`;
}

function listNeeds({ needs, waitingOrders, rejectedRows }: Waiting, { link }: Visit): readonly Need[] {
  const inDoubt = needs.backlog.filter(({ state }) => state === 'in_doubt');
  const orders = (wanted: string) => {
    const groups = waitingOrders.filter(({ disposition }) => disposition === wanted);
    return { count: groups.reduce((sum, group) => sum + group.orders, 0), amounts: groups };
  };
  return [
    {
      label: 'In doubt',
      count: inDoubt.reduce((sum, { entries }) => sum + entries, 0),
      amounts: inDoubt.filter(({ currency }) => currency !== null),
      isPart: inDoubt.some(({ isPart }) => isPart),
      tone: 'red',
      href: link('/doubts'),
      note: 'sent, but no answer says whether they were credited',
    },
    {
      label: 'Credited more than once',
      count: needs.doubleCredits.length,
      amounts: needs.doubleCredits.flatMap(({ amount, currency }) =>
        amount === null ? [] : [{ amount, currency }],
      ),
      tone: 'red',
      href: link('/doubts'),
      note: 'correct them in the service',
    },
    {
      label: 'Refused by the service',
      ...orders('rejected'),
      tone: 'yellow',
      href: link('/orders', { disposition: 'rejected' }),
      note: 'correct the cause, then send them again',
    },
    {
      label: 'Held orders',
      count: needs.heldOrders.reduce((sum, group) => sum + group.orders, 0),
      amounts: needs.heldOrders,
      tone: 'yellow',
      href: link('/held'),
      note: 'not sent until what is missing is known, or you decide',
    },
    {
      label: 'Held files',
      count: needs.heldFiles.length,
      tone: 'yellow',
      href: link('/files', { state: 'held' }),
      note: 'none of their rows count until you release or correct them',
    },
    {
      label: 'Rejected rows',
      count: Math.min(rejectedRows, COUNT_LIMIT),
      isPart: rejectedRows > COUNT_LIMIT,
      tone: 'yellow',
      href: link('/rejected'),
      note: 'rows of files that could not be used',
    },
    {
      label: 'Sent, but lost from the database',
      count: needs.waitingClaims.claims,
      amounts: needs.waitingClaims.amounts,
      tone: 'yellow',
      href: link('/doubts'),
      note: 'no file has stated these orders since',
    },
  ];
}
