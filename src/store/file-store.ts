import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { LedgerSettings } from '../config/schema.ts';
import type { FileStore, StoredFile } from '../core/source.ts';
import { namePath } from '../core/text/folder-problem.ts';
import { parseObjectUri, pathOfFileUri } from './parse-source-uri.ts';
import { createS3Client, type S3Client } from './s3/create-s3-client.ts';
import { explainS3Error } from './s3/explain-s3-error.ts';
import { listS3Files } from './s3/list-s3-files.ts';

/** The location of the files and how to access it, with the same settings as a source. */
export type FileStoreSettings = NonNullable<LedgerSettings['mark']>;

/** The request fails if the store sends nothing for this many seconds. */
const IDLE_TIMEOUT_SECONDS = 20;

/**
 * Opens `s3://bucket/prefix/` or a folder, which is created when the first file is written. Does not connect
 * yet.
 */
export function openFileStore(settings: FileStoreSettings): FileStore {
  if (/^s3:/i.test(settings.uri)) return openBucket(settings);
  return openFolder(/^file:/i.test(settings.uri) ? pathOfFileUri(settings.uri) : settings.uri);
}

/** Writes a file atomically: to a temporary name in the same folder first, and then renames it. */
async function put(path: string, write: (path: string) => Promise<void>): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  await write(partial).catch((error: unknown) => {
    throw namePath(error, partial);
  });
  await rename(partial, path);
}

function openFolder(folder: string): FileStore {
  return {
    async list() {
      const names = await readdir(folder).catch(emptyIfAbsent);
      const files = await Promise.all(
        names.map(async (name) => ({ name, stats: await stat(join(folder, name)).catch(() => null) })),
      );
      return files.flatMap(({ name, stats }) =>
        stats?.isFile() === true ? [{ name, modifiedAt: stats.mtime }] : [],
      );
    },
    download: (name, path) => put(path, (partial) => copyFile(join(folder, name), partial)),
    async write(name, text) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await put(join(folder, name), (partial) => writeFile(partial, text, { mode: 0o600 }));
    },
    async upload(name, path) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await put(join(folder, name), (partial) => copyFile(path, partial));
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    close() {},
  };
}

function emptyIfAbsent(error: NodeJS.ErrnoException): readonly string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

function openBucket(settings: FileStoreSettings): FileStore {
  const { bucket, key: prefix } = parseObjectUri(settings.uri);
  const base = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  let opened: Promise<S3Client> | null = null;

  async function ask<Answer>(
    name: string | null,
    request: (client: S3Client, target: { Bucket: string; Key: string }) => Promise<Answer>,
  ): Promise<Answer> {
    opened ??= createS3Client({ ...settings, limits: { idleTimeoutSeconds: IDLE_TIMEOUT_SECONDS } });
    const client = await opened;
    const key = `${base}${name ?? ''}`;
    try {
      return await request(client, { Bucket: bucket, Key: key });
    } catch (error) {
      throw explainS3Error(error, { bucket, key: name === null ? null : key, client }) ?? error;
    }
  }

  return {
    list: () =>
      ask(null, async (client) => {
        const files: StoredFile[] = [];
        const rules = { client, skip: () => null, onSkipped() {}, start: null, startAfter: null };
        const place = { kind: 's3', bucket, prefix: base, glob: null, dated: null } as const;
        for await (const { uri, modifiedAt } of listS3Files(place, rules)) {
          const name = uri.slice(`s3://${bucket}/${base}`.length);
          if (!name.includes('/')) files.push({ name, modifiedAt: modifiedAt ?? new Date() });
        }
        return files;
      }),
    download: (name, path) =>
      ask(name, async ({ api }, target) => {
        const { Body: body } = await api.getObject(target);
        await put(path, (partial) => pipeline(body as Readable, createWriteStream(partial, { mode: 0o600 })));
      }),
    write: (name, text) =>
      ask(name, async ({ api }, target) => {
        await api.putObject({ ...target, Body: text, ContentType: 'application/x-ndjson' });
      }),
    upload: (name, path) =>
      ask(name, async ({ api }, target) => {
        const { size } = await stat(path);
        const body = createReadStream(path);
        await api.putObject({
          ...target,
          Body: body,
          ContentLength: size,
          ContentType: 'application/x-ndjson',
        });
      }),
    remove: (name) =>
      ask(name, async ({ api }, target) => {
        await api.deleteObject(target);
      }),
    close() {
      opened?.then(
        ({ close }) => close(),
        () => {},
      );
      opened = null;
    },
  };
}
