/** The same orders to the sandbox, without latency: by Benthos, drt, and us with the ledger. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { installPython } from '../install.ts';
import { DEPLOYED, type Measurement } from '../measure.ts';
import { measureProcess } from '../measure-process.ts';
import { bodyOf } from '../posting.ts';
import { type ServerProcess, startSandbox } from '../sandbox.ts';
import { compare, type Took } from './compare.ts';
import { installBenthos } from './install-benthos.ts';

const POSTING = fileURLToPath(new URL('../posting.ts', import.meta.url));
const BENTHOS_POST = fileURLToPath(new URL('benthos-post.yaml', import.meta.url));
const DRT_PROJECT = fileURLToPath(new URL('drt', import.meta.url));

/** As in benthos-post.yaml. */
const IN_FLIGHT = 64;

type Place = {
  readonly db: Database;
  /** A database with the schema of this project. */
  readonly url: string;
  /** An empty folder. */
  readonly folder: string;
  readonly posts: number;
};

export async function comparePosting(
  given: Place & { readonly rounds: number },
): Promise<readonly Measurement[]> {
  const { posts, rounds } = given;
  const drt = installPython('drt', new URL('drt-requirements.txt', import.meta.url));
  let postedAgain: number | null = null;
  const measured = await compare({
    work: `${posts.toLocaleString('en')} orders to the sandbox`,
    rounds,
    ours: () => withSandbox(posts, (sandbox) => postWithLedger(given, sandbox)),
    contenders: [
      {
        name: `Benthos http_client, ${IN_FLIGHT} in flight, no ledger`,
        installed: installBenthos(),
        run: (program) => withSandbox(posts, (sandbox) => postByBenthos(given, { program, sandbox })),
      },
      {
        name: 'drt',
        installed: drt,
        run: (bin, round) =>
          withSandbox(posts, async (sandbox) => {
            const took = await postByDrt(given, { bin, sandbox });
            if (round > 1) return took;
            await postByDrt(given, { bin, sandbox });
            postedAgain = (await countPosted(sandbox)) - posts;
            return { ...took, posted: posts + postedAgain };
          }),
      },
    ],
  });
  if (postedAgain === null) return measured;
  return [
    ...measured,
    {
      name: 'orders that a second run of drt posts again ÷ orders',
      value: postedAgain / posts,
      detail: `${postedAgain} of ${posts} by the log of the sandbox; ours posts none`,
    },
  ];
}

/**
 * Runs a sandbox for one contender.
 *
 * @throws Error if the sandbox has not processed exactly the orders that it should have.
 */
async function withSandbox(
  posts: number,
  post: (sandbox: ServerProcess) => Promise<Took & { readonly posted?: number }>,
): Promise<Took> {
  const sandbox = await startSandbox([]);
  try {
    const took = await post(sandbox);
    const posted = await countPosted(sandbox);
    if (posted !== (took.posted ?? posts)) throw new Error(`${posted} posts instead of ${posts}`);
    return took;
  } finally {
    sandbox.stop();
  }
}

/** Number of referrals that the sandbox has processed. */
async function countPosted({ url }: ServerProcess): Promise<number> {
  const log = await (await fetch(`${url}/_sandbox/log/referrals`)).text();
  return log.split('\n').filter((line) => line !== '').length;
}

/** Only the posting itself counts: its entries are in the ledger before. */
async function postWithLedger({ url, posts }: Place, sandbox: ServerProcess): Promise<Took> {
  const args = [url, sandbox.url, sandbox.key, String(posts), String(IN_FLIGHT)];
  const env = { ...process.env, ...DEPLOYED };
  const { stdout, rssMb } = await measureProcess(process.execPath, [POSTING, ...args], { env });
  return { seconds: posts / (JSON.parse(stdout) as { rate: number }).rate, rssMb };
}

async function postByBenthos(
  { folder, posts }: Place,
  { program, sandbox }: { readonly program: string; readonly sandbox: ServerProcess },
): Promise<Took> {
  const path = `${folder}/posts.ndjson`;
  writeFileSync(path, Array.from({ length: posts }, (_, index) => `${bodyOf(`peer-${index}`)}\n`).join(''));
  const env = { ...process.env, ORDERS: path, API_URL: sandbox.url, API_KEY: sandbox.key };
  return measureProcess(program, ['--config', BENTHOS_POST], { env });
}

async function postByDrt(
  { db, url, folder, posts }: Place,
  { bin, sandbox }: { readonly bin: string; readonly sandbox: ServerProcess },
): Promise<Took> {
  await sql`create schema if not exists peers`.execute(db);
  await sql`drop table if exists peers.drt_orders`.execute(db);
  await sql`
    create table peers.drt_orders as
    select n as number, replace(${bodyOf('ORDER')}, 'ORDER', 'peer-' || n) as body
    from generate_series(1, ${posts}::int) n`.execute(db);
  const project = `${folder}/drt`;
  mkdirSync(`${folder}/.drt`, { recursive: true });
  cpSync(DRT_PROJECT, project, { recursive: true });
  const { hostname: host, port, username: user, pathname } = new URL(url);
  const profile = {
    type: 'postgres',
    host,
    port: Number(port),
    dbname: pathname.slice(1),
    user,
    password: '-',
  };
  // JSON is YAML.
  writeFileSync(`${folder}/.drt/profiles.yml`, JSON.stringify({ peers: profile }));
  const env = { ...process.env, HOME: folder, DO_NOT_TRACK: '1', API_URL: sandbox.url, API_KEY: sandbox.key };
  return measureProcess(`${bin}/drt`, ['run', '--quiet'], { env, cwd: project });
}
