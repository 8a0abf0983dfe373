import type { ReadFor } from './layout.ts';

/** One object of a source as a listing shows it. Its identity is (uri, version), never a time. */
export type SourceFile = {
  /** `s3://bucket/key` or `file:///absolute/path`. */
  readonly uri: string;
  /** What pins the content: `etag:"…"`, `version:…` (S3) or `sha256:…` (folder). */
  readonly version: string;
  readonly sizeBytes: number;
  /** When it was put there, as the store says: to show the newest, never to tell files apart. */
  readonly modifiedAt?: Date;
};

/** Why a whole file is kept back. Nothing of a held file is ever posted. */
export type HoldReason = {
  readonly code: string;
  /** What is wrong and where, with no row values and no addresses. */
  readonly message: string;
  /** What a person can do to fix it. */
  readonly help: string;
  /** True when nothing has to be fixed: the next run may simply read the file again (a cut connection, a slow store). */
  readonly isTransient?: boolean;
};

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

/** Files of ours under one address, each written whole. Its functions throw a KnownError for what the store refuses. */
export type FileStore = {
  /** Those directly under the address. */
  list(): Promise<readonly StoredFile[]>;
  /** Brings a file here. `path` is absolute, its folder exists, and what stood there is replaced at once or not at all. */
  download(name: string, path: string): Promise<void>;
  write(name: string, text: string): Promise<void>;
  upload(name: string, path: string): Promise<void>;
  /** One that is gone already is removed. */
  remove(name: string): Promise<void>;
  /** Ends all connections; the next call makes new ones. */
  close(): void;
};

export type StoredFile = { readonly name: string; readonly modifiedAt: Date };
