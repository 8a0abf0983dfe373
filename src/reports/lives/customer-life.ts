import { formatMoney } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatCount, plural } from '../../render/text.ts';
import type { CustomerLife } from './explain-customer.ts';

/** Renders the history of a customer of one brand, without the e-mail address. */
export function renderCustomerLife(life: CustomerLife, terminal: Terminal): string {
  const { brandId, customerHash, source, firstSeenAt, ordersCount, spent, currency } = life;
  const orders = ordersCount === null ? [] : [plural(ordersCount, 'order')];
  const money =
    spent === null ? [] : [currency === null ? `${spent} spent` : `${formatMoney(spent, currency)} spent`];
  const lines = [
    ['read', `from ${source}, first on ${formatInstant(firstSeenAt).slice(0, 16)}`],
    ['stands', describeState(life)],
    ['consent', describeConsentOf(life)],
    ['says', [...orders, ...money].join(', ')],
    ['looked up', describeLookup(life)],
    ['hash', customerHash],
  ] as const;
  return [
    terminal.style('bold', `Customer of brand ${brandId}`),
    ...lines
      .filter(([, text]) => text !== '')
      .map(([name, text]) =>
        wrap(text, { width: terminal.columns, firstIndent: `  ${name.padEnd(11)}`, indent: ' '.repeat(13) }),
      ),
  ].join('\n');
}

function describeState(life: CustomerLife): string {
  const { state, stateReason, isWaiting, submissions, submittedAt, runId, sourceType } = life;
  const label = sourceType === null ? '' : ` with the label "${sourceType}"`;
  const when = submittedAt === null ? '' : ` on ${formatInstant(submittedAt).slice(0, 16)}`;
  const again = isWaiting ? '; waits to be submitted again' : '';
  if (state === 'submitted')
    return `submitted${when}${label}, by run ${runId ?? '?'}${submissions > 1 ? `, ${formatCount(submissions)} times in total` : ''}${again}`;
  if (state === 'refused') return `refused by the service: ${stateReason ?? 'no reason was given'}${again}`;
  if (state === 'unsubscribed')
    return submittedAt === null
      ? 'not submitted: consent is no (unsubscribed)'
      : `not submitted again: consent is no (unsubscribed); was${when}`;
  return isWaiting ? 'waits to be submitted' : 'read, but its file does not count yet';
}

function describeConsentOf({ consent, consentedAt, refusedAt }: CustomerLife): string {
  const day = (at: Date) => formatInstant(at).slice(0, 16);
  if (consent === 'unknown') return 'unknown: submitted only if a setting permits it';
  if (consent === 'yes') return consentedAt === null ? 'yes, without a date' : `yes, on ${day(consentedAt)}`;
  return refusedAt === null
    ? 'no'
    : `no, known to hold until ${day(refusedAt)}; only a yes with a later date replaces it`;
}

function describeLookup({ lookup }: CustomerLife): string {
  if (lookup === null) return '';
  const when = `on ${formatInstant(lookup.lookedUpAt).slice(0, 16)}`;
  if (lookup.outcome === 'no_match') return `${when}: no match`;
  if (lookup.outcome === 'refused') return `${when}: refused, ${lookup.message ?? 'without a reason'}`;
  const followers = lookup.followers === null ? '' : ` with ${plural(Number(lookup.followers), 'follower')}`;
  return `${when}: ${lookup.username ?? 'an influencer'}${lookup.platform === null ? '' : ` on ${lookup.platform}`}${followers}`;
}
