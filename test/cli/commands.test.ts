import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { exportRejected } from '../../src/cli/files/export-rejected.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { Database } from '../../src/db/connect.ts';
import type { RawRowsRequest } from '../../src/intake/read/fetch-raw-rows.ts';
import { JOB, type Seeded, SOURCE, seedRuns } from '../reports/seed.ts';
import { MAIN } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { makeTestFolder, setup } from '../support/setup.ts';

const PIPELINE = `database: {url: "\${DATABASE_URL:-}"}
sources:
  ${SOURCE}: {uri: ./exports, layout: shopify-orders, order_platform: shopify}
jobs:
  ${JOB}: {kind: attribute-orders, source: ${SOURCE}, brand_id: 4819}
`;

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Context = {
  readonly db: Database;
  readonly folder: string;
  readonly seeded: Seeded;
  run(...args: string[]): Promise<Ended>;
};

/** Creates a configuration in its own folder, a seeded database, and a way to run commands. */
async function open(env: Record<string, string> = {}): Promise<Context> {
  const { db, databaseUrl, folder } = await setup();
  mkdirSync(join(folder, 'layouts'));
  writeFileSync(join(folder, 'layouts', 'shopify-orders.yaml'), '');
  writeFileSync(join(folder, 'pipeline.yaml'), PIPELINE);
  const seeded = await seedRuns(db);
  const all = { DATABASE_URL: databaseUrl, INFLUENCER_SYNC_CONFIG: 'pipeline.yaml', ...env };
  return { db, folder, seeded, run: (...args) => start(args, { cwd: folder, env: all }) };
}

