import type { ReadFor } from './layout.ts';

/** What becomes of a file, in the order in which a person wants to see it. */
export const FILE_STATES = ['held', 'new', 'skipped', 'released', 'duplicate', 'read', 'gone'] as const;
export type FileState = (typeof FILE_STATES)[number];

export type SurveyedFile = {
  readonly source: string;
  readonly uri: string;
  /** Null where nothing reads it. */
  readonly readFor: ReadFor | null;
  readonly state: FileState;
  /** Why, where the state does not say it. No row values. */
  readonly why: string | null;
  readonly help: string | null;
  readonly sizeBytes: number | null;
  readonly rows: number | null;
};
