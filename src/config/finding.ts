import type { ConfigPath } from './locate.ts';

/** A rule's finding: where in the file, what is wrong, how to mend it. */
export type Finding = { readonly path: ConfigPath; readonly message: string; readonly help: string };
