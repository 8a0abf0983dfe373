import { EXIT } from '../../core/exit-code.ts';
import { refusal } from '../../core/known-error.ts';
import { foldCode } from '../../core/text/fold.ts';
import { defineCommand, parseDay } from '../command.ts';
import { requireReason } from '../usage-error.ts';

const acknowledgeCommand = defineCommand({
  name: 'acknowledge',
  decides: { says: 'why', kept: 'in the audit' },
  description: 'acknowledge a flagged code: for 30 days, it is reported again only if it changes',
  takes: [['<code>', 'the code, as `leaks` lists it']],
  async action({ output, open }, { code: written, reason }) {
    const { acknowledgeLeak } = await import('../../decisions/acknowledge-leak.ts');
    const code = foldCode(written);
    const { decide } = await open();
    const isFlagged = await decide((trx, { audit }) =>
      acknowledgeLeak(trx, { code, reason, now: new Date(), audit }),
    );
    if (!isFlagged)
      throw refusal({
        code: 'code_not_flagged',
        message: 'This code is not flagged.',
        help: 'npx influencer-sync leaks lists the flagged codes.',
      });
    output.emit({ event: 'leak_acknowledged', code, reason });
    output.print(
      `Acknowledged: ${code}. It stays in the list. For 30 days, it is reported again only if its orders double or another deal has it.`,
    );
  },
});

const voidCommand = defineCommand({
  name: 'void',
  changes: true,
  description: 'let a code earn nothing from a day on: write a row with the rate 0 into the terms',
  takes: [
    ['<code>', 'the code'],
    [
      '--from <day>',
      'first day that earns nothing (default: the last on which the leak may have begun)',
      parseDay,
    ],
    ['--reason <text>', 'why; kept in the terms and in the audit'],
  ],
  /** Lets a code earn nothing from a day on, or with `--dry-run` shows what that would change. */
  async action({ output, open }, { code: written, from, dryRun = false, reason: given }) {
    const { findLeaks } = await import('../../money/leaks/find-leaks.ts');
    const { previewVoid } = await import('../../money/leaks/preview-void.ts');
    const { voidCode } = await import('../../decisions/void-code.ts');
    const { describeVoid } = await import('../../reports/money/leaks.ts');
    const code = foldCode(written);
    const reason = dryRun ? '' : requireReason(given, 'in the terms and in the audit');
    const { config, read, decide } = await open({ warnsOfTerms: false });
    const now = new Date();
    const [leak = null] = await read((db) => findLeaks(db, { now, code }));
    const day = from ?? leak?.began?.to;
    if (day === undefined)
      throw refusal({
        code: 'leak_day_unknown',
        message: leak === null ? 'This code is not flagged.' : 'When the leak began cannot be known.',
        where: code,
        help: 'Name the first day that earns nothing: --from 2026-10-31. The page of the code shows its orders by day.',
      });
    const wanted = { settings: config.statements, code, day, reason, now };
    const preview = dryRun
      ? await read((db) => previewVoid(db, wanted))
      : await decide((trx, { audit }) => voidCode(trx, { ...wanted, seen: null, audit }));
    const { before: _before, text: _text, seal: _seal, ...shown } = preview;
    output.emit({ event: dryRun ? 'void_preview' : 'code_voided', ...shown });
    output.show(describeVoid(preview, leak));
    output.print(
      dryRun
        ? 'Dry run: nothing was changed.'
        : preview.isWritten
          ? `${preview.file} had the row already. The decision is recorded now.`
          : `Written to ${preview.file}. Statements show it from now on.`,
    );
  },
});

export const leaksCommand = defineCommand({
  name: 'leaks',
  summary: 'list codes that may have leaked',
  description: 'list codes that may have leaked: people use them who do not come from the creator',
  examples: [
    ['leaks', 'codes with unusual orders in the last four weeks, and the figures'],
    [
      'leaks void MIA10 --dry-run',
      'what would change if it earned nothing from the day on which the leak began',
    ],
    ["leaks void MIA10 --from 2026-10-31 --reason 'on a coupon site'", 'write that into the terms'],
    ["leaks acknowledge MIA10 --reason 'on air in a podcast'", 'it is not a leak, or you have dealt with it'],
  ],
  notes: 'Nothing is withheld. Exits with 3 while a flagged code is not acknowledged.',
  /**
   * Lists codes that may have leaked.
   * @returns 3 if one of them is not acknowledged.
   */
  async action({ output, open }) {
    const { read } = await open();
    const { findLeaks } = await import('../../money/leaks/find-leaks.ts');
    const { describeLeaks } = await import('../../reports/money/leaks.ts');
    const leaks = await read((db) => findLeaks(db, { now: new Date() }));
    for (const leak of leaks) output.emit({ event: 'leaked_code', ...leak });
    output.show(describeLeaks(leaks));
    return leaks.some(({ acknowledged }) => acknowledged === null) ? EXIT.rowsRejected : EXIT.ok;
  },
  commands: [acknowledgeCommand, voidCommand],
});
