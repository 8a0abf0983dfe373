import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFile } from '../../src/intake/decode/open-file.ts';
import { readText } from '../../src/intake/decode/read-text.ts';
import { listFiles } from '../../src/store/list-files.ts';
import { READ_BYTES } from '../../src/store/list-folder-files.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { collect, collectAll, holdReason, knownError, sourceSettings } from './source-settings.ts';

const clients = openSourceClients();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exports-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Buffer = name): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function list(path = folder) {
  return collectAll(listFiles(sourceSettings(path), { clients }));
}

async function listNames(path = folder): Promise<readonly string[]> {
  const root = `${pathToFileURL(folder).href}/`;
  return (await list(path)).map(({ uri }) => decodeURIComponent(uri.slice(root.length)));
}

async function listSince(uri: string, since: string | null): Promise<readonly string[]> {
  const files = await collectAll(listFiles(sourceSettings(join(folder, uri)), { clients, since }));
  return files.map(({ uri: found }) =>
    decodeURIComponent(found.slice(`${pathToFileURL(folder).href}/`.length)),
  );
}

async function read(path: string) {
  const [file] = await list(path);
  if (file === undefined) throw new Error('nothing is listed');
  const source = sourceSettings(path);
  return {
    file,
    bytes: openFile(file, { source, clients }),
    text: readText(file, { source, clients, encoding: 'utf-8' }),
  };
}

describe('listing a folder', () => {
  it('returns files at any depth, sorted by name and without dotfiles', async () => {
    for (const name of ['b.csv', 'a.csv', '2026/01/c.csv', 'a/d.csv', '.hidden.csv', '.git/e.csv'])
      write(name);
    expect(await listNames()).toEqual(['2026/01/c.csv', 'a.csv', 'a/d.csv', 'b.csv']);
    expect(await listNames(`${folder}/`)).toEqual(await listNames());
    expect(await listNames(pathToFileURL(folder).href)).toEqual(await listNames());
  });

  it('supports a glob', async () => {
    for (const name of ['a.csv', 'b.csv.gz', '2026/c.csv', '2026/01/d.csv', 'note.txt']) write(name);
    expect(await listNames(`${folder}/*.csv`)).toEqual(['a.csv']);
    expect(await listNames(`${folder}/**/*.csv`)).toEqual(['2026/01/d.csv', '2026/c.csv', 'a.csv']);
    expect(await listNames(`${folder}/20*/*.csv`)).toEqual(['2026/c.csv']);
    expect(await listNames(`${folder}/*.{csv.gz,txt}`)).toEqual(['b.csv.gz', 'note.txt']);
  });

  it('returns all files of a uri with a date, or those from a day on', async () => {
    for (const day of ['2026-11-19', '2026-11-20', '2026-11-21']) write(`dt=${day}/a.csv`, day);
    write('dt=2026-11-21/more/b.csv');
    write('dt=unknown/c.csv');
    write('d.csv');
    const [, second, third] = ['dt=2026-11-19/a.csv', 'dt=2026-11-20/a.csv', 'dt=2026-11-21/a.csv'];
    const below = 'dt=2026-11-21/more/b.csv';
    expect(await listSince('dt={date}', null)).toEqual(['dt=2026-11-19/a.csv', second, third, below]);
    expect(await listSince('dt={date}', '2026-11-20')).toEqual([second, third, below]);
    expect(await listSince('dt={date}/*.csv', '2026-11-20')).toEqual([second, third]);
    expect(await listSince('dt={date}', '2026-11-22')).toEqual([]);
  });

  it('returns only files in folders of a year and month from that day on', async () => {
    for (const day of ['2025/12/31', '2026/10/31', '2026/11/20', '2026/11/21', '2027/01/01'])
      write(`${day}/a.csv`, day);
    const since = await listSince('{year}/{month}/{day}', '2026-11-21');
    expect(since).toEqual(['2026/11/21/a.csv', '2027/01/01/a.csv']);
  });

  it('accepts a single file, and a folder whose name looks like a glob', async () => {
    write('a.csv');
    write('shop [nl] ä#%/b.csv');
    expect(await listNames(join(folder, 'a.csv'))).toEqual(['a.csv']);
    expect(await listNames(join(folder, 'shop [nl] ä#%'))).toEqual(['shop [nl] ä#%/b.csv']);
    expect((await collect((await read(join(folder, 'shop [nl] ä#%'))).bytes)).toString()).toBe(
      'shop [nl] ä#%/b.csv',
    );
  });

  it('follows links, visits each real folder once and skips broken links', async () => {
    write('..data/orders.csv', 'mounted');
    symlinkSync('..data/orders.csv', join(folder, 'orders.csv'));
    write('real/a.csv');
    symlinkSync('real', join(folder, 'zlink'));
    symlinkSync('..', join(folder, 'real/loop'));
    symlinkSync('nowhere', join(folder, 'broken.csv'));
    expect(await listNames()).toEqual(['orders.csv', 'real/a.csv']);
  });

  it('holds the targets of links outside the folder unless the source follows links', async () => {
    write('a.csv', 'mine');
    const other = mkdtempSync(join(tmpdir(), 'other-'));
    writeFileSync(join(other, 'secret.csv'), 'not mine');
    symlinkSync(join(other, 'secret.csv'), join(folder, 'b.csv'));
    symlinkSync(other, join(folder, 'c'));
    symlinkSync('/proc', join(folder, 'd'));
    const found = await list();
    expect(found.map(({ uri }) => basename(uri))).toEqual(['a.csv', 'b.csv', 'c', 'd']);
    const [own, ...outside] = found;
    expect(own?.version).toMatch(/^sha256:/);
    for (const file of outside) {
      const reading = openFile(file, { source: sourceSettings(folder), clients });
      await expect(reading.next()).rejects.toMatchObject({ reason: { code: 'link_outside' } });
    }
    unlinkSync(join(folder, 'd'));
    const told = await collectAll(listFiles({ ...sourceSettings(folder), followLinks: true }, { clients }));
    expect(told.map(({ uri }) => basename(uri))).toEqual(['a.csv', 'b.csv', 'secret.csv']);
  });

  it('identifies a file by its content, not by its time', async () => {
    const path = write('a.csv', 'one');
    const [first] = await list();
    utimesSync(path, 0, 0);
    expect((await list()).map(({ version }) => version)).toEqual([first?.version]);
    const digest = createHash('sha256').update('one').digest('hex');
    expect(first).toMatchObject({ uri: pathToFileURL(path).href, version: `sha256:${digest}`, sizeBytes: 3 });
  });

  it.each([READ_BYTES - 1, READ_BYTES, READ_BYTES + 1, 3 * READ_BYTES, 3 * READ_BYTES + 7])(
    'identifies a file of %i bytes, in one read or several',
    async (length) => {
      const content = Array.from({ length: 300_000 }, (_, number) => number)
        .join()
        .slice(0, length);
      write('a.csv', content);
      const version = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      expect(await list()).toMatchObject([{ version, sizeBytes: content.length }]);
    },
  );

  it('reports a missing folder', async () => {
    for (const path of ['nowhere', 'nowhere/*.csv', 'nowhere/**/x*/a.csv']) {
      const error = await knownError(list(join(folder, path)));
      expect(error).toMatchObject({ code: 'folder_missing', exitCode: 2, where: join(folder, 'nowhere') });
    }
  });

  it('rejects an address with an unsupported scheme', async () => {
    expect(await knownError(list('ftp://example.com/orders/'))).toMatchObject({
      code: 'source_address_invalid',
    });
  });
});

