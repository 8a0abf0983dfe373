import type { z } from 'zod';
import type { JobSettings, PipelineConfig } from '../model/config.ts';
import type { Problem } from '../model/known-error.ts';
import type { ConfigPath } from './locate.ts';

/** A rule's finding: where in the file, what is wrong, how to fix it. */
export type ConfigFinding = { readonly path: ConfigPath; readonly message: string; readonly help: string };

/** What a job's settings need beyond their own lines of the file. */
export type JobContext = {
  readonly name: string;
  /** Makes a path absolute, from the folder of the file. */
  readonly resolvePath: (path: string) => string;
  /** Whether orders of a source are stored with the key of their customer. */
  readonly hasCustomerKeys: (source: string) => boolean;
};

/** A strict object with the literal `kind` that ends in a function from its context to its settings. */
export type JobFields<Settings extends JobSettings = JobSettings> = z.core.$ZodTypeDiscriminable &
  z.ZodType<(context: JobContext) => Settings>;

/** What the configuration has to know of a kind of job. Written as methods, so that kinds with settings of their own fit into one list. */
export type ConfiguredKind<Settings extends JobSettings = JobSettings> = {
  readonly kind: Settings['kind'];
  /** Its fields in `pipeline.yaml`. */
  readonly fields: JobFields<Settings>;
  /** Whether a source that it reads must say its `order_platform`. */
  readonly needsOrderPlatform: boolean;
  /** What to do where two jobs of the kind read one source. */
  readonly oneReaderHelp: string;
  /**
   * What no single setting shows.
   *
   * @param context.before jobs of the same kind that stand before it in the file.
   */
  crossCheck?(
    job: Settings,
    context: { readonly config: PipelineConfig; readonly before: readonly Settings[] },
  ): Iterable<ConfigFinding>;
  /** Mistakes in the files that its jobs name, of those that are there. */
  checkFiles?(jobs: readonly Settings[]): readonly Problem[];
};
