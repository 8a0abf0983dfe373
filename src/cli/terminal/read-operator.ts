import { userInfo } from 'node:os';

/**
 * Who runs a command that decides something: the name that is kept with the decision.
 *
 * A container may run as any uid, without an entry in the passwd database: then there is no name, and the uid is all that is known. The
 * variables USER and LOGNAME are not asked, because they say what their setter likes.
 */
export function readOperator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.geteuid?.() ?? 'unknown'}`;
  }
}
