import { pages } from '../../src/console/pages/index.ts';
import { openWorkshop, toCsv, type Workshop } from '../pipeline/workshop.ts';

const HOSTILE = `'><script>alert(1)</script><img src=x onerror='x'>`;

/** A file to save, and no page. */
const DOWNLOAD = '/codes/export';

/** What pages show here, by the names of the parts of their paths. */
const PARAMETERS: Readonly<Record<string, string>> = { source: 'shop', order: '<b>A5</b>', deal: 'DEALMIA' };
const QUERIES: Readonly<Record<string, string>> = { '/codes/assign': '?job=orders&code=NOBODY' };

export type ConsoleShop = {
  readonly shop: Workshop;
  /** An address of each page that there is, with something to show. */
  readonly paths: readonly string[];
};

/** A shop whose orders came to every end: credited, in doubt, nobody's, none. One has text in it that a page would obey. */
export async function openConsoleShop(): Promise<ConsoleShop> {
  const shop = await openWorkshop();
  shop.drop(
    'april.csv',
    toCsv([
      { id: 'A1', revenue: '12.50' },
      { id: 'A3', revenue: '7.00', code: 'NOBODY' },
      { id: 'A4', revenue: '9.00', code: '' },
      { id: '<b>A5</b>', revenue: '3.00', code: HOSTILE },
    ]),
  );
  await shop.run();
  shop.drop('may.csv', toCsv([{ id: 'A2', revenue: '20.00', code: 'BEN15' }]));
  await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'new_influencer_referral', count: 1 }]);
  await shop.run();
  const paths = pages
    .filter(({ path }) => path !== DOWNLOAD)
    .map(
      ({ path }) =>
        path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(PARAMETERS[name] ?? '1')) +
        (QUERIES[path] ?? ''),
    );
  return { shop, paths: [...paths, '/doubts?entry=2'] };
}
