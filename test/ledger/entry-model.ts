import { type AnswerKind, applyEvent, type EntryFacts, type LedgerEvent, newEntry } from './states.ts';

/**
 * An explicit-state model of one entry: workers that claim, write, read answers, record, spool, pause and
 * die; a service that may or may not process, answer, and report what it processed; a reaper; and an operator
 * who approves. Every interleaving is visited. The entry's transitions are the production ones
 * (`applyEvent`), so the model checks the real code and not a copy.
 */
export type Rules = {
  /** The entry's own transitions. */
  readonly apply: (entry: EntryFacts, event: LedgerEvent) => EntryFacts | null;
  /** A worker writes only what it has durably claimed. */
  readonly claimBeforeWrite: boolean;
  /** A claim checks the account that the key belongs to. */
  readonly checksAccount: boolean;
};

export const productionRules: Rules = { apply: applyEvent, claimBeforeWrite: true, checksAccount: true };

type Worker = {
  readonly at: 'idle' | 'claimed' | 'answered' | 'spooled' | 'dead';
  readonly attempt: number;
  readonly answer: AnswerKind | null;
  readonly hasLease: boolean;
  readonly ownsEntry: boolean;
  readonly rightAccount: boolean;
};

type World = {
  readonly entry: EntryFacts;
  readonly workers: readonly Worker[];
  /** Requests that reached a socket, except those that the service refused temporarily (429). */
  readonly writes: number;
  readonly processed: number;
  readonly processedElsewhere: number;
  readonly saidAccepted: boolean;
  readonly crashesLeft: number;
  readonly approvalsLeft: number;
  readonly throttlesLeft: number;
};

export type Bounds = {
  readonly workers: number;
  readonly crashes: number;
  readonly approvals: number;
  readonly throttles: number;
};

export type Verdict = { readonly states: number; readonly violation: string | null };

const NOBODY: Worker = {
  at: 'idle',
  attempt: 0,
  answer: null,
  hasLease: true,
  ownsEntry: false,
  rightAccount: true,
};

/** Visits every reachable state and checks the guarantees in each. Stops at the first violation. */
export function explore(rules: Rules, bounds: Bounds, options: { wrongKey?: boolean } = {}): Verdict {
  const workers = Array.from({ length: bounds.workers }, (_, index) => ({
    ...NOBODY,
    rightAccount: !(options.wrongKey === true && index === 0),
  }));
  const first: World = {
    entry: newEntry,
    workers,
    writes: 0,
    processed: 0,
    processedElsewhere: 0,
    saidAccepted: false,
    crashesLeft: bounds.crashes,
    approvalsLeft: bounds.approvals,
    throttlesLeft: bounds.throttles,
  };
  const seen = new Set([keyOf(first)]);
  // The search is breadth-first, one generation at a time, so a violation is reached by the shortest path.
  for (let generation = [first]; generation.length > 0; ) {
    const following: World[] = [];
    for (const world of generation) {
      const violation = findViolation(world, bounds);
      if (violation !== null) return { states: seen.size, violation };
      for (const next of nextWorlds(world, rules)) {
        const key = keyOf(next);
        if (seen.has(key)) continue;
        seen.add(key);
        following.push(next);
      }
    }
    generation = following;
  }
  return { states: seen.size, violation: null };
}

/** Returns the key of a state. Workers are interchangeable, so their order does not matter. */
function keyOf(world: World): string {
  const {
    entry,
    workers,
    crashesLeft,
    approvalsLeft,
    throttlesLeft,
    writes,
    processed,
    processedElsewhere,
    saidAccepted,
  } = world;
  const each = workers.map((worker) => Object.values(worker).join()).sort();
  const rest = [
    crashesLeft,
    approvalsLeft,
    throttlesLeft,
    writes,
    processed,
    processedElsewhere,
    saidAccepted,
  ];
  return `${Object.values(entry).join()};${rest.join()};${each.join(';')}`;
}

