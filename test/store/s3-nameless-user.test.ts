import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { startS3Server } from '../support/s3-server.ts';
import { sourceSettings } from './source-settings.ts';

const MODULE = new URL('../../src/store/source-clients.ts', import.meta.url).href;
const NAMELESS = 1_234_567;

/**
 * Lists twice: the first time loads the SDK, because only root may be able to read the checkout. Only then
 * does the process become another user.
 */
const SCRIPT = `
const { openSourceClients } = await import(${JSON.stringify(MODULE)});
const source = JSON.parse(process.argv[1]);
async function list() {
  const clients = openSourceClients();
  const { api } = await clients.s3(source);
  const { Contents = [] } = await api.listObjectsV2({ Bucket: 'shop' });
  clients.close();
  return Contents.map(({ Key }) => Key);
}
await list();
delete process.env.HOME;
process.setgid(${NAMELESS});
process.setuid(${NAMELESS});
process.stdout.write(JSON.stringify(await list()));
`;

it.skipIf(process.getuid?.() !== 0)(
  'a store can be read by a user without a passwd entry and HOME, as in a container with an arbitrary uid',
  async () => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    s3.put('shop', 'orders.csv', 'order_id');
    const source = sourceSettings('s3://shop/');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', SCRIPT, JSON.stringify(source)],
      { env: { ...process.env, ...s3.env } },
    );
    expect(JSON.parse(stdout)).toEqual(['orders.csv']);
  },
);
