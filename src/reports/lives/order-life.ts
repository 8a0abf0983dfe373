import { describeBasis } from '../../core/file-age.ts';
import { heldReason } from '../../core/held/held-order.ts';
import { formatMoney } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import type { Terminal } from '../../render/terminal.ts';
import { markLookAlikes, plural } from '../../render/text.ts';
import { datedLine, detailLine, joinFacts, renderEntryLife } from './entry-life.ts';
import type { OrderAttribution, OrderLife, OrderVersion } from './explain-order.ts';

/** Renders the history of one order, from the line in the file to the service's answer. */
export function renderOrderLife(life: OrderLife, terminal: Terminal): string {
  const name = life.orderName === null || life.orderName === life.orderId ? '' : ` (${life.orderName})`;
  const source = life.source === null ? '' : ` of ${life.source}`;
  return [
    terminal.style('bold', `Order ${life.orderId}${name}${source}. Times are in UTC.`),
    '',
    terminal.style('bold', 'Stated by'),
    ...(life.hasPrunedVersions ? ['  earlier versions, which were pruned (retention.order_versions)'] : []),
    ...(life.versions.length === 0
      ? ['  no known file']
      : life.versions.flatMap((version) => renderVersion(version, terminal))),
    '',
    terminal.style('bold', 'Attributed'),
    ...(life.attributions.length === 0
      ? ['  not yet']
      : life.attributions.flatMap((one) => renderAttribution(one, terminal))),
    '',
    terminal.style('bold', 'Posted'),
    ...(life.entries.length === 0
      ? ['  none: nothing was sent for it, and nothing will be unless it changes']
      : life.entries.flatMap((entry) => renderEntryLife(entry, terminal))),
  ].join('\n');
}

function adviceOn(reason: string): string {
  const { what, fix } = heldReason(reason);
  return `${what}. ${fix}`;
}

function renderVersion(version: OrderVersion, terminal: Terminal): readonly string[] {
  const { fileState, isCurrent, isOlder } = version;
  const role =
    fileState !== 'sealed'
      ? `file is ${fileState}: does not count`
      : isCurrent
        ? 'in force'
        : isOlder
          ? `older ${describeBasis(version.ageBasis)}: changed nothing`
          : 'replaced';
  const amounts = [
    version.total === null ? '' : `total ${formatMoney(version.total, version.currency)}`,
    version.subtotal === null ? '' : `subtotal ${formatMoney(version.subtotal, version.currency)}`,
    version.refunded === null ? '' : `refunded ${formatMoney(version.refunded, version.currency)}`,
  ];
  const facts = [
    ...amounts,
    version.status === null ? '' : `status ${version.status.replaceAll('_', ' ')}`,
    version.placedAt === null ? '' : `placed ${formatInstant(version.placedAt)}`,
    version.cancelledAt === null ? '' : `cancelled ${formatInstant(version.cancelledAt)}`,
    version.changedAt === null ? '' : `last changed ${formatInstant(version.changedAt)}`,
    version.codes.length === 0
      ? 'no code'
      : `${version.codes.length === 1 ? 'code' : 'codes'} ${version.codes.map(markLookAlikes).join(', ')}`,
    version.links.length === 0 ? '' : `links ${version.links.join(', ')}`,
    version.otherIds.length === 0 ? '' : `tags name order ${version.otherIds.join(', ')}`,
    version.doubt === null ? '' : `in doubt: ${version.doubt.replaceAll('_', ' ')}`,
    version.exclusion === null ? '' : `marked by the layout: ${version.exclusion.replaceAll('_', ' ')}`,
  ];
  const place = `${fileName(version.uri)} line ${version.line}, ${plural(version.rows, 'row')}, run ${version.runId} (${role})`;
  return [
    datedLine(formatInstant(version.firstSeenAt), place, terminal),
    detailLine(joinFacts(facts), terminal),
  ];
}

function renderAttribution(one: OrderAttribution, terminal: Terminal): readonly string[] {
  const whose = [
    one.influencerHandle === null ? '' : `influencer ${one.influencerHandle}`,
    one.dealId === null ? '' : `deal ${one.dealId}`,
    one.collabId === null ? '' : `collaboration ${one.collabId}`,
    one.brandId === null ? '' : `brand ${one.brandId}`,
  ];
  const why =
    one.matchedBy === null ? one.matchedValue : `by ${one.matchedBy} ${one.matchedValue ?? ''}`.trim();
  const reason = one.reason === null ? '' : `: ${one.reason.replaceAll('_', ' ')}`;
  const amount = one.amount === null ? '' : formatMoney(one.amount, one.currency);
  const facts = joinFacts([why ?? '', ...whose, amount]);
  const title = `${one.outcome}${reason} (job ${one.job})`;
  return [
    datedLine(formatInstant(one.decidedAt), title, terminal),
    ...(facts === '' ? [] : [detailLine(facts, terminal)]),
    ...(one.outcome === 'held' && one.reason !== null ? [detailLine(adviceOn(one.reason), terminal)] : []),
    ...(one.claims === null ? [] : [detailLine(`evidence for several owners: ${one.claims}`, terminal)]),
  ];
}
