/** Why a folder or file cannot be used, by the code of the system. */
const REASONS: Readonly<Record<string, string>> = {
  // Node says so of a folder that cannot be created where nothing can be written.
  ENOENT: 'it is absent and cannot be created',
  EACCES: 'this user may not read or write it',
  EPERM: 'this user may not change it',
  EROFS: 'its file system is read-only',
  ENOTDIR: 'a file is where a folder must be',
  EEXIST: 'a file is where a folder must be',
  EISDIR: 'a folder is where a file must be',
  ELOOP: 'its links lead in a circle',
  ENOSPC: 'its file system is full',
  EDQUOT: 'the quota of this user is used up',
  EFBIG: 'the file is as large as this process or its file system allows',
  ERR_SQLITE_ERROR: 'its lock file cannot be opened',
};

/** What is wrong with a folder or file, and its path. Null for any other error, and for one that names no path. */
export function findFolderProblem(
  error: unknown,
): { readonly path: string; readonly reason: string; readonly code: string } | null {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return null;
  const { code, path } = error;
  const reason = Object.hasOwn(REASONS, String(code)) ? REASONS[String(code)] : undefined;
  return reason === undefined || typeof path !== 'string' ? null : { path, reason, code: String(code) };
}

/** Does something with a file that is open. Its errors name no path (EISDIR, EIO, ENOSPC), so this adds it. */
export function withPath<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw namePath(error, path);
  }
}

/** The error with the path of its file. */
export function namePath(error: unknown, path: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error;
}
