import type { FastifyRequest } from 'fastify';
import type { Context } from '../build-server.ts';
import type { Tenant } from '../open-tenant.ts';
import { type Answer, refuse } from '../operations/operation.ts';

type Refused = { readonly kind: 'refused'; readonly answer: Answer };

/** Chooses the accounts of a control request: the one that `?account=<id>` names, or all. */
export function chooseTenants(
  { tenants }: Pick<Context, 'tenants'>,
  request: FastifyRequest,
): { readonly kind: 'chosen'; readonly tenants: readonly Tenant[]; readonly isAll: boolean } | Refused {
  const { account } = request.query as { readonly account?: string | readonly string[] };
  if (account === undefined) return { kind: 'chosen', tenants, isAll: true };
  const found = tenants.filter(({ world }) => world.account.id === account);
  if (found.length > 0) return { kind: 'chosen', tenants: found, isAll: false };
  return { kind: 'refused', answer: refuse(404, `There is no such account. There are: ${idsOf(tenants)}.`) };
}

/** Chooses the one account of a control request. If there are several, the request must name one. */
export function chooseTenant(
  context: Pick<Context, 'tenants'>,
  request: FastifyRequest,
): { readonly kind: 'chosen'; readonly tenant: Tenant } | Refused {
  const chosen = chooseTenants(context, request);
  if (chosen.kind === 'refused') return chosen;
  const [tenant, other] = chosen.tenants;
  if (tenant !== undefined && other === undefined) return { kind: 'chosen', tenant };
  const answer = refuse(400, `Name the account with ?account=. There are: ${idsOf(context.tenants)}.`);
  return { kind: 'refused', answer };
}

function idsOf(tenants: readonly Tenant[]): string {
  return tenants.map(({ world }) => world.account.id).join(', ');
}
