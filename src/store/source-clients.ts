import type { SourceSettings } from '../config/source-fields.ts';
import { createS3Client, type S3Client } from './s3/create-s3-client.ts';

/** The connections for reading sources. Folders need none. */
export type SourceClients = {
  /** Returns the client of an S3 source, created on first use. */
  readonly s3: (source: SourceSettings) => Promise<S3Client>;
  readonly close: () => void;
};

/**
 * Creates one S3 client for each store and set of connection settings, shared by all sources. Nothing is
 * loaded or connected until a source needs it.
 */
export function openSourceClients(): SourceClients {
  const clients = new Map<string, Promise<S3Client>>();
  return {
    s3: (source) => {
      const { endpoint, region, profile, forcePathStyle, limits } = source;
      const key = JSON.stringify([endpoint, region, profile, forcePathStyle, limits.idleTimeoutSeconds]);
      const client = clients.get(key) ?? createS3Client(source);
      clients.set(key, client);
      return client;
    },
    close: () => {
      for (const client of clients.values()) {
        client.then(
          ({ close }) => close(),
          () => {},
        );
      }
      clients.clear();
    },
  };
}
