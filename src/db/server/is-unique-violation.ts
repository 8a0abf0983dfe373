/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/**
 * Returns true if a statement failed because another transaction has inserted the same row in the meantime.
 */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
}
