import { defineCommand, parseCount } from '../command.ts';

/** The statement timeout of bi_reader (sql/roles.sql). */
const DEFAULT_TIMEOUT_S = 30;

/** Time that a server gets to cancel a query after its timeout. */
const GRACE_MS = 5_000;

export const queryCommand = defineCommand({
  name: 'query',
  description: 'query the views of schema bi with SQL; changes nothing',
  takes: [
    ['<sql>', 'one select; docs/data-dictionary.md lists the views and their columns'],
    ['--csv', 'comma-separated values with a header'],
    ['--limit <count>', 'maximum rows', parseCount, 1_000],
    ['--timeout <seconds>', 'seconds after which a server cancels the query', parseCount, DEFAULT_TIMEOUT_S],
  ],
  examples: [
    ['query "select * from bi.run_health"', 'the health of each job'],
    ['query "select * from bi.deal_performance_daily order by day_utc desc limit 10"', 'what deals earned'],
    ['query "select * from bi.orders_attributed where is_open" --csv > open.csv', 'for a spreadsheet'],
  ],
  async action({ output }, options) {
    const { sql: text } = options;
    const { openConfigToRead, reading, withDatabase } = await import('../open/open-config.ts');
    const { inPhase } = await import('../../db/phase.ts');
    const { queryViews, renderQuery } = await import('../../reports/query-views.ts');
    const { limit, timeout } = options;
    const timeoutMs = timeout * 1000;
    // The server cancels the query; this limit is for a server that does not.
    const phase = { name: 'Running the query', limitMs: timeoutMs + GRACE_MS };
    const config = await openConfigToRead(output, options);
    const { url, biUrl } = config.database;
    // The BI login sees only schema bi, so it cannot check whether the database is migrated.
    const database = { ...config.database, url: biUrl === '' ? url : biUrl };
    const result = await withDatabase(
      { ...config, database },
      (db) => inPhase(phase, () => queryViews(db, { text, limit, timeoutMs })),
      { migrated: biUrl === '', ...reading(output) },
    );
    for (const row of result.json) output.emitText(`{"event":"row","row":${row}}`);
    output.printRows(renderQuery(result, { terminal: output.terminal, isCsv: options.csv === true }));
    if (result.isCut) output.warn(`These are the first ${limit} rows; there are more (--limit).`);
  },
});
