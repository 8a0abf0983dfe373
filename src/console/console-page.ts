import type { z } from 'zod';
import type { ActorlessRecord } from '../audit/record-audit.ts';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import type { PipelineConfig, Role } from '../model/config.ts';
import type { HtmlValue } from '../model/text/html.ts';

/** Who is at the browser. */
export type Actor = { readonly name: string; readonly role: Role };

/** One request for a page, and what the page is made with. */
export type Visit = {
  /** Reads only, and no statement takes longer than a person waits. */
  readonly db: Database;
  readonly config: PipelineConfig;
  readonly actor: Actor;
  /** Whether this person may change things here: otherwise a page shows no forms. */
  readonly mayChange: boolean;
  /** Of this page, without its query. */
  readonly path: string;
  /** Parts of the path: `run` of `/runs/:run`. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands behind the question mark. */
  readonly query: URLSearchParams;
  /** The instant that the page shows: relative times are counted from here. */
  readonly now: Date;
  /** IANA zone beside UTC: of the query, else of the configuration. */
  readonly zone: string;
  /** Address of a page of ours; empty values are left out, and the chosen zone goes along. */
  link(path: string, query?: Readonly<Record<string, LinkValue>>): string;
};

export type LinkValue = string | number | null | undefined;

/** What a page shows, the address of the page that shows it, or a file. */
export type Shown = ShownPage | { readonly redirect: string } | { readonly download: Download };

/** A file to save. Its name is of our own words and ids. */
export type Download = { readonly name: string; readonly type: string; readonly content: string | Buffer };

export type ShownPage = {
  /** Heading, and title of the window. */
  readonly title: string;
  readonly content: HtmlValue;
  /** 200, unless there is nothing of the name (404). */
  readonly status?: 404;
};

/** One page. Adding one means a file in `pages/` and a line in its index. */
export type ConsolePage = {
  /** As fastify writes it: `/runs/:run`. */
  readonly path: string;
  /** Its name in the navigation; null for a page that others lead to. */
  readonly navigation: string | null;
  show(visit: Visit): Promise<Shown>;
};

/** What an action is given: everything happens in one transaction, the audit record with it. */
export type Change = {
  readonly trx: DatabaseTransaction;
  readonly config: PipelineConfig;
  readonly actor: Actor;
  /** Writes down what is changed; its summary is what the person is shown. @returns what `perform` returns. */
  audit(record: ActorlessRecord): Promise<string>;
  /** Once the change is committed: brings up to date what follows from it. If it fails, the change stays and the log says so. */
  afterwards(work: (db: Database) => Promise<unknown>): void;
  /** Shows this page of ours afterwards, and not the one that the form stands on: `/bulk/5`. */
  leadTo(path: string): void;
};

/** One thing that a person can change, as its file says it. Adding one means a file in `actions/` and a line in its index. */
type ActionDefinition<Form> = {
  /** Where its form is sent: `/doubts/settle`. */
  readonly path: string;
  /** Fields of the form; all arrive as text. */
  readonly form: z.ZodType<Form>;
  /** @returns id of the audit record. @throws Refused with why not; then nothing was changed. */
  readonly perform: (change: Change, form: Form) => Promise<string>;
};

/** What is wrong with a field, or with the form (then the name is empty), in a sentence for the person. */
export type FormProblem = { readonly field: string; readonly message: string };

/** What a form asks for, or what is wrong with it. */
type ReadForm =
  | { readonly perform: (change: Change) => Promise<string> }
  | { readonly problems: readonly FormProblem[] };

/** The same for whoever does not know its form. */
export type ConsoleAction = {
  readonly path: string;
  readonly read: (fields: unknown) => ReadForm;
};

export function defineAction<Form>({ path, form, perform }: ActionDefinition<Form>): ConsoleAction {
  return {
    path,
    read(fields) {
      const read = form.safeParse(fields);
      if (read.success) return { perform: (change) => perform(change, read.data) };
      return {
        problems: read.error.issues.map(({ path: [name], message }) => ({
          field: String(name ?? ''),
          message,
        })),
      };
    },
  };
}

/** The change is not possible as things are now: nothing was changed, and the page says why. */
export class Refused extends Error {
  /** @param message a sentence or two for the person: what is in the way, and what to do. */
  constructor(message: string) {
    super(message);
    this.name = 'Refused';
  }
}