async function start(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Ended> {
  const { exitCode: code, stdout, stderr } = await runHere(args, options);
  return { code, stdout, stderr };
}

function eventsOf(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function widestLine(output: string): number {
  return Math.max(...output.split('\n').map((line) => line.length));
}

const noEnv = {};

describe('help of the commands', () => {
  test('lists every command in one line of 80 columns, those of every day first', async () => {
    const { code, stdout } = await start(['--help'], { cwd: '/', env: noEnv });
    expect(code).toBe(0);
    expect(stdout).toContain('Exit codes');
    expect(widestLine(stdout)).toBeLessThanOrEqual(80);
    const listed = stdout.slice(stdout.indexOf('Every day:'), stdout.indexOf('\n\nnpx influencer-sync'));
    const lines = listed.split('\n').filter((line) => line.startsWith(' '));
    expect(lines.filter((line) => !/^ {2}[a-z-]+ +[a-z]/.test(line))).toEqual([]);
    const names = lines.map((line) => line.trim().split(' ')[0]);
    const everyDay = ['init', 'doctor', 'plan', 'run', 'status', 'explain', 'review', 'console'];
    expect(names.slice(0, everyDay.length)).toEqual(everyDay);
    const known = createProgram(() => async () => {}).commands.map((command) => command.name());
    expect([...names].sort()).toEqual(known.filter((name) => name !== 'complete-words').sort());
  });

  test('has no argument with the name of an option, or with a hyphen: an action is given both by their names', () => {
    const within = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(within)];
    const misnamed = within(createProgram(() => async () => {})).flatMap((command) => {
      const options = command.options.map((option) => option.attributeName());
      return command.registeredArguments
        .map((argument) => argument.name())
        .filter((name) => options.includes(name) || name.includes('-'))
        .map((name) => `${command.name()} <${name}>`);
    });
    expect(misnamed).toEqual([]);
  });

  test('is searched by help: commands, pages and errors, and what is named exactly is shown', async () => {
    const help = async (...words: string[]) => start(['help', ...words], { cwd: '/', env: noEnv });
    const refunds = await help('refund');
    expect(refunds.stdout).toMatch(/^Command +About\nstatement +show what influencers earned/);
    expect(refunds.stdout).toMatch(/\ndocs\/statements\.md +What influencers earned\n/);
    expect(widestLine(refunds.stdout)).toBeLessThanOrEqual(80);
    expect((await help('migrated', 'table')).stdout).toMatch(/\ndatabase_not_migrated +/);
    expect((await help('database_lost')).stdout).toMatch(/^database_lost: The connection to the database/);
    // All errors of one code; a page by its headings; and words however they are joined.
    expect((await help('config_missing')).stdout.match(/^config_missing: /gm)).toHaveLength(3);
    expect((await help('exit', 'code', '7')).stdout).toMatch(/^Page +About\ndocs\/troubleshooting\.md /m);
    expect((await help('in-doubt')).stdout).toContain('\nentry_not_in_doubt ');
    expect((await help('codes', 'check')).stdout).toMatch(/^Usage: influencer-sync codes check /);
    expect((await help('docs/layouts.md')).stdout).toBe(readFileSync('docs/layouts.md', 'utf8'));
    expect(await help('xyzzy')).toMatchObject({ code: 2, stdout: '' });
    expect(await start(['ledger'], { cwd: '/', env: noEnv })).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('ledger seeds'),
    });
  });

  test('names the command that shows the page which an error cites, where that file is not', async () => {
    const context = await open();
    writeFileSync(join(context.folder, 'service.yaml'), 'x: [');
    expect((await context.run('status')).stderr).toContain('npx influencer-sync help docs/service.md');
  });

  test.each([['status'], ['runs'], ['explain', 'order'], ['review'], ['rejected'], ['migrate']])(
    'shows examples for %s %s',
    async (...command) => {
      const { code, stdout } = await start([...command, '--help'], { cwd: '/', env: noEnv });
      expect(code).toBe(0);
      expect(stdout).toContain('Examples:\n');
      expect(stdout).toContain(`npx influencer-sync ${command.join(' ')}`);
      expect(widestLine(stdout)).toBeLessThanOrEqual(80);
    },
  );

  test('init writes beside the file that --config names, as the hint of a missing configuration says', async () => {
    const folder = join(makeTestFolder(), 'my-shop');
    const init = (...args: string[]) =>
      start(['init', 'examples/shopify-folder/exports', '--brand', '4819', '--yes', ...args], {
        cwd: process.cwd(),
        env: noEnv,
      });
    const other = await init('--config', join(folder, 'shop.yaml'));
    expect(other).toMatchObject({ code: 2, stdout: '' });
    expect(other.stderr).toContain('init writes a file called pipeline.yaml, and not shop.yaml.');
    const both = await init('--config', join(folder, 'pipeline.yaml'), '--out', makeTestFolder());
    expect(both.stderr).toContain('--config and --out name different folders.');
    expect(await init('--config', join(folder, 'pipeline.yaml'))).toMatchObject({ code: 0 });
    expect(existsSync(join(folder, 'pipeline.yaml'))).toBe(true);
  });

  test('a misspelt command exits with 2 and suggests the right one, and so does runs with a number', async () => {
    const { code, stderr } = await start(['statsu'], { cwd: '/', env: noEnv });
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean status?');
    const numbered = await start(['runs', '1'], { cwd: makeTestFolder(), env: {} });
    expect(numbered).toMatchObject({ code: 2, stderr: expect.stringContaining('explain run ID') as string });
  });

  test.each([
    ['returns', '--from', '0000-01'],
    ['conflicts', '--to', '2026-13'],
    ['statement', '--month', '2026-1'],
  ])('%s %s %s exits with 2 and shows how to write a month', async (...command) => {
    const { code, stderr } = await start(command, { cwd: '/', env: noEnv });
    expect(code).toBe(2);
    expect(stderr).toContain('Write it like 2026-10.');
  });
});

