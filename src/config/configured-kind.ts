import type { Problem } from '../core/known-error.ts';
import type { JobFields, JobSettings } from './job-fields.ts';
import type { ConfigPath } from './locate.ts';
import type { PipelineConfig } from './schema.ts';
import type { SourceSetting } from './source-fields.ts';

/** A problem that a rule found: its place in the file, what is wrong, and how to fix it. */
export type ConfigFinding = {
  readonly path: ConfigPath;
  readonly message: string;
  readonly help: string;
  /** The setting is well written, but the file that it names is missing: what only reads does not need it. */
  readonly isOfFile?: boolean;
};

/**
 * What the configuration must know about a kind of job. The members are methods, so that kinds with different
 * settings fit into one list.
 */
export type ConfiguredKind<Settings extends JobSettings = JobSettings> = {
  readonly kind: Settings['kind'];
  readonly fields: JobFields<Settings>;
  /**
   * The settings of its sources that it reads, of those that not every kind reads. Another one is an error if no
   * job that reads the source uses it. Whoever reads `order_platform` needs it.
   */
  readonly readsOfSource: readonly SourceSetting[];
  /** Advice if two jobs of the kind read the same source. */
  readonly oneReaderHelp: string;
  /**
   * Checks what no single setting shows.
   *
   * @param context.before earlier jobs of the same kind in the file.
   */
  crossCheck?(
    job: Settings,
    context: { readonly config: PipelineConfig; readonly before: readonly Settings[] },
  ): Iterable<ConfigFinding>;
  /** Finds problems in the files that its jobs name, if they exist. */
  checkFiles?(jobs: readonly Settings[]): readonly Problem[];
};
