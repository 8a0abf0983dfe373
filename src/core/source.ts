import type { ReadFor } from './layout.ts';
import type { AgeBasis } from './time/file-age.ts';

/** A source with a queue of events is listed at least this often. Announcements older than this are deleted. */
export const MAX_LIST_EVERY_HOURS = 720;

/** One object of a source, as a listing shows it. Its identity is (uri, version), never a time. */
export type SourceFile = {
  /** `s3://bucket/key` or `file:///absolute/path`. */
  readonly uri: string;
  /** Identifies the content: `etag:"…"`, `version:…` (S3) or `sha256:…` (folder). */
  readonly version: string;
  readonly sizeBytes: number;
  /**
   * When the file was put there, according to the store. It tells which of two files is newer, and never whether two
   * files are the same.
   */
  readonly modifiedAt?: Date;
};

/** Why a whole file is held. Nothing of a held file is ever posted. */
export type HoldReason = {
  readonly code: string;
  /** What is wrong and where. Contains no row values and no addresses. */
  readonly message: string;
  /** What a person can do to fix it. */
  readonly help: string;
  /**
   * True if nothing has to be fixed and the next run may simply read the file again (a broken connection, a
   * slow store).
   */
  readonly isTransient?: boolean;
};

/** The code of the hold of a file that contradicts another one, if nothing says which of the two is newer. */
export const CONFLICTING_STATES = 'conflicting_states';

/** States of a file, in the order in which people want to see them. */
export const FILE_STATES = ['held', 'new', 'skipped', 'released', 'duplicate', 'read', 'gone'] as const;
export type FileState = (typeof FILE_STATES)[number];

export type SurveyedFile = {
  readonly source: string;
  readonly uri: string;
  /** Null if no job reads the file. */
  readonly readFor: ReadFor | null;
  readonly state: FileState;
  /** The reason, if the state does not show it. Contains no row values. */
  readonly why: string | null;
  readonly help: string | null;
  readonly sizeBytes: number | null;
  readonly rows: number | null;
  /** Orders, or rows of clicks or creators, of which a newer file states something else, if the file was read. */
  readonly olderOrders: number;
  readonly agedAt: Date | null;
  readonly ageBasis: AgeBasis | null;
};

/**
 * Our own files under one address, each written atomically. Its functions throw a KnownError if the store
 * refuses a request.
 */
export type FileStore = {
  /** Lists the files directly under the address. */
  list(): Promise<readonly StoredFile[]>;
  /**
   * Downloads a file. `path` is absolute and its folder must exist. An existing file is replaced atomically.
   */
  download(name: string, path: string): Promise<void>;
  write(name: string, text: string): Promise<void>;
  upload(name: string, path: string): Promise<void>;
  /** Removes a file. Succeeds if the file no longer exists. */
  remove(name: string): Promise<void>;
  /** Closes all connections. The next call opens new ones. */
  close(): void;
};

export type StoredFile = { readonly name: string; readonly modifiedAt: Date };
