/** The code of an error: SQLSTATE, that of the operating system (`ENOENT`), or of a library. Null if it has none. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** SQLSTATE unique_violation: another transaction has inserted the same row in the meantime. */
export const UNIQUE_VIOLATION = '23505';
