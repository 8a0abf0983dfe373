import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { listFiles } from '../../src/store/list-files.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { replaceEnvironment } from '../support/environment.ts';
import { collectAll, knownError, sourceSettings } from './source-settings.ts';

const outerEnv = { ...process.env };
afterEach(() => replaceEnvironment(outerEnv));

/** Lists a bucket of a store that answers each request with the next of these pages, and then with the last. */
async function list(...pages: readonly string[]) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/xml');
    const root = request.url?.includes('versions') ? 'ListVersionsResult' : 'ListBucketResult';
    response.end(`<${root}><Name>shop</Name>${pages[Math.min(requests, pages.length - 1)]}</${root}>`);
    requests += 1;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const login = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'eu-west-1' };
  replaceEnvironment({ ...outerEnv, ...login, AWS_ENDPOINT_URL_S3: `http://${host}` });
  const clients = openSourceClients();
  onTestFinished(() => clients.close());
  const files = collectAll(listFiles(sourceSettings('s3://shop/'), { clients }));
  return { files, host, requests: () => requests };
}

const object = (key: string, etag = `"${key}"`) =>
  `<Contents><Key>${key}</Key><Size>9</Size>${etag === '' ? '' : `<ETag>${etag}</ETag>`}</Contents>`;
const MORE = '<IsTruncated>true</IsTruncated>';
const LAST = '<IsTruncated>false</IsTruncated>';
const token = (text: string) => `<NextContinuationToken>${text}</NextContinuationToken>`;
const THOUSAND = Array.from({ length: 1_000 }, (_, index) => object(`${index}.csv`)).join('');

it.each([
  ['is truncated and has no token', [MORE + object('1.csv')]],
  ['is truncated and has a blank token', [MORE + token('') + object('1.csv')]],
  ['repeats its token', [MORE + token('a') + object('1.csv'), MORE + token('a') + object('2.csv')]],
  ['repeats an earlier token', ['a', 'b', 'a'].map((text) => MORE + token(text) + object('1.csv'))],
  ['has a full page and says nothing of more', [THOUSAND]],
  [
    'has no ETags, and whose versions are truncated without a marker',
    [LAST + object('1.csv', ''), `${MORE}<Version><Key>1.csv</Key></Version>`],
  ],
  [
    'has no ETags, and whose versions repeat their marker',
    [LAST + object('1.csv', ''), `${MORE}<NextKeyMarker>1.csv</NextKeyMarker>`],
  ],
])('a listing that %s is an error that names the store', async (_, pages) => {
  const { files, host, requests } = await list(...pages);
  const details = await knownError(files);
  expect(details).toMatchObject({ code: 's3_listing_unusable', where: 's3://shop/', exitCode: 1 });
  expect(details.message).toContain(`the store at ${host}`);
  expect(requests()).toBeLessThanOrEqual(3);
});

it.each([
  ['ends by its own word', [MORE + token('a') + object('1.csv'), LAST + object('2.csv')]],
  ['has a token but does not say that it is truncated', [token('a') + object('1.csv'), object('2.csv')]],
  ['says that it ends and has a token anyway', [LAST + token('a') + object('1.csv') + object('2.csv')]],
])('a listing that %s is whole', async (_, pages) => {
  const { files } = await list(...pages);
  expect((await files).map(({ uri }) => uri)).toEqual(['s3://shop/1.csv', 's3://shop/2.csv']);
});
