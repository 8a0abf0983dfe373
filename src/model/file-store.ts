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