describe('reading a file of a folder', () => {
  it('yields its bytes, and its text with a digest of the text', async () => {
    write('a.csv', '\ufeffa,b\n');
    const { bytes, text } = await read(folder);
    expect((await collect(bytes)).toString()).toBe('\ufeffa,b\n');
    expect((await collect(text.chunks)).toString()).toBe('a,b\n');
    expect(text.digest()).toBe(createHash('sha256').update('a,b\n').digest('hex'));
  });

  it('yields the same digest for a text in any compression and encoding', async () => {
    const content = 'name\nJosé\n';
    const stored = [
      content,
      `\ufeff${content}`,
      gzipSync(content),
      Buffer.from(`\ufeff${content}`, 'utf16le'),
    ];
    const digests = new Set<string>();
    for (const one of stored) {
      write('a.csv', one);
      const { text } = await read(folder);
      await collect(text.chunks);
      digests.add(text.digest());
    }
    expect([...digests]).toEqual([createHash('sha256').update(content).digest('hex')]);
  });

  it('has no digest before the end', async () => {
    write('a.csv');
    const { text } = await read(folder);
    expect(() => text.digest()).toThrow('after the last chunk');
  });

  it('reports the number of stored bytes', async () => {
    const stored = gzipSync('a,b\n'.repeat(10_000));
    write('a.csv.gz', stored);
    const { file } = await read(folder);
    let count = 0;
    const onStoredBytes = (bytes: number): void => {
      count += bytes;
    };
    await collect(
      readText(file, { source: sourceSettings(folder), clients, encoding: 'utf-8', onStoredBytes }).chunks,
    );
    expect(count).toBe(stored.length);
  });

  it("prefers the source's encoding to the layout's", async () => {
    write('a.csv', Buffer.from([0x80]));
    const { file } = await read(folder);
    const source = { ...sourceSettings(folder), encoding: 'windows-1252' };
    expect((await collect(readText(file, { source, clients, encoding: 'utf-8' }).chunks)).toString()).toBe(
      '€',
    );
  });

  it('holds a file that was changed after it was listed', async () => {
    const path = write('a.csv', 'a,b\n1,2\n');
    const { bytes, text } = await read(folder);
    appendFileSync(path, '3,4\n');
    expect(await holdReason(collect(bytes))).toMatchObject({
      code: 'changed_while_reading',
      isTransient: true,
    });
    expect((await holdReason(collect(text.chunks))).code).toBe('changed_while_reading');
    expect(() => text.digest()).toThrow();
  });

  it('reports that a file was deleted', async () => {
    const path = write('a.csv');
    const { bytes } = await read(folder);
    unlinkSync(path);
    expect((await holdReason(collect(bytes))).code).toBe('file_gone');
  });

  it('stops at once when it is aborted', async () => {
    write('a.csv', Buffer.alloc(5_000_000, 'a,b\n'));
    const [file] = await list();
    if (file === undefined) throw new Error('nothing is listed');
    const stop = new AbortController();
    const { chunks } = readText(file, {
      source: sourceSettings(folder),
      clients,
      encoding: 'utf-8',
      signal: stop.signal,
    });
    const reading = (async () => {
      for await (const _ of chunks) stop.abort();
    })();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  });
});