describe('the configuration of a command', () => {
  test('is reported as missing with an example and exit code 2, without a stack trace', async () => {
    const { code, stdout, stderr } = await start(['status', '--config', 'no.yaml'], { cwd: '/', env: noEnv });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('There is no configuration file.');
    expect(stderr).not.toMatch(/^ +at .*:\d+/m);
  });

  test('is reported as invalid with an event and its problems if --json is given', async () => {
    const context = await open();
    writeFileSync(join(context.folder, 'pipeline.yaml'), PIPELINE.replace('brand_id', 'brandid'));
    const { code, stdout } = await context.run('status', '--json');
    expect(code).toBe(2);
    expect(eventsOf(stdout)).toMatchObject([
      {
        event: 'error',
        code: 'config_invalid',
        problems: [{ where: 'pipeline.yaml:5:3' }, { where: 'pipeline.yaml:5:67' }],
      },
    ]);
  });

  test('is named in every suggested command, so that the command can be copied', async () => {
    const context = await open({ INFLUENCER_SYNC_CONFIG: '' });
    writeFileSync(join(context.folder, 'my.env'), '');
    const named = '--config pipeline.yaml --env-file my.env';
    const found = await context.run('explain', 'order', 'none');
    expect(found.stderr.replace(/\s+/g, ' ')).toMatch(
      /^Configuration: pipeline\.yaml Error: .*\(npx influencer-sync rejected\)/,
    );
    expect((await context.run('status', '--json')).stderr).toBe('');
    const unknown = await context.run('explain', 'order', 'none', ...named.split(' '));
    expect(unknown.stderr).not.toContain('Configuration:');
    const said = unknown.stderr.replace(/\s+/g, ' ');
    expect(said).toContain(`(npx influencer-sync rejected ${named})`);
    expect(said).toContain(`(npx influencer-sync status ${named})`);
    const config = PIPELINE.replace('jobs:', 'jobs:\n  new: {kind: mirror-account}');
    writeFileSync(join(context.folder, 'pipeline.yaml'), config);
    const { stdout } = await context.run('status', ...named.split(' '));
    expect(stdout).toContain(`new: has not run yet. npx influencer-sync run ${named} new`);
    expect(stdout).toContain(`npx influencer-sync review ${named}`);
    await sql`drop schema bi cascade`.execute(context.db);
    await sql`delete from public.influencer_sync_migrations`.execute(context.db);
    const doctor = await context.run('doctor', ...named.split(' '));
    expect(doctor.stdout).toContain(`npx influencer-sync migrate ${named}`);
  });

  test('has mistakes in files beside it, which what only reads tells in one line, and what changes refuses', async () => {
    const context = await open();
    mkdirSync(join(context.folder, 'exports'));
    const settings = `statements: {terms: ./terms.csv}\n${PIPELINE.replace('brand_id', 'codes: ./codes.csv, brand_id')}`;
    writeFileSync(join(context.folder, 'pipeline.yaml'), settings);
    writeFileSync(join(context.folder, 'terms.csv'), 'deal_id,rate\n1,ten\n2,\n');
    const missing = await context.run('runs');
    expect(missing).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/there is no file\s+codes\.csv/),
    });
    writeFileSync(join(context.folder, 'codes.csv'), 'code,influencer_handle\nMIA10,\n');
    const reading = [
      'status',
      'runs',
      'rejected',
      'files',
      'jobs',
      'review',
      'config show',
      'explain order 1005',
    ];
    for (const words of [...reading, 'review --held']) {
      const { code, stdout, stderr } = await context.run(...words.split(' '));
      const said = stderr.replace(/\s+/g, ' ');
      expect([0, 3, 6], words).toContain(code);
      expect(said, words).toMatch(/Warning: codes\.csv:2 .*Until you correct it, no run starts\./);
      expect(said, words).toContain(
        'terms.csv:2 rate: "ten": This is not a readable number. (and 1 more mistake)',
      );
      expect(stdout, words).not.toContain('Warning');
    }
    // It opens the database twice.
    const { stderr: listed } = await context.run('payments');
    expect(listed.match(/codes\.csv:2/g)).toHaveLength(1);
    const { doubtId } = context.seeded;
    const decision = ['review', doubtId, '--write-off', '--reason', 'x'];
    for (const words of [decision, ['plan', JOB], ['jobs', 'pause', JOB, '--reason', 'x']]) {
      const { code, stdout, stderr } = await context.run(...words);
      expect([code, stdout], words.join(' ')).toEqual([2, '']);
      expect(stderr).toMatch(
        /Error: codes\.csv has a problem\.\n\n {2}codes\.csv:2[\s\S]*Fix codes\.csv and run/,
      );
    }
    expect((await sql`select 1 from ledger.decisions`.execute(context.db)).rows).toEqual([]);
  });

  test('takes unset variables from an environment file', async () => {
    const context = await open();
    writeFileSync(join(context.folder, '.env'), 'BRAND=77\n');
    writeFileSync(join(context.folder, 'pipeline.yaml'), PIPELINE.replace('4819', `"\${BRAND}"`));
    expect((await context.run('status')).code).toBe(2);
    expect((await context.run('status', '--env-file', '.env')).code).toBe(0);
  });
});

