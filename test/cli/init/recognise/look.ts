import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { proposedJob } from '../../../../jobs/attribute-orders/previewed-job.ts';
import type { OrdersExamined } from '../../../../src/cli/init/recognise/examine-orders.ts';
import type { OrdersPreview } from '../../../../src/cli/init/recognise/preview-orders.ts';
import {
  type Recognised,
  type RecogniseOptions,
  recognise,
} from '../../../../src/cli/init/recognise/recognise.ts';
import { sourceAt } from '../../../../src/config/source-fields.ts';
import type { StatedRoles } from '../../../../src/core/layout.ts';
import { loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import type { Layout } from '../../../../src/intake/layout/to-layout.ts';
import { openSourceClients } from '../../../../src/store/source-clients.ts';
import type { Ended } from '../../../runs/workshop.ts';
import { makeTestFolder } from '../../../support/setup.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** A folder with these files. */
export function folderWith(files: Files): string {
  const folder = makeTestFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/**
 * Recognises what is in a folder.
 *
 * @param stated the roles of columns, as a person has answered.
 * @param accepted the names of layouts that a person has accepted.
 */
export async function look(
  place: string,
  stated: StatedRoles = new Map(),
  {
    accepted = [],
    layouts = loadLayouts(),
  }: Pick<RecogniseOptions, 'accepted'> & { readonly layouts?: readonly Layout[] } = {},
): Promise<Recognised> {
  const clients = openSourceClients();
  onTestFinished(() => clients.close());
  const settingsOf = () => ({ job: proposedJob({ brandId: '4819', include: null }) });
  return recognise({
    source: sourceAt(place),
    clients,
    layouts,
    taken: new Set(),
    settingsOf,
    stated,
    accepted,
  });
}

/** Returns name, layout, path and files of each source, and the refused ones. */
export function summary({ sources, refused }: Recognised): readonly string[] {
  return [
    ...sources.map(
      ({ name, path, files, examined, proposed, encoding }) =>
        `${name} ${proposed === null ? examined.layout.name : 'proposed'} ${path} ${files.length}${encoding === null ? '' : ` ${encoding}`}`,
    ),
    ...refused.map(({ name, code }) => `${name} ${code}`),
  ];
}

/** What was found in a source of orders. */
export function ordersOf({ sources }: Recognised, at = 0): OrdersExamined {
  const examined = sources[at]?.examined;
  if (examined?.kind !== 'orders') throw new Error('no orders were recognised');
  return examined;
}

/** The events that a command has written. */
export function eventsOf(stdout: string): readonly Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** `reason [status]: orders amount` for each reason, sorted. */
function heldOf(groups: readonly Record<string, unknown>[]): readonly string[] {
  return groups
    .map(({ reason, status, orders, amount }) => `${reason} ${status ?? ''}: ${orders} ${amount}`)
    .toSorted();
}

/** What a preview says: orders to be credited, with their revenue, held and excluded. */
export function answerOf(event: unknown): object {
  const {
    credited,
    revenue,
    organic,
    excluded,
    held_orders: held,
  } = event as Record<string, unknown> &
    Pick<OrdersPreview, 'credited' | 'revenue' | 'organic' | 'excluded'> & {
      held_orders: readonly (Record<string, unknown> & { revenue: readonly { amount: string }[] })[];
    };
  return {
    credited,
    revenue: revenue.map(({ currency, amount }) => `${amount} ${currency}`),
    organic,
    excluded: Object.fromEntries(excluded.map(({ reason, orders }) => [reason, orders])),
    held: heldOf(held.map((group) => ({ ...group, amount: group.revenue[0]?.amount ?? null }))),
  };
}

/** What a run has done with the orders, to compare it with the answer of a preview. */
export function outcomeOf(
  { finished }: Pick<Ended, 'finished'>,
  held: readonly Record<string, unknown>[],
): object {
  return {
    credited: finished?.counts?.entries.accepted,
    revenue: finished?.amounts?.map(({ currency, accepted }) => `${accepted} ${currency}`),
    organic: finished?.counts?.organic,
    excluded: finished?.counts?.excluded,
    held: heldOf(held.filter((one) => one.event === 'held_orders')),
  };
}