function findViolation(world: World, bounds: Bounds): string | null {
  const { entry, workers } = world;
  const approved = bounds.approvals - world.approvalsLeft;
  if (world.writes > 1 + approved)
    return `G1: written ${world.writes} times with ${approved} approved re-sends`;
  if (world.processed > 1 + approved)
    return `G1: processed ${world.processed} times with ${approved} approved re-sends`;
  if (world.processedElsewhere > 0) return 'processed in another account';
  if (entry.state === 'accepted' && !world.saidAccepted) return 'G2: accepted, and the service never said so';
  if (entry.state === 'rejected' && world.processed > 0) return 'G2: rejected, and the service processed it';
  const someoneKnows = workers.some((worker) => worker.at !== 'idle' && worker.at !== 'dead');
  if (world.processed > 0 && entry.state === 'ready' && approved === 0 && !someoneKnows)
    return 'a processed order is ready to be sent again';
  const counted = entry.attempt <= 1 + entry.notSent + entry.resendsApproved;
  if (entry.notSent > entry.attempt) return 'an attempt was counted as not sent twice';
  if (!counted) return 'more attempts than approved (CHECK sends_are_approved)';
  if (entry.state === 'sending' && !workers.some((worker) => worker.ownsEntry))
    return 'sending, and nobody owns it';
  return null;
}

function* nextWorlds(world: World, rules: Rules): Generator<World> {
  for (const [index, worker] of world.workers.entries()) {
    const put = (change: Partial<Worker>, rest: Partial<World> = {}): World => ({
      ...world,
      ...rest,
      workers: (rest.workers ?? world.workers).map((other, at) =>
        at === index ? { ...other, ...change } : other,
      ),
    });
    yield* claimSteps(world, worker, rules, put);
    yield* writeSteps(world, worker, rules, put);
    yield* recordSteps(world, worker, rules, put);
    yield* failureSteps(world, worker, rules, put);
  }
  if (world.throttlesLeft > 0) {
    const entry = rules.apply(world.entry, { kind: 'replaced' });
    // As after a 429, the refused request does not count as a write of the new request.
    if (entry !== null)
      yield { ...world, entry, writes: world.writes - 1, throttlesLeft: world.throttlesLeft - 1 };
  }
  if (world.approvalsLeft > 0) {
    const entry = rules.apply(world.entry, { kind: 'decided', decision: 'resend' });
    if (entry !== null)
      yield { ...world, entry, approvalsLeft: world.approvalsLeft - 1, workers: world.workers.map(disown) };
  }
  const withdrawn = rules.apply(world.entry, { kind: 'withdrawn' });
  if (withdrawn !== null) yield { ...world, entry: withdrawn };
  // The service can report an order that it has processed at any later time, also repeatedly.
  if (world.processed > 0) {
    const entry = rules.apply(world.entry, { kind: 'evidenced' });
    if (entry !== null) yield { ...world, entry, saidAccepted: true, workers: world.workers.map(disown) };
  }
}

type Put = (change: Partial<Worker>, rest?: Partial<World>) => World;

function disown(worker: Worker): Worker {
  return { ...worker, ownsEntry: false };
}

function* claimSteps(world: World, worker: Worker, rules: Rules, put: Put): Generator<World> {
  if (worker.at !== 'idle' || !worker.hasLease) return;
  if (rules.checksAccount && !worker.rightAccount) return;
  const entry = rules.apply(world.entry, { kind: 'claimed' });
  if (entry === null) return;
  // The claim was acknowledged, or its outcome was unknown and it was read back.
  yield put({ at: 'claimed', attempt: entry.attempt, ownsEntry: true }, { entry });
  // The outcome of the claim is unknown and it was not read back: nothing is sent, and the lease expires
  // eventually.
  yield put({ at: 'idle', ownsEntry: true }, { entry });
  if (!rules.claimBeforeWrite) yield put({ at: 'claimed', attempt: entry.attempt });
}

