import type { AccountData } from './account-data.ts';

export type Path = readonly PropertyKey[];

/** A problem in a data file, and its place. */
export type Finding = { readonly path: Path; readonly message: string; readonly help: string };

/**
 * Finds problems that a single record cannot show: duplicate ids, and references to ids that do not exist.
 *
 * @param isListed true if the file lists its accounts, false if it is one account.
 */
export function checkAccounts(accounts: readonly AccountData[], isListed: boolean): readonly Finding[] {
  const own = accounts.flatMap((account, index) =>
    findInAccount(account).map((finding) => ({
      ...finding,
      path: isListed ? ['accounts', index, ...finding.path] : finding.path,
    })),
  );
  const keys = accounts.flatMap((account, index) =>
    account.keys.map((key, place) => ({
      key,
      path: [...(isListed ? ['accounts', index] : []), 'keys', place],
    })),
  );
  const keysTwice = keys
    .filter(({ key }, index) => keys.findIndex((one) => one.key === key) < index)
    .map(({ path }) => ({
      path,
      message: 'This key is already used above.',
      help: 'Give each account and each user its own key.',
    }));
  const ids = accounts.map(({ id }) => id);
  return [...own, ...keysTwice, ...(isListed ? repeated(ids, 'accounts', 'id') : [])];
}

/** Checks one account. Accounts are independent, so two may use the same ids. */
function findInAccount(data: AccountData): readonly Finding[] {
  const brands = new Set(data.brands.map((brand) => brand.id));
  const { dealflows: given = [], outreaches = [] } = data;
  const dealflows = new Map(given.map((flow) => [flow.id, flow.brand_id]));
  const collaborations = data.deals.map((deal) => deal.collab_id);
  return [
    ...repeated(
      data.brands.map((brand) => brand.id),
      'brands',
      'id',
    ),
    ...repeated(
      given.map((flow) => flow.id),
      'dealflows',
      'id',
    ),
    ...repeated(
      outreaches.map((outreach) => outreach.id),
      'outreaches',
      'id',
    ),
    ...repeated(collaborations, 'deals', 'collab_id'),
    ...outreaches.flatMap(({ dealflow_id: id }, index) =>
      id === null ? [] : unknownDealflow(dealflows, id, ['outreaches', index, 'dealflow_id']),
    ),
    ...given.flatMap((flow, index) => unknownBrand(brands, flow.brand_id, ['dealflows', index, 'brand_id'])),
    ...data.deals.flatMap((deal, index) => {
      const missing = unknownBrand(brands, deal.brand_id, ['deals', index, 'brand_id']);
      return missing.length > 0 ? missing : wrongDealflow(dealflows, deal, ['deals', index, 'dealflow_id']);
    }),
    ...otherHandles(data.deals),
  ];
}

function repeated(
  ids: readonly (string | number | null)[],
  list: string,
  member: string,
): readonly Finding[] {
  const seen = new Set<string | number>();
  return ids.flatMap((id, index) => {
    if (id === null) return [];
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    const message = `${member} ${id} appears twice in ${list}.`;
    return [{ path: [list, index, member], message, help: 'Give each its own id.' }];
  });
}

function unknownBrand(brands: ReadonlySet<number>, brandId: number, path: Path): readonly Finding[] {
  if (brands.has(brandId)) return [];
  return [{ path, message: `There is no brand ${brandId}.`, help: `Use one of: ${[...brands].join(', ')}.` }];
}

function wrongDealflow(
  dealflows: ReadonlyMap<string, number>,
  deal: AccountData['deals'][number],
  path: Path,
): readonly Finding[] {
  const { dealflow_id: id, brand_id: brandId } = deal;
  const owner = dealflows.get(id);
  if (owner === undefined) return unknownDealflow(dealflows, id, path);
  if (owner === brandId) return [];
  const message = `Dealflow ${id} belongs to brand ${owner}, not to ${brandId}.`;
  return [{ path, message, help: namesOf(dealflows) }];
}

function unknownDealflow(dealflows: ReadonlyMap<string, number>, id: string, path: Path): readonly Finding[] {
  if (dealflows.has(id)) return [];
  return [{ path, message: `There is no dealflow ${id}.`, help: namesOf(dealflows) }];
}

function namesOf(dealflows: ReadonlyMap<string, number>): string {
  return dealflows.size === 0
    ? 'List it under dealflows.'
    : `Use one of: ${[...dealflows.keys()].join(', ')}.`;
}

/**
 * Two entries with the same deal id are two collaborations of one influencer, so their handles must be equal.
 */
function otherHandles(deals: AccountData['deals']): readonly Finding[] {
  const handles = new Map<string, string>();
  return deals.flatMap((deal, index) => {
    const first = handles.get(deal.deal_id) ?? deal.influencer_handle;
    handles.set(deal.deal_id, first);
    if (first === deal.influencer_handle) return [];
    const message = `Deal ${deal.deal_id} already appears above with another influencer.`;
    return [
      { path: ['deals', index, 'influencer_handle'], message, help: 'Give this deal its own deal_id.' },
    ];
  });
}
