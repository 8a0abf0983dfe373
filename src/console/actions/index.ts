import type { ConsoleAction } from '../console-page.ts';

/** Everything that can be changed in the console. */
export const actions: readonly ConsoleAction[] = [];
