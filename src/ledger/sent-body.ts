import { type RawBuilder, sql } from 'kysely';
import { effects } from '../effects/index.ts';

/** Digits of the ledger's id that tell two ledgers apart to a person (continuity/identity.ts shows the same ones). */
const SHORT_ID = 8;

/**
 * The bytes of the request of an attempt: the body of its entry and, where the operation has a member for it, the reference of the attempt
 * (`influencer-sync <ledger>.e<entry>.a<attempt>`), so that an order found at the service, or in an event, leads back to what posted it.
 *
 * @param row alias of a row with `effect, body, entry_id, attempt`.
 */
export function sentBody(row: string, ledgerId: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  const start = sql.lit(`influencer-sync ${ledgerId.slice(0, SHORT_ID)}.e`);
  const reference = sql`to_json(${start} || ${column('entry_id')} || '.a' || ${column('attempt')})`;
  const cases = Object.values(effects).flatMap(({ effect, referenceMember: member }) =>
    member === null
      ? []
      : [
          sql`when ${sql.lit(effect)} then left(${column('body')}, -1) || ${sql.lit(`,${JSON.stringify(member)}:`)} || ${reference} || '}'`,
        ],
  );
  return sql<string>`(case ${column('effect')} ${sql.join(cases, sql` `)} else ${column('body')} end)`;
}