describe('the database of a command', () => {
  test('is reported as unreachable, without its password', async () => {
    const context = await open({ DATABASE_URL: 'postgres://u:planted-secret@127.0.0.1:1/x' });
    const { code, stdout, stderr } = await context.run('status', '--json');
    expect(code).toBe(1);
    expect(stderr).toContain('The database does not answer (ECONNREFUSED).');
    expect(stderr).toContain('127.0.0.1:1/x');
    expect(stdout + stderr).not.toContain('planted-secret');
    const unknown = await open({ DATABASE_URL: 'postgres://u@no-such-host.invalid/x' });
    expect((await unknown.run('status')).stderr).toContain('The host name of the database was not found (');
  });
});

describe('listings', () => {
  test('fit 80 columns in a pipe and have no colour', async () => {
    const context = await open();
    for (const command of [['status'], ['runs'], ['explain', 'order', '1005'], ['review'], ['rejected']]) {
      const { stdout } = await context.run(...command);
      expect(widestLine(stdout), command.join(' ')).toBeLessThanOrEqual(80);
      expect(stdout).not.toContain('\u001b');
    }
  });

  test('are coloured on request', async () => {
    const context = await open({ FORCE_COLOR: '1' });
    expect((await context.run('review')).stdout).toContain('\u001b[1m');
  });

  test('of status show what needs attention', async () => {
    const context = await open();
    const { code, stdout } = await context.run('status');
    expect(code).toBe(0);
    expect(stdout).toMatch(/attribute-orders +in doubt +2 +55\.00 EUR/);
    expect(stdout).toContain('Held files (1)');
    expect(stdout).toContain('In doubt (2)');
    expect(stdout).toContain('its process does not respond');
  });

  test('of runs are events with --json', async () => {
    const context = await open();
    const events = eventsOf((await context.run('runs', '--json', '--limit', '1')).stdout);
    expect(events).toMatchObject([
      { event: 'run', run_id: context.seeded.runId, status: 'lost', started_at: '2026-04-02T01:00:00.000Z' },
    ]);
  });

  test('of runs report the existing jobs if the named job does not exist', async () => {
    const context = await open();
    const misspelt = await context.run('runs', '--job', 'nope');
    expect(misspelt.code).toBe(2);
    expect(misspelt.stderr).toContain(`Existing jobs: ${JOB}.`);
  });

  test('explain an order by its ID or name, and exit with 2 for an unknown order', async () => {
    const context = await open();
    const { stdout } = await context.run('explain', 'order', '#1001');
    expect(stdout).toContain('orders-2026-04.csv line 2, 1 row, run 2 (in force)');
    expect(stdout).toContain('answered attempt 1: accepted, HTTP 200, deal D1');
    expect(await context.run('explain', 'order', 'nope')).toMatchObject({ code: 2, stdout: '' });
    expect((await context.run('explain', 'order', 'jane@shop.test')).stderr).not.toContain('jane@');
    expect((await context.run('explain', 'ordr', '1')).stderr).toContain('"ordr" cannot be explained.');
    expect((await context.run('explain', 'clicks')).stderr).toContain('Say which clicks to explain.');
  });

  test('explain whatever has an id, all of it if there are several, and ask if there are many', async () => {
    const context = await open();
    const { db, seeded } = context;
    await sql`insert into intake.code_lists (job, content_hash) values (${JOB}, 'h')`.execute(db);
    await sql`insert into intake.codes (job, line_no, code, code_folded, influencer_handle, handle_folded, target)
      values (${JOB}, 2, 'MIA10', 'mia10', 'Mia.Test', 'mia.test', 'handle:mia.test')`.execute(db);
    const explain = async (...words: string[]) => context.run('explain', ...words);
    const { stdout: both } = await explain(seeded.runId);
    expect(both).toMatch(new RegExp(`^Entry ${seeded.runId}\\. [\\s\\S]*\\nRun ${seeded.runId}\\n`));
    expect((await explain('run', seeded.runId)).stdout).toMatch(/^Run /);
    expect((await explain('1001')).stdout).toMatch(/^Order 1001 /);
    expect((await explain('Mia10')).stdout).toMatch(/^Code MIA10, .*\n\nOwners\n[\s\S]* Mia\.Test /);
    expect((await explain('@mia.test')).stdout).toMatch(/^Creator Mia\.Test\.\n[\s\S]* MIA10 /);
    expect((await explain('other.csv')).stdout).toMatch(/^File other\.csv: held\n[\s\S]*Export it again/);
    expect((await explain('file', 'other.csv')).stdout).toMatch(
      /first read .* \(UTC\)\n +last read +by run \d/,
    );
    expect((await explain(JOB)).stdout).toBe(
      `${JOB} is a job. Its runs:\n  npx influencer-sync runs --job ${JOB}\n`,
    );
    expect((await explain('no_such_code')).stderr).toContain('npx influencer-sync help no_such_code');
    const [event] = eventsOf((await explain('entry', seeded.doubtId, '--json')).stdout);
    expect(event).toMatchObject({ event: 'entry', entry_id: seeded.doubtId });
    expect(event).not.toHaveProperty('body');
    await sql`insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, rows_read, order_rows,
        rejected_rows, run_id, hold_code, hold_message, hold_help)
      select source, 'file:///' || folder || '/other.csv', version, size_bytes, layout, layout_hash, state, rows_read, order_rows,
        rejected_rows, run_id, hold_code, hold_message, hold_help
      from intake.source_files cross join generate_series(1, 4) folder where uri like '%/other.csv'`.execute(
      db,
    );
    const path = join(context.folder, 'exports', 'other.csv');
    mkdirSync(join(context.folder, 'exports'));
    writeFileSync(path, '');
    expect((await explain(path)).stderr).toContain(`The source ${SOURCE} covers it.`);
    await sql`update intake.source_files set uri = ${pathToFileURL(path).href} where uri = 'file:///1/other.csv'`.execute(
      db,
    );
    expect((await explain(path)).stdout).toMatch(/^File other\.csv: held\n/);
    await sql`update intake.source_files set uri = 'file:///1/other.csv' where uri = ${pathToFileURL(path).href}`.execute(
      db,
    );
    const many = await explain('other.csv');
    expect(many).toMatchObject({ code: 2, stdout: '' });
    expect(many.stderr).toContain('npx influencer-sync explain file file:///4/other.csv\n');
    for (const text of ['nothing', 'nothing-of@shop.test'])
      expect(await explain(text), text).toMatchObject({
        code: 2,
        stderr: expect.not.stringContaining('of@shop.test'),
      });
  });

  test('end silently if the reader of their output exits early', async () => {
    const context = await open();
    const child = spawn(
      '/bin/sh',
      ['-c', `"${process.execPath}" "${MAIN}" rejected --json | true; echo done`],
      {
        cwd: context.folder,
        env: { PATH: process.env.PATH, INFLUENCER_SYNC_CONFIG: 'pipeline.yaml', DATABASE_URL: '' },
      },
    );
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stdout).toBe('done\n');
    expect(stderr).not.toContain('EPIPE');
  });
});

