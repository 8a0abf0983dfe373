import { formatMoney } from '../model/money.ts';
import { fileName } from '../model/text/file-name.ts';
import { wrap } from '../model/text/wrap.ts';
import type { OrderAttribution, OrderEntry, OrderLife, OrderVersion } from '../report/explain-order.ts';
import type { Screen } from './screen.ts';
import { formatInstant, plural } from './text.ts';

/** The life of one order on one screen, from the line of the file to the answer of the service. */
export function renderOrderLife(life: OrderLife, screen: Screen): string {
  const name = life.orderName === null || life.orderName === life.orderId ? '' : ` (${life.orderName})`;
  const source = life.source === null ? '' : ` of ${life.source}`;
  return [
    screen.style('bold', `Order ${life.orderId}${name}${source}. Times are in UTC.`),
    '',
    screen.style('bold', 'Stated by'),
    ...(life.versions.length === 0
      ? ['  no file that is still known']
      : life.versions.flatMap((version) => renderVersion(version, screen))),
    '',
    screen.style('bold', 'Attributed'),
    ...(life.attributions.length === 0
      ? ['  not yet']
      : life.attributions.flatMap((one) => renderAttribution(one, screen))),
    '',
    screen.style('bold', 'Posted'),
    ...(life.entries.length === 0
      ? ['  no: nothing was or will be sent for it as it stands']
      : life.entries.flatMap((entry) => renderEntry(entry, screen))),
  ].join('\n');
}

function renderVersion(version: OrderVersion, screen: Screen): readonly string[] {
  const { fileState, isCurrent } = version;
  const role =
    fileState !== 'sealed'
      ? `file is ${fileState}: does not count`
      : isCurrent
        ? 'in force'
        : 'replaced since';
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
    version.codes.length === 0
      ? 'no code'
      : `${version.codes.length === 1 ? 'code' : 'codes'} ${version.codes.join(', ')}`,
    version.links.length === 0 ? '' : `links ${version.links.join(', ')}`,
    version.exclusion === null ? '' : `marked by the layout: ${version.exclusion.replaceAll('_', ' ')}`,
  ];
  const place = `${fileName(version.uri)} line ${version.line}, ${plural(version.rows, 'row')}, run ${version.runId} (${role})`;
  return [entry(formatInstant(version.firstSeenAt), place, screen), more(join(facts), screen)];
}

function renderAttribution(one: OrderAttribution, screen: Screen): readonly string[] {
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
  const facts = join([why ?? '', ...whose, amount]);
  const title = `${one.outcome}${reason} (job ${one.job})`;
  return [entry(formatInstant(one.decidedAt), title, screen), ...(facts === '' ? [] : [more(facts, screen)])];
}

const STATE_COLORS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  accepted: 'green',
  in_doubt: 'red',
  rejected: 'yellow',
  held: 'yellow',
};

function renderEntry(of: OrderEntry, screen: Screen): readonly string[] {
  const color = STATE_COLORS[of.state];
  const state = of.state.replaceAll('_', ' ');
  const shown = color === undefined ? state : screen.style(color, state);
  const amount = of.amount === null ? '' : formatMoney(of.amount, of.currency);
  const credited = [
    of.dealId === null ? '' : `deal ${of.dealId}`,
    of.collabId === null ? '' : `collaboration ${of.collabId}`,
  ];
  const facts = join([amount, ...credited, of.stateReason ?? '']);
  return [
    `  entry ${of.entryId} is ${shown} since ${formatInstant(of.stateChangedAt)}`,
    ...(facts === '' ? [] : [wrap(facts, { width: screen.columns, indent: '    ' })]),
    ...of.events.flatMap(({ at, kind, text, detail }) => [
      entry(formatInstant(at), `${kind.padEnd(8)} ${text.replaceAll('_', ' ')}`, screen),
      ...(detail === null ? [] : [more(detail, screen)]),
    ]),
    ...(of.state === 'in_doubt' ? [`  Settle it: npx influencer-sync review ${of.entryId} --help`] : []),
  ];
}

const INDENT = ' '.repeat(23);

function entry(time: string, text: string, screen: Screen): string {
  return wrap(text, { width: screen.columns, firstIndent: `  ${time}  `, indent: INDENT });
}

function more(text: string, screen: Screen): string {
  return screen.style('dim', wrap(text, { width: screen.columns, indent: INDENT }));
}

function join(facts: readonly string[]): string {
  return facts.filter((fact) => fact !== '').join(', ');
}