/** What the service may do with a request that was written, and what the worker sees of it. */
const FATES: readonly {
  readonly processed: boolean;
  readonly answer: AnswerKind;
  readonly written: boolean;
}[] = [
  { processed: true, answer: 'accepted', written: true },
  { processed: true, answer: 'in_doubt', written: true },
  { processed: false, answer: 'in_doubt', written: true },
  { processed: false, answer: 'rejected', written: true },
  { processed: false, answer: 'throttled', written: true },
  { processed: false, answer: 'not_written', written: false },
];

function* writeSteps(world: World, worker: Worker, _rules: Rules, put: Put): Generator<World> {
  if (worker.at !== 'claimed') return;
  for (const fate of FATES) {
    const again = fate.answer === 'throttled' || fate.answer === 'not_written';
    if (again && world.throttlesLeft === 0) continue;
    const here = fate.processed && worker.rightAccount;
    const rest: Partial<World> = {
      writes: world.writes + (fate.written && fate.answer !== 'throttled' ? 1 : 0),
      processed: world.processed + (here ? 1 : 0),
      processedElsewhere: world.processedElsewhere + (fate.processed && !worker.rightAccount ? 1 : 0),
      throttlesLeft: world.throttlesLeft - (again ? 1 : 0),
    };
    yield put({ at: 'answered', answer: fate.answer }, rest);
    // The process dies during the write or while it waits for the answer.
    if (world.crashesLeft > 0)
      yield put({ ...DEAD, ownsEntry: worker.ownsEntry }, { ...rest, crashesLeft: world.crashesLeft - 1 });
  }
}

const DEAD = { at: 'dead', attempt: 0, answer: null, hasLease: false } as const;

function* recordSteps(world: World, worker: Worker, rules: Rules, put: Put): Generator<World> {
  if ((worker.at !== 'answered' && worker.at !== 'spooled') || worker.answer === null) return;
  const saidAccepted = world.saidAccepted || worker.answer === 'accepted';
  const changed = rules.apply(world.entry, {
    kind: 'answered',
    attempt: worker.attempt,
    answer: worker.answer,
  });
  const entry = changed ?? world.entry;
  const workers = entry.state === 'sending' ? world.workers : world.workers.map(disown);
  const done = { at: 'idle', attempt: 0, answer: null } as const;
  yield put(done, { entry, saidAccepted, workers });
  // Either the database is unreachable and the answer goes to the spool, or the outcome of the commit is
  // unknown and the answer is both recorded and spooled.
  if (worker.at === 'answered') {
    yield put({ at: 'spooled' }, { saidAccepted });
    yield put({ at: 'spooled' }, { entry, saidAccepted, workers });
  }
}

function* failureSteps(world: World, worker: Worker, rules: Rules, put: Put): Generator<World> {
  if (world.crashesLeft > 0 && worker.at !== 'dead') {
    // A spooled answer survives its writer; the process that replays it acts for the writer.
    const left = worker.at === 'spooled' ? { hasLease: false } : DEAD;
    yield put(left, { crashesLeft: world.crashesLeft - 1 });
  }
  // A pause longer than the lease (SIGSTOP, a lost network): the worker still believes that it may continue.
  if (worker.hasLease && worker.at !== 'idle' && worker.at !== 'dead') yield put({ hasLease: false });
  if (worker.at === 'idle' && worker.ownsEntry && worker.hasLease) yield put({ hasLease: false });
  if (!worker.hasLease && worker.ownsEntry) {
    const entry = rules.apply(world.entry, {
      kind: 'answered',
      attempt: world.entry.attempt,
      answer: 'lease_over',
    });
    if (entry !== null) yield { ...put({ ownsEntry: false }), entry };
  }
  // A new process replaces it.
  if (!worker.hasLease && !worker.ownsEntry && (worker.at === 'dead' || worker.at === 'idle')) {
    yield put({ ...NOBODY, rightAccount: worker.rightAccount });
  }
}