describe('review', () => {
  test('lists doubts with amount and evidence, and exits with 6', async () => {
    const context = await open();
    const { code, stdout } = await context.run('review');
    expect(code).toBe(6);
    expect(stdout).toContain('2 orders in doubt: 55.00 EUR');
    expect(stdout).toContain('webhook order, deal D1, 33.00 EUR');
  });

  test('settles a doubt with a reason, after which it is no longer in doubt', async () => {
    const context = await open();
    const { doubtId, lostId } = context.seeded;
    expect((await context.run('review', doubtId, '--accepted', '--reason', 'it is listed')).stdout).toBe(
      `Entry ${doubtId} is accepted now.\n`,
    );
    expect((await context.run('review', lostId, '--write-off', '--reason', 'unclear')).stdout).toBe(
      `Entry ${lostId} is written off now.\n`,
    );
    expect(await context.run('review')).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^No order is in doubt\.\n[\s\S]*Held orders \(1\)/),
    });
    const { rows } = await sql`select decision, reason from ledger.decisions order by decision_id`.execute(
      context.db,
    );
    expect(rows).toEqual([
      { decision: 'accept', reason: 'it is listed' },
      { decision: 'write_off', reason: 'unclear' },
    ]);
    const again = await context.run('review', doubtId, '--write-off', '--reason', 'x');
    expect(again.code).toBe(2);
    expect(again.stderr).toContain(`Entry ${doubtId} is accepted`);
  });

  test('reports missing options and changes nothing', async () => {
    const context = await open();
    const { doubtId, lostId } = context.seeded;
    for (const [args, message] of [
      [[doubtId], 'does not say what to do'],
      [[doubtId, '--accepted'], 'needs a reason'],
      [[doubtId, '--accepted', '--reason', ' '], 'needs a reason'],
      [[lostId, '--accepted', '--reason', 'x'], 'credited deal is unknown'],
      [['999', '--write-off', '--reason', 'x'], 'There is no entry 999'],
      [[doubtId, '--accepted', '--resend', '--reason', 'x'], 'cannot be used with'],
    ] as const) {
      const { code, stderr } = await context.run('review', ...args);
      expect(code).toBe(2);
      expect(stderr).toContain(message);
    }
    expect((await sql`select 1 from ledger.decisions`.execute(context.db)).rows).toEqual([]);
  });

  test('sends an order again only after an explicit confirmation', async () => {
    const context = await open();
    const { doubtId } = context.seeded;
    const refused = await context.run('review', doubtId, '--resend', '--reason', 'not listed');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('credited twice');
    const { code, stdout } = await context.run(
      'review',
      doubtId,
      '--resend',
      '--reason',
      'not listed',
      '--yes',
      '--json',
    );
    expect(code).toBe(0);
    expect(eventsOf(stdout)).toEqual([{ event: 'decided', entry_id: doubtId, state: 'ready' }]);
  });

  test('warns of what sending again repeats: not of a credit, if it is a batch of outreach', async () => {
    const { db, run } = await open();
    const { rows } = await sql<{ id: string }>`
      insert into ledger.entries (effect, account_id, key, state, attempt, doubtful_attempt, body, body_hash, job, run_id,
        state_reason)
      select 'outreach', 'ACC-1', 'k', 'in_doubt', 1, 1, '{"outreach_id": "O1", "influencer_ids": ["7"]}', 'h', 'spring',
        max(run_id), 'no answer in time'
      from ops.runs returning entry_id as id`.execute(db);
    const id = rows[0]?.id ?? '';
    const resend = ['--resend', '--reason', 'not listed'];
    const warned = async (...args: string[]) =>
      (await run('review', ...args, ...resend)).stderr.replaceAll(/\s+/g, ' ');
    for (const chosen of [[id], ['--all', '--job', 'spring']]) {
      const warning = await warned(...chosen);
      expect(warning).toContain('processed it, it skips the influencers who are in the outreach');
      expect(warning).not.toContain('credited');
    }
    expect(await warned('--all')).toContain(
      'they may be contacted twice, or the influencer is credited twice, which cannot be undone.',
    );
  });
});

