import { EXIT } from '../../core/exit-code.ts';
import { KnownError, refusal } from '../../core/known-error.ts';
import { fileName } from '../../core/text/file-name.ts';
import { dayIn } from '../../core/time/day.ts';
import type { ClaimState } from '../../money/claims/keep-claims.ts';
import { item, more, section } from '../../render/block.ts';
import { plural } from '../../render/text.ts';
import { defineCommand, parseDay, parseId } from '../command.ts';

const STATES = [
  'open',
  'answered',
  'upheld',
  'rejected',
  'withdrawn',
] as const satisfies readonly ClaimState[];
const CLOSINGS = ['upheld', 'rejected', 'withdrawn', 'open'] as const;
const REPLY_FORMATS = ['table', 'csv', 'html'] as const;

const addCommand = defineCommand({
  name: 'add',
  changes: true,
  description: 'add the claims of a CSV file: creator, and order_id, or amount, currency and day; code',
  takes: [
    ['<file>', 'a CSV file; the same line twice is one claim'],
    ['--deadline <day>', 'day by which lines without a deadline are to be answered', parseDay],
  ],
  /** Adds the claims of a file. @returns 3 if some lines cannot be used; the others are added. */
  async action({ output, open }, { file: path, deadline = null }) {
    const { readSheetFile, describeProblems } = await import('../../core/text/read-sheet.ts');
    const { addClaims } = await import('../../decisions/decide-claims.ts');
    const { parseClaims } = await import('../../money/claims/parse-claims.ts');
    const file = fileName(path);
    const { text } = readSheetFile(path, ({ isMissing, cause }) =>
      refusal({
        code: 'claims_unreadable',
        message: isMissing ? 'The file cannot be read.' : 'The file is not UTF-8.',
        where: path,
        help: isMissing ? 'Check its path, and that this user may read it.' : 'Save it as "CSV UTF-8".',
        cause,
      }),
    );
    const { rows, problems: unusable, missingColumns } = parseClaims(text);
    if (missingColumns.length > 0)
      throw new KnownError({
        code: 'claims_unreadable',
        message: 'The file is no list of claims.',
        where: path,
        help: 'Its first line names the columns: creator,order_id,amount,currency,day,code,deadline. docs/claims.md has other names that count.',
        safe: 'Nothing was changed.',
        problems: describeProblems(unusable, file),
        exitCode: EXIT.configuration,
      });
    const { decide } = await open();
    const { added, completed, contradictions } = await decide((trx, here) =>
      addClaims(trx, { lines: rows, file, deadline, reason: null, ...here }),
    );
    const problems = [...unusable, ...contradictions];
    output.emit({
      event: 'claims_added',
      file,
      added: added.length,
      known: rows.length - added.length,
      completed: completed.length,
      problems,
    });
    output.print(
      `Added ${plural(added.length, 'claim')}. ${plural(rows.length - added.length, 'line')} known already${completed.length === 0 ? '' : `, which completed ${plural(completed.length, 'claim')}`}. To see the answers:  npx influencer-sync claims --state open`,
    );
    output.show(
      section('Lines that cannot be used, or that a claim contradicts', {
        count: problems.length,
        tone: 'yellow',
        parts: [
          ...describeProblems(problems.slice(0, NAMED), file).map(({ where, message, help }) =>
            item(`${where}: ${message}`, help),
          ),
          ...more(problems.length > NAMED, `and ${problems.length - NAMED} more`),
        ],
        help: 'The other lines are added. Correct these and add the file again: what an open claim states stays as it is.',
      }),
    );
    return problems.length > 0 ? EXIT.rowsRejected : EXIT.ok;
  },
});

