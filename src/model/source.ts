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
  /** What a person can do to mend it. */
  readonly help: string;
  /** True when nobody has to mend anything: the next run may simply read the file again (a cut connection, a slow store). */
  readonly isTransient?: boolean;
};
