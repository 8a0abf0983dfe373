import { z } from 'zod';
import { describeProblems } from '../../core/text/read-sheet.ts';
import { isDay } from '../../core/time/day.ts';
import { addClaims, answerCreator, claimRulesOf, closeClaim } from '../../decisions/decide-claims.ts';
import { type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { idField, text } from '../form-fields.ts';

/** Some thousand lines; a longer list is a file for the command. */
const MAX_LINES_CHARS = 200_000;

export const claimActions: readonly ConsoleAction[] = [
  /** Adds the claims of pasted lines. Lines that cannot be used are named, and the others are added. */
  defineAction({
    path: '/claims/add',
    form: z.object({
      lines: z
        .string({ error: 'The form lacks a field. Reload the page.' })
        .max(MAX_LINES_CHARS, 'The list is too long for the form. Use npx influencer-sync claims add FILE.'),
      deadline: text.refine(
        (day) => day === '' || isDay(day),
        'The deadline is not a day, such as 2026-05-31.',
      ),
    }),
    async perform({ trx, by }, { lines, deadline }) {
      const { parseClaims } = await import('../../money/claims/parse-claims.ts');
      const { rows, problems } = parseClaims(lines);
      // The audit, which shows them, keeps no values of lines.
      const named = describeProblems(
        problems.map((problem) => ({ ...problem, value: null })),
        'Line',
      ).map(({ where, message, help }) => `${where.replace(':', ' ')}: ${message} ${help}`);
      if (rows.length === 0)
        throw new Refused(named.length === 0 ? 'There is no line below the header.' : named.join(' '));
      await addClaims(trx, { lines: rows, file: null, deadline: deadline || null, unusable: named, ...by });
    },
  }),
  /** Keeps the final answers to the claims of one creator, as they are sent to the creator. */
  defineAction({
    path: '/claims/reply',
    form: z.object({ creator: text.min(1, 'The form does not name the creator.') }),
    async perform({ trx, config, by }, { creator }) {
      const answered = await answerCreator(trx, { creator, rules: claimRulesOf(config), ...by });
      if (answered === null) throw new Refused('This creator has no claims.');
    },
  }),
  /** Upholds, rejects or withdraws a claim, or opens it again. */
  defineAction({
    path: '/claims/close',
    form: z.object({
      claim: idField('claim'),
      state: z.enum(['upheld', 'rejected', 'withdrawn', 'open'], {
        error: 'Choose what becomes of the claim.',
      }),
    }),
    async perform({ trx, config, by }, { claim, state }) {
      const closing = await closeClaim(trx, { claimId: claim, state, rules: claimRulesOf(config), ...by });
      if (closing.kind === 'missing') throw new Refused(`There is no claim ${claim}.`);
      if (closing.kind === 'same') throw new Refused(`Claim ${claim} is ${state} already.`);
    },
  }),
];
