import { formatMoney } from '../../core/money.ts';
import type { Html } from '../../core/text/html.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatCount, formatDuration } from '../../render/text.ts';
import type { ListedRun } from '../../reports/runs/list-runs.ts';
import type { Visit } from '../console-page.ts';
import { wordOf } from '../read-query.ts';
import { anchor, badge, table } from './parts.ts';

type Compared = {
  readonly name: string;
  readonly before: Html | string;
  readonly now: Html | string;
  readonly difference: string;
};

/** Compares two runs of a job: status, duration, and the counts that differ. */
export function compareRuns(before: ListedRun, now: ListedRun, visit: Visit): Html {
  const rows: readonly Compared[] = [
    { name: 'Status', before: badge(before.status), now: badge(now.status), difference: '' },
    {
      name: 'Took',
      before: formatDuration(before.seconds),
      now: formatDuration(now.seconds),
      difference: '',
    },
    ...compareCounts(before.counts, now.counts),
    ...compareAmounts(before, now),
  ];
  const about = `Run ${now.runId} compared with run ${before.runId}`;
  return html`<p>Run ${anchor(visit.link(`/runs/${before.runId}`), before.runId)} is the one before.${before.counts === null ? ' It stored no counts.' : null}</p>
${table(
  rows,
  [
    column('What', ({ name }: Compared) => name),
    number(`Run ${before.runId}`, (row) => row.before),
    number(`Run ${now.runId}`, (row) => row.now),
    number('Difference', ({ difference }) => difference),
  ],
  { about, none: 'Nothing to compare.' },
)}`;
}

function compareCounts(before: object | null, now: object | null): readonly Compared[] {
  const [old, current] = [flatten(before ?? {}), flatten(now ?? {})];
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((name) => {
    const [one, other] = [old.get(name), current.get(name)];
    // What a run does not count is 0 of it: a job's counts may have grown since.
    if ((one ?? 0) === (other ?? 0)) return [];
    return {
      name: name.split(': ').map(wordOf).join(': '),
      before: shown(one),
      now: shown(other),
      difference:
        typeof one === 'number' && typeof other === 'number' && one !== other
          ? `${other > one ? '+' : '−'}${formatCount(Math.abs(other - one))}`
          : '',
    };
  });
}

/** Flattens counts: `{entries: {accepted: 3}}` becomes `entries: accepted` with 3. */
function flatten(counts: object, prefix = ''): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(counts).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null
        ? [...flatten(value, `${prefix}${name}: `)]
        : [[`${prefix}${name}`, value] as const],
    ),
  );
}

function shown(value: unknown): string {
  if (typeof value === 'number') return formatCount(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : '';
}

/** One row per currency. Amounts are exact text, so no difference is computed. */
function compareAmounts(before: ListedRun, now: ListedRun): readonly Compared[] {
  const [old, current] = [before.amounts ?? [], now.amounts ?? []];
  const currencies = [...new Set([...current, ...old].map(({ currency }) => currency))].sort();
  const amountIn = (amounts: typeof old, currency: string): string => {
    const found = amounts.find((one) => one.currency === currency);
    return found === undefined ? '' : formatMoney(found.accepted, currency);
  };
  return currencies.map((currency) => ({
    name: `${wordOf('accepted')}, ${currency}`,
    before: amountIn(old, currency),
    now: amountIn(current, currency),
    difference: '',
  }));
}
