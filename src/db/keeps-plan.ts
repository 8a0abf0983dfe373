import { sql } from 'kysely';

/** A statement whose text ends with this is prepared (`server/prepared-statements.ts`). */
export const KEEPS_PLAN = '/* keeps its plan */';

/**
 * Ends a statement that is executed so often that planning it costs more than a small execution. Only for
 * statements whose best plan does not depend on their parameters.
 */
export const keepsPlan = sql.raw(KEEPS_PLAN);
