import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { FileHeld } from '../../core/held/file-held.ts';
import { packageFile } from '../../core/package.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { provenBy } from './resolve-header.ts';
import type { Layout } from './to-layout.ts';

const text = z.string().trim().min(1);
const notOrders = z.array(
  z.strictObject({
    name: text,
    title: text,
    /** Sets of columns, each of which proves that a file is this export. */
    signature: z.array(z.array(text).min(2)).min(1),
    /** Why its rows are no orders. */
    why: text,
    /** The export to use instead. */
    instead: text.default('the export of orders of the shop in which people paid.'),
  }),
);

/** An export that looks like orders and is none: of an affiliate network, of payouts, of a payment provider. */
export type NotOrders = z.output<typeof notOrders>[number];

const known: { kinds?: readonly NotOrders[] } = {};

/** Lists the exports of `config/not-orders.yaml`. */
export function listNotOrders(): readonly NotOrders[] {
  known.kinds ??= notOrders.parse(parse(readFileSync(packageFile('config/not-orders.yaml'), 'utf8')));
  return known.kinds;
}

/**
 * Refuses a file that is known to contain no orders. A layout with a signature that the header contains was
 * written for the file, so it decides.
 *
 * @throws FileHeld `not_orders`.
 */
export function refuseNotOrders(header: readonly string[], layout: Layout | null): void {
  if (layout !== null && provenBy(layout, header) > 0) return;
  const names = new Set(header.map(foldHeader));
  const kind = listNotOrders().find(({ signature }) =>
    signature.some((columns) => columns.every((name) => names.has(foldHeader(name)))),
  );
  if (kind === undefined) return;
  throw new FileHeld({
    code: 'not_orders',
    message: `The file is of the kind ${kind.title}, not of orders. ${kind.why}`,
    help: `Use instead: ${kind.instead} If these rows are to be credited nevertheless, write a layout of your own with a signature for them.`,
  });
}