describe('--dry-run', () => {
  test('says what a decision would do, or why it is refused, and rolls it back', async () => {
    const context = await open();
    const { doubtId } = context.seeded;
    const state = async (): Promise<unknown> => {
      const { rows } = await sql`
        select (select count(*) from ops.audit) as audited, (select count(*) from ledger.decisions) as decided,
          (select count(*) from intake.expected_dates) as dates,
          (select jsonb_agg(state order by source_file_id) from intake.source_files) as files,
          (select jsonb_agg(state order by entry_id) from ledger.entries) as entries`.execute(context.db);
      return rows;
    };
    const before = await state();
    const why = ['--reason', 'x', '--dry-run'];
    for (const [words, said] of [
      [['review', doubtId, '--resend', ...why], `Entry ${doubtId} is ready`],
      [['review', '--all', '--write-off', ...why], 'Nothing was changed.'],
      [['review', '--held', '--exclude', ...why], '1 held order (7.00 EUR) is never credited.'],
      [['files', 'release', 'other.csv', ...why], 'The rows of other.csv are discarded.'],
      [['files', 'release', '--all', ...why], 'Nothing was changed.'],
      [['files', 'reread', 'other.csv', '--dry-run'], 'The next run reads 1 file again'],
      [['checks', 'expect-date', '2026-11-27', 'BF', '--dry-run'], '2026-11-27 is expected: BF.'],
    ] as const) {
      const { code, stdout, stderr } = await context.run(...words);
      expect([code, stdout.split('\n')[0]], words.join(' ') + stderr).toEqual([
        0,
        'Dry run: what follows is not done.',
      ]);
      expect(stdout.replace(/\s+/g, ' ')).toContain(said);
    }
    // An option counts before a subcommand, too; the database of another configuration would be another ledger.
    for (const [words, said] of [
      [['backfill', '--yes', '--exact', 'resume'], "unknown option '--exact'"],
      [['backfill', '--rate', '1', 'pause'], 'backfill pause has no option --rate.'],
      [['backfill', '--config', 'other.yaml', 'resume', '--yes'], 'other.yaml'],
      [['--run', '2', 'rejected'], 'Write options after it: npx influencer-sync rejected '],
    ] as const)
      expect(await context.run(...words), words.join(' ')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(said),
      });
    expect(await context.run('backfill', '--yes', '--dry-run', 'resume')).toMatchObject({ code: 0 });
    const refused = await context.run('review', '999', '--write-off', ...why);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no entry 999') });
    expect(await state()).toEqual(before);
  });
});

