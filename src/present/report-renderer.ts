import type { RunReport } from '../model/report.ts';
import type { RunFinished } from '../model/run.ts';
import type { Screen } from './screen.ts';

export type RunSummary<Report extends RunReport = RunReport> = {
  readonly finished: RunFinished;
  readonly report: Report;
  /** What a person types after `npx influencer-sync …` to name the configuration, with a blank before it; empty for the default one. */
  readonly configOption?: string;
  /** `plan`: nothing was sent, so the words are about what would be. */
  readonly isPlan?: boolean;
  /** Why the run stopped before its end, in one sentence. */
  readonly problem?: string | null;
};

/** How the report of one kind of job is shown. */
export type ReportRenderer<Report extends RunReport = RunReport> = {
  /** What a run did, in a few words, for lists of runs: `32 posted`. */
  did(counts: Report['counts']): string;
  /** What a program is told before `run_finished`. */
  events(report: Report): readonly Readonly<Record<string, unknown>>[];
  /** The summary below its title; empty ones are left out. The first begins right under the title. */
  sections(summary: RunSummary<Report>, screen: Screen): readonly string[];
};