const replyCommand = defineCommand({
  name: 'reply',
  changes: true,
  description: 'print the answers for a creator; those that are final are kept, the other claims stay open',
  requires: [['--creator <name>', 'handle or deal of the creator, as the claims write it']],
  takes: [['--format <format>', 'what to print', REPLY_FORMATS, 'table']],
  async action({ output, open }, { creator, format }) {
    const { answerCreator, claimRulesOf } = await import('../../decisions/decide-claims.ts');
    const { describeReply, renderReplyCsv } = await import('../../reports/claims/claims.ts');
    const { config, decide } = await open();
    const rules = claimRulesOf(config);
    const claims = await decide((trx, here) => answerCreator(trx, { creator, rules, ...here }));
    if (claims === null)
      throw refusal({
        code: 'claim_not_found',
        message: 'No claim is of this creator.',
        help: 'npx influencer-sync claims lists the claims. Write the creator as they do.',
      });
    for (const { claimId, answer } of claims)
      output.emit({ event: 'claim_reply', claimId, answer: answer.kind, reply: answer.reply });
    const blocks = describeReply(claims);
    if (format === 'csv') output.printRows(renderReplyCsv(claims));
    else if (format === 'html') {
      const { renderBlocksPage } = await import('../../render/html/report-page.ts');
      output.printRows(renderBlocksPage(blocks, { title: 'Answer to your claims', madeAt: new Date() }));
    } else output.show(blocks);
  },
});

const closeCommand = defineCommand({
  name: 'close',
  decides: { says: 'why', kept: 'with the claim' },
  description: 'close a claim, or open it again; its answer is kept, and no order changes',
  requires: [['--as <state>', 'upheld, rejected or withdrawn; open: decide its answer anew', CLOSINGS]],
  takes: [['<claim>', 'number of the claim', parseId]],
  async action({ output, open }, { claim: claimId, as: state, reason }) {
    const { claimRulesOf, closeClaim } = await import('../../decisions/decide-claims.ts');
    const { config, decide } = await open();
    const closing = await decide((trx, here) =>
      closeClaim(trx, { claimId, state, reason, rules: claimRulesOf(config), ...here }),
    );
    if (closing.kind !== 'closed')
      throw refusal({
        code: closing.kind === 'missing' ? 'claim_not_found' : 'claim_state_same',
        message:
          closing.kind === 'missing'
            ? `There is no claim ${claimId}.`
            : `Claim ${claimId} is ${state} already.`,
        help: 'npx influencer-sync claims lists the claims.',
      });
    output.emit({ event: 'claim_closed', claimId, state });
    output.print(`Claim ${claimId} is ${state}. No order has changed.`);
  },
});

export const claimsCommand = defineCommand({
  name: 'claims',
  summary: 'answer creators who say that orders were not credited',
  description: 'list orders that creators say were not credited, with the answer to each and its proof',
  takes: [
    ['--state <state>', 'only claims in this state', STATES],
    ['--creator <name>', 'handle or deal of one creator, as the claims write it'],
  ],
  examples: [
    ['claims add april.csv --deadline 2026-05-31', 'add the list of an agency'],
    ['claims --state open', 'the answers that open claims have now, and the next steps'],
    ['claims reply --creator mia.test --format csv > reply.csv', 'answer a creator; final answers are kept'],
    ["claims close 12 --as upheld --reason 'code was missing'", 'close a claim'],
  ],
  notes:
    'A claim credits nothing by itself. Its answer names the act: assign the code, settle the doubt, decide about the held order.',
  /**
   * Lists claims with their answers.
   * @returns 3 if one of them is open and its deadline is over.
   */
  async action({ output, open }, { state = null, creator = null }) {
    const { claimRulesOf } = await import('../../decisions/decide-claims.ts');
    const { describeClaims, isOverdue, readClaims, sumClaims } = await import(
      '../../reports/claims/claims.ts'
    );
    const { config, read } = await open();
    const claims = await read((db) => readClaims(db, { state, creator }, claimRulesOf(config)));
    for (const { given: _given, ...claim } of claims) output.emit({ event: 'claim', ...claim });
    for (const sum of sumClaims(claims)) output.emit({ event: 'claims_sum', ...sum });
    output.show(describeClaims(claims));
    const today = dayIn(new Date(), config.statements.timeZone);
    return claims.some((claim) => isOverdue(claim, today)) ? EXIT.rowsRejected : EXIT.ok;
  },
  commands: [addCommand, replyCommand, closeCommand],
});

const NAMED = 20;
