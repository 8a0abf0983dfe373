import type { KnownError } from '../../core/known-error.ts';
import { defineCommand } from '../command.ts';

/** So long does a place have for an answer, while a person waits for the rest of what is said. */
const PLACES_WITHIN_MS = 3_000;

/** Open orders of each job, backfill and state that are counted without `--exact`. */
const COUNTED = 10_000;

export const statusCommand = defineCommand({
  name: 'status',
  summary: 'show what waits, is held or in doubt, and what runs next',
  description: 'show the state: backlog, doubts, last and next runs, held files, active processes',
  takes: [['--exact', 'count all open orders, not only the first 10,000 of each job, backfill and state']],
  examples: [
    ['status', 'for a person'],
    ['status --exact', 'while a backfill of a million orders waits'],
    ['status --json | jq .backlog', 'for a program'],
  ],
  async action({ output }, options) {
    const { openConfigToRead, withDatabase } = await import('../open/open-config.ts');
    const { readStatus, describeStatus } = await import('../../reports/status/status.ts');
    const { didOf, jobKinds } = await import('../../../jobs/index.ts');
    const { describeUnanswered, describeUnreadFiles, surveyUnreadFiles } = await import(
      '../../runs/unread-files.ts'
    );
    const { openSourceClients } = await import('../../store/source-clients.ts');
    const { renderFinding } = await import('../terminal/show-findings.ts');
    const { nextSlots } = await import('../../ops/schedule/next-slots.ts');
    const config = await openConfigToRead(output, options);
    const lost: KnownError[] = [];
    const sourceClients = openSourceClients();
    const { status, survey } = await withDatabase(
      config,
      async (db) => ({
        status: await readStatus(db, {
          sources: Object.keys(config.sources),
          queued: Object.values(config.sources).flatMap(({ name, events }) =>
            events === null ? [] : [name],
          ),
          ...(options.exact === true ? {} : { limit: COUNTED }),
        }),
        survey: await surveyUnreadFiles(
          jobKinds,
          { config, sourceClients, db },
          { withinMs: PLACES_WITHIN_MS },
        ),
      }),
      { onLost: (problem) => lost.push(problem) },
    ).finally(sourceClients.close);
    const [problem = null] = lost;
    const next = nextSlots(Object.values(config.jobs), new Date());
    const ledger = { isContinuous: problem === null, code: problem?.details.code ?? null };
    output.show(describeStatus({ status, config, did: didOf, next }));
    const { files: unreadFiles, unanswered } = survey;
    output.emit({ event: 'status', ...status, unreadFiles, unanswered, ledger, nextSlots: next });
    for (const finding of [...describeUnreadFiles(unreadFiles), ...describeUnanswered(survey, config)])
      output.print(renderFinding(finding, output.terminal));
    // Thrown last, so that it appears next to the prompt: nothing is posted until this is settled.
    if (problem !== null) throw problem;
  },
});
