import { type RawBuilder, sql } from 'kysely';

/**
 * A statement whose text ends with this is prepared (`server/prepared-statements.ts`). Kysely hands only the text and
 * the parameters of a statement to its driver, so the text says it.
 */
export const KEEPS_PLAN = '/* keeps its plan */';

/**
 * Ends a statement that is executed so often that planning it costs more than a small execution. Only for
 * statements whose best plan does not depend on their parameters.
 */
export const keepsPlan = sql.raw(KEEPS_PLAN);

/** With more rows, planning is a small part of a statement, and a plan should suit their number. */
const FEW_ROWS = 100;

/** Ends a statement that should keep its plan only for a few rows. */
export function keepsPlanFor(rows: number): RawBuilder<unknown> {
  return rows <= FEW_ROWS ? keepsPlan : sql``;
}
