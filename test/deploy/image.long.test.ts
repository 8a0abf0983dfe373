import { execFile } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { buildImage, canBuildImage, type Image, runCommand, sizeOf } from '../support/build-image.ts';

// Runs only with `npm run test:campaigns -- image`, and takes three minutes.
const isWanted = process.env.IMAGE !== undefined;
const isPossible = isWanted && canBuildImage();
const title = 'the image, built by the steps of the Dockerfile';

describe.skipIf(!isPossible)(
  isPossible ? title : `${title} (skipped: ${isWanted ? 'needs root and unshare' : 'a campaign'})`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-image-'));
    let image: Image;

    beforeAll(() => {
      chmodSync(folder, 0o755);
      image = buildImage(folder);
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('adds at most 150 MB to its base image, without the demo, tests, sources and build tools', () => {
      expect(readdirSync(join(image.root, 'app')).toSorted()).toEqual(
        ['.compiled', 'config', 'dist', 'node_modules', 'package.json', 'sql', 'src'].toSorted(),
      );
      expect(readdirSync(join(image.root, 'app/src')).toSorted()).toEqual(['console', 'start.js']);
      expect(readdirSync(join(image.root, 'app/src/console'))).toEqual(['assets']);
      expect(readdirSync(join(image.root, 'app/config'))).not.toContain('demo');
      const packages = readdirSync(join(image.root, 'app/node_modules'));
      expect(packages).toContain('pg');
      expect(packages.filter((name) => ['rolldown', 'typescript', 'vitest', 'node'].includes(name))).toEqual(
        [],
      );
      const bytes = sizeOf(join(image.root, 'app'));
      expect(bytes).toBeLessThan(150_000_000);
    });

    it('credits orders with a read-only root, as a user other than root, with the configuration of a fresh clone', async () => {
      const config = join(folder, 'clone');
      cpSync('examples/shopify-folder', config, { recursive: true });
      const data = join(folder, 'volume');
      mkdirSync(data, { mode: 0o700 });
      chownSync(data, 1000, 1000);
      const sandbox = await startSandbox({ port: 0 });
      try {
        const run = (...words: readonly string[]) => {
          const { program, args } = runCommand(image, [...image.entrypoint, ...words], {
            readOnly: true,
            mounts: { '/config': config, '/data': data },
            env: { INFLUENCER_API_URL: sandbox.url, INFLUENCER_API_KEY: sandbox.key },
          });
          return promisify(execFile)(program, [...args]);
        };
        const { stdout } = await run('run', 'attribute-orders', '--json');
        const finished = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
        expect(JSON.stringify(finished)).toContain('"accepted":3');
        expect(readdirSync(data).toSorted()).toContain('journal');
        expect(readdirSync(config)).not.toContain('.data');
        await expect(run('run', 'attribute-orders', '--json')).resolves.toBeTruthy();
      } finally {
        await sandbox.close();
      }
    });

    it('is read-only, even for root', async () => {
      const { program, args } = runCommand({ ...image, user: '0:0' }, ['touch', '/app/x'], {
        readOnly: true,
        mounts: {},
      });
      await expect(promisify(execFile)(program, [...args])).rejects.toMatchObject({
        stderr: expect.stringContaining('Read-only file system'),
      });
    });
  },
);
