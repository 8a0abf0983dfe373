/** One file of Shopify rows into Postgres: by psql, dlt, Benthos and us; csv-parse only reads it. */
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { connect, type Database } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { findProgram, installPython } from '../install.ts';
import { DEPLOYED, type Measurement } from '../measure.ts';
import { measureProcess } from '../measure-process.ts';
import { SHOPIFY_HEADER, writeShopifyExport } from '../write-shopify-export.ts';
import { type Contender, compare, type Took } from './compare.ts';
import { installBenthos } from './install-benthos.ts';

const INTAKE = fileURLToPath(new URL('../intake.ts', import.meta.url));
const DLT_LOAD = fileURLToPath(new URL('dlt_load.py', import.meta.url));
const BENTHOS_LOAD = fileURLToPath(new URL('benthos-load.yaml', import.meta.url));

type Place = {
  /** A folder whose only file is the export. */
  readonly folder: string;
  readonly path: string;
  readonly rows: number;
  readonly url: string;
  readonly db: Database;
};

/** @param options.folder an empty folder. */
export async function compareLoading(options: {
  readonly db: Database;
  readonly url: string;
  readonly folder: string;
  readonly rows: number;
  readonly rounds: number;
}): Promise<readonly Measurement[]> {
  const { db, rows, rounds, folder } = options;
  const place: Place = { ...options, path: `${folder}/orders.csv` };
  await writeShopifyExport(place.path, { rows });
  const psql = findProgram('psql', '--version');
  const dlt = installPython('dlt', new URL('dlt-requirements.txt', import.meta.url));
  const benthos = installBenthos();
  const fromDlt = (name: string, disposition: string, runs: number): Contender => ({
    name,
    installed: dlt,
    run: (bin, round) => loadByDlt(place, { bin, disposition, dataset: `dlt_${disposition}_${round}`, runs }),
  });
  const contenders: readonly Contender[] = [
    { name: 'psql \\copy into text columns', installed: psql, run: (program) => copyByPsql(place, program) },
    {
      name: 'csv-parse alone, nothing stored',
      installed: { path: process.execPath },
      run: async (node) => measureProcess(node, [INTAKE, 'csvParse', place.path]),
    },
    fromDlt('dlt append', 'append', 1),
    fromDlt('dlt merge', 'merge', 1),
    fromDlt('dlt merge again', 'merge', 2),
    {
      name: 'Benthos, six columns in batches of 5,000',
      installed: benthos,
      run: (program) => loadByBenthos(place, program),
    },
  ];
  const ours = async (round: number): Promise<Took> => {
    const database = `ours_${round}`;
    await sql`create database ${sql.id(database)}`.execute(db);
    const url = new URL(place.url);
    url.pathname = database;
    await laySchema(url.href);
    await sql`checkpoint`.execute(db);
    const env = { ...process.env, ...DEPLOYED };
    const took = await measureProcess(process.execPath, [INTAKE, 'intake', folder, url.href], { env });
    await sql`drop database ${sql.id(database)} with (force)`.execute(db);
    return took;
  };
  return compare({ work: `${rows.toLocaleString('en')} rows into Postgres`, rounds, ours, contenders });
}

async function laySchema(url: string): Promise<void> {
  const db = await connect({ url, embeddedFolder: '' });
  await migrate(db);
  await db.destroy();
}

async function copyByPsql({ db, url, path, rows }: Place, psql: string): Promise<Took> {
  const columns = SHOPIFY_HEADER.map((name) => sql`${sql.id(name)} text`);
  await sql`create table copied (${sql.join(columns)})`.execute(db);
  await sql`checkpoint`.execute(db);
  const copy = `\\copy copied from '${path}' with (format csv, header)`;
  const took = await measureProcess(psql, ['--no-psqlrc', '--dbname', url, '--command', copy]);
  await countAndDrop(db, { table: sql`copied`, rows });
  return took;
}

/** Loads the file into a dataset of its own, perhaps twice. @returns what the last time took. */
async function loadByDlt(
  { db, url, path, rows, folder }: Place,
  options: {
    readonly bin: string;
    readonly disposition: string;
    readonly dataset: string;
    readonly runs: number;
  },
): Promise<Took> {
  const { bin, disposition, runs } = options;
  const dataset = `${options.dataset}_${runs}`;
  // dlt keeps its state and settings below these.
  const env = {
    ...process.env,
    DLT_DATA_DIR: `${folder}.dlt`,
    HOME: `${folder}.dlt`,
    RUNTIME__DLTHUB_TELEMETRY: 'false',
    CREDENTIALS__PASSWORD: '-',
  };
  let took: Took = { seconds: Number.NaN, rssMb: Number.NaN };
  for (let run = 1; run <= runs; run += 1) {
    await sql`checkpoint`.execute(db);
    took = await measureProcess(`${bin}/python`, [DLT_LOAD, path, url, dataset, disposition], { env });
  }
  await countAndDrop(db, { table: sql`${sql.id(dataset, 'orders')}`, rows });
  await sql`drop schema if exists ${sql.id(dataset)}, ${sql.id(`${dataset}_staging`)} cascade`.execute(db);
  return took;
}

async function loadByBenthos({ db, url, path, rows }: Place, benthos: string): Promise<Took> {
  const columns = ['name', 'email', 'total', 'currency', 'discount_code', 'created_at'];
  await sql`create table benthos_orders (${sql.join(columns.map((name) => sql`${sql.id(name)} text`))})`.execute(
    db,
  );
  await sql`checkpoint`.execute(db);
  const env = { ...process.env, ORDERS: path, DATABASE_URL: `${url}?sslmode=disable` };
  const took = await measureProcess(benthos, ['--config', BENTHOS_LOAD], { env });
  await countAndDrop(db, { table: sql`benthos_orders`, rows });
  return took;
}

/** @throws Error if a table does not have every row of the file. */
async function countAndDrop(
  db: Database,
  { table, rows }: { readonly table: ReturnType<typeof sql>; readonly rows: number },
): Promise<void> {
  const counted = await sql<{ count: string }>`select count(*) from ${table}`.execute(db);
  if (Number(counted.rows[0]?.count) !== rows)
    throw new Error(`${counted.rows[0]?.count} of ${rows} rows were loaded`);
  await sql`drop table ${table}`.execute(db);
}