describe('rejected', () => {
  test('shows file, line, column, value, reason and help', async () => {
    const context = await open();
    expect((await context.run('rejected')).stdout).toContain(
      `  orders-2026-04.csv line 14, column Total "12,3x"\n    (source ${SOURCE}, for orders) It is not an amount of money.\n    Write it like 1249.00.\n`,
    );
    expect((await context.run('rejected', '--source', 'other')).stdout).toBe('No rejected row matches.\n');
  });

  test('exports rows as they are in the file, and never overwrites a file', async () => {
    const context = await open();
    const asked: RawRowsRequest[] = [];
    const printed: string[] = [];
    const path = join(context.folder, 'fix.csv');
    const input = {
      db: context.db,
      config: loadConfig(join(context.folder, 'pipeline.yaml'), {}),
      output: {
        json: false,
        emit() {},
        warn() {},
        print: (line: string) => void printed.push(line),
      } as never,
      filter: {},
      fetchRows: async (request: RawRowsRequest) => {
        asked.push(request);
        return {
          header: ['Name', 'Total'],
          delimiter: ';',
          encoding: 'windows-1252',
          rows: [['=Zoë', '12,3x']],
        };
      },
      path,
      escapeFormulas: true,
    };
    expect(await exportRejected(input)).toBe(0);
    expect(asked).toMatchObject([
      { source: SOURCE, version: 'sha256:1', records: [{ record: 13, rowCount: 1 }] },
    ]);
    expect(readFileSync(path, 'latin1')).toBe("Name;Total\r\n'=Zoë;12,3x\r\n");
    expect(printed[0]).toContain('1 row written');
    await expect(exportRejected(input)).rejects.toThrow('The file already exists.');
    await expect(exportRejected({ ...input, path: `${path}2`, fetchRows: async () => null })).rejects.toThrow(
      'gone or were replaced',
    );
    await expect(exportRejected({ ...input, filter: { code: 'x' } })).rejects.toThrow(
      'No rejected row matches.',
    );
  });
});

test.each([
  ['backfill', (day: string) => ['backfill', 'orders', '--from', day]],
  ['checks expect-date', (day: string) => ['checks', 'expect-date', day, 'Sale']],
])('%s takes days of the calendar from 1900 on', async (_command, args) => {
  for (const day of ['2026-02-31', '0026-04-30', '2026-4-30', '2026-04-30T00:00', '']) {
    const ended = await runHere(args(day), { cwd: makeTestFolder(), env: {} });
    expect(ended, day).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('It should be a day of the calendar, like 2026-10-31.'),
    });
  }
});
