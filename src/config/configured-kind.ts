import type { z } from 'zod';
import type { JobSettings, PipelineConfig } from '../core/config.ts';
import type { Problem } from '../core/known-error.ts';
import type { ConfigPath } from './locate.ts';
import type { SourceSetting } from './source-fields.ts';

/** A problem that a rule found: its place in the file, what is wrong, and how to fix it. */
export type ConfigFinding = { readonly path: ConfigPath; readonly message: string; readonly help: string };

/** What a job's settings need besides their own section of the file. */
export type JobContext = {
  readonly name: string;
  /** Resolves a path relative to the folder of the file. */
  readonly resolvePath: (path: string) => string;
  /** Whether the orders of a source are stored with a key of their customer. */
  readonly hasCustomerKeys: (source: string) => boolean;
};

/**
 * A strict object schema with the literal `kind`. Its output is a function from the context to the settings.
 */
export type JobFields<Settings extends JobSettings = JobSettings> = z.core.$ZodTypeDiscriminable &
  z.ZodType<(context: JobContext) => Settings>;

/**
 * What the configuration must know about a kind of job. The members are methods, so that kinds with different
 * settings fit into one list.
 */
export type ConfiguredKind<Settings extends JobSettings = JobSettings> = {
  readonly kind: Settings['kind'];
  /** The fields of the kind in `pipeline.yaml`. */
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
