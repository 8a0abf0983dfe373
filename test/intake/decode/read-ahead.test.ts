import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SourceFile } from '../../../src/core/source.ts';
import { type ReadAhead, readAhead } from '../../../src/intake/decode/read-ahead.ts';
import { listFiles } from '../../../src/store/list-files.ts';
import { openSourceClients, type SourceClients } from '../../../src/store/source-clients.ts';
import { collect, collectAll, holdReason, sourceSettings } from '../../store/source-settings.ts';
import { type S3Server, startS3Server } from '../../support/s3-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const BUCKET = 'acme-exports';
const NOBODY = new AbortController().signal;

let server: S3Server;
let clients: SourceClients;

beforeAll(async () => {
  server = await startS3Server();
  Object.assign(process.env, server.env);
  clients = openSourceClients();
});

afterAll(async () => {
  clients.close();
  await server.close();
});

/** Puts files `00.csv` and up into a folder of the bucket, each with its own name as content. */
async function putFiles(folder: string, count: number, large: readonly number[] = []) {
  const names = Array.from(
    { length: count },
    (_, index) => `${folder}/${String(index).padStart(2, '0')}.csv`,
  );
  for (const [index, name] of names.entries())
    server.put(BUCKET, name, large.includes(index) ? Buffer.alloc(1024 ** 2 + 1, 'x') : name);
  const source = sourceSettings(`s3://${BUCKET}/${folder}/`);
  const files = await collectAll(listFiles(source, { clients }));
  const ahead = readAhead(files, { source, clients });
  onTestFinished(() => ahead.stop());
  return { names, files, ahead };
}

function asked(folder: string): readonly string[] {
  return server.requests
    .filter(({ operation, key }) => operation === 'GetObject' && key.startsWith(folder))
    .map(({ key }) => key)
    .sort();
}

async function read(ahead: ReadAhead, file: SourceFile | undefined): Promise<string> {
  if (file === undefined) throw new Error('the file is not listed');
  return (await collect(ahead.open(file, NOBODY))).toString();
}

describe('files of a store', () => {
  it('are not prefetched if the last answer of the store failed', async () => {
    const { names, files, ahead } = await putFiles('away', 3);
    ahead.moveTo(0, false);
    expect(await read(ahead, files[0])).toBe(names[0]);
    expect(asked('away')).toEqual([names[0]]);
  });

  it('are prefetched up to 48 ahead, each once, and are available when they are read', async () => {
    const { names, files, ahead } = await putFiles('many', 52);
    ahead.moveTo(0, true);
    await waitFor(() => asked('many').length >= 48);
    expect(asked('many')).toEqual(names.slice(1, 49));
    for (const [place, file] of files.entries()) {
      ahead.moveTo(place, true);
      expect(await read(ahead, file)).toBe(names[place]);
    }
    expect(asked('many')).toEqual(names);
  });

  it('are requested 16 at a time', async () => {
    server.fail({ operation: 'GetObject', kind: 'stall_before_headers', times: 17 });
    const { names, files, ahead } = await putFiles('slowly', 20);
    ahead.moveTo(0, true);
    await waitFor(() => asked('slowly').length >= 16);
    // The first file is not prefetched. Its request is the last one that is not answered.
    const stop = new AbortController();
    const [file] = files;
    if (file === undefined) throw new Error('the file is not listed');
    const reading = collect(ahead.open(file, stop.signal));
    await waitFor(() => asked('slowly').length >= 17);
    expect(asked('slowly')).toEqual(names.slice(0, 17));
    stop.abort(new Error('told to stop'));
    await expect(reading).rejects.toThrow('told to stop');
  });

  it('are requested one by one once one has failed, until the store answers again', async () => {
    server.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'AccessDenied', times: 17 });
    const { names, files, ahead } = await putFiles('failing', 20);
    ahead.moveTo(0, true);
    for (const file of files.slice(1, 17)) await expect(read(ahead, file)).rejects.toThrow();
    expect(asked('failing')).toEqual(names.slice(1, 17));
    ahead.moveTo(17, false);
    await expect(read(ahead, files[17])).rejects.toThrow();
    expect(asked('failing')).toEqual(names.slice(1, 18));
    ahead.moveTo(18, true);
    expect(await read(ahead, files[18])).toBe(names[18]);
    expect(await read(ahead, files[19])).toBe(names[19]);
  });

  it('larger than a megabyte are requested only when they are read', async () => {
    const { names, files, ahead } = await putFiles('large', 3, [1]);
    ahead.moveTo(0, true);
    await waitFor(() => asked('large').length >= 1);
    expect(await read(ahead, files[0])).toBe(names[0]);
    expect(asked('large')).toEqual([names[0], names[2]]);
    ahead.moveTo(1, true);
    expect(await read(ahead, files[1])).toHaveLength(1024 ** 2 + 1);
    expect(asked('large')).toEqual(names);
  });

  it('that are not read are discarded, and one that fails reports its error when it is read', async () => {
    const { names, files, ahead } = await putFiles('some', 3);
    server.put(BUCKET, names[1] ?? '', 'replaced after it was listed');
    ahead.moveTo(0, true);
    ahead.moveTo(1, true);
    await expect(holdReason(read(ahead, files[1]))).resolves.toMatchObject({ code: 'changed_while_reading' });
    ahead.moveTo(2, false);
    expect(await read(ahead, files[2])).toBe(names[2]);
  });

  it('that do not arrive are awaited only until the run is stopped', async () => {
    server.fail({ operation: 'GetObject', key: 'slow/01.csv', kind: 'stall_before_headers' });
    const { files, ahead } = await putFiles('slow', 2);
    ahead.moveTo(0, true);
    const stop = new AbortController();
    const [, file] = files;
    if (file === undefined) throw new Error('the file is not listed');
    const reading = collect(ahead.open(file, stop.signal));
    stop.abort(new Error('told to stop'));
    await expect(reading).rejects.toThrow('told to stop');
  });
});
