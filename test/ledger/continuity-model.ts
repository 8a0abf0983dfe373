import { applyEvent, type EntryFacts, newEntry } from './states.ts';

/**
 * An explicit-state model of one entry whose database may be restored to an earlier state. It has two workers
 * on one or two machines, which claim, note, write, read answers, record and die; the journal of each
 * machine; a backup that is taken and restored at any time, also while the workers run; and an operator who
 * runs the recovery on each machine. The entry's transitions are the production ones.
 */
export type ContinuityRules = {
  /** Nothing is claimed while the database lacks a claim that a journal contains. */
  readonly comparesJournals: boolean;
  /**
   * Nothing is claimed from a database in a new place until the journals of every machine have been compared.
   */
  readonly asksEveryMachine: boolean;
  /** The journal notes a request before it is written. */
  readonly notesBeforeWriting: boolean;
  /** A missing note is proof only if the process is dead. */
  readonly trustsOnlyTheDead: boolean;
  /** A missing note is proof only if the journal has every line that was written. */
  readonly trustsOnlyTheWhole: boolean;
  /** An answer counts only for its own claim. */
  readonly answersNameClaims: boolean;
  /** Recovery also holds claims without an answer. */
  readonly recoversUnanswered: boolean;
};

export const productionContinuity: ContinuityRules = {
  comparesJournals: true,
  asksEveryMachine: true,
  notesBeforeWriting: true,
  trustsOnlyTheDead: true,
  trustsOnlyTheWhole: true,
  answersNameClaims: true,
  recoversUnanswered: true,
};

type Answer = 'accepted' | 'in_doubt' | 'not_written';
type Claim = {
  readonly by: number;
  readonly attempt: number;
  readonly isNoted: boolean;
  /** The disk has lost what the journal said about the claim after it was made. */
  readonly isCut?: true;
  readonly answer: Answer | null;
};
type Worker = {
  readonly at: 'idle' | 'claimed' | 'noted' | 'written' | 'answered' | 'dead';
  readonly claim: number;
};
type Stored = { readonly entry: EntryFacts; readonly known: readonly number[] };

type World = Stored & {
  /** Claims that the database lost and a recovery restored. */
  readonly recovered: readonly number[];
  /** The journals: every claim that was ever made. */
  readonly claims: readonly Claim[];
  readonly workers: readonly Worker[];
  readonly backup: Stored | null;
  readonly restoresLeft: number;
  /** The machines that must still compare their journals with the database in its current place. */
  readonly toCompare: readonly number[];
  readonly crashesLeft: number;
  readonly cutsLeft: number;
  readonly writes: number;
  readonly processed: number;
};

const IDLE: Worker = { at: 'idle', claim: -1 };
/** More claims are never needed to violate a rule, and each multiplies the number of states. */
const MAX_CLAIMS = 3;

/**
 * `one_machine`: both workers share a journal, and a restored database is in its old place, like a disk
 * image. `two_machines`: the restored database is in a new place.
 */
export type Setup = 'one_machine' | 'two_machines';

type Exploration = { readonly rules: ContinuityRules; readonly setup: Setup };

/** @returns the first violation that can be reached; null if there is none. */
export function exploreContinuity(
  rules: ContinuityRules,
  setup: Setup,
): { readonly states: number; readonly violation: string | null } {
  const first: World = {
    entry: newEntry,
    known: [],
    recovered: [],
    claims: [],
    workers: [IDLE, IDLE],
    backup: null,
    restoresLeft: 1,
    toCompare: [],
    crashesLeft: 2,
    cutsLeft: 1,
    writes: 0,
    processed: 0,
  };
  const seen = new Set([JSON.stringify(first)]);
  for (let generation = [first]; generation.length > 0; ) {
    const following: World[] = [];
    for (const world of generation) {
      const violation = findViolation(world);
      if (violation !== null) return { states: seen.size, violation };
      for (const next of nextWorlds(world, { rules, setup })) {
        const key = JSON.stringify(next);
        if (seen.has(key)) continue;
        seen.add(key);
        following.push(next);
      }
    }
    generation = following;
  }
  return { states: seen.size, violation: null };
}

function findViolation({ entry, writes, processed }: World): string | null {
  if (writes > 1) return `written ${writes} times`;
  if (entry.state === 'accepted' && processed === 0) return 'accepted, and the service never had it';
  return null;
}

function* nextWorlds(world: World, { rules, setup }: Exploration): Generator<World> {
  const machines = setup === 'one_machine' ? [0] : [0, 1];
  for (const [index, worker] of world.workers.entries()) {
    const put = (change: Worker, rest: Partial<World> = {}): World => ({
      ...world,
      ...rest,
      workers: world.workers.map((other, at) => (at === index ? change : other)),
    });
    yield* workerSteps(world, { worker, machine: machines[index] ?? 0, rules, put });
    if (worker.at !== 'dead' && world.crashesLeft > 0)
      yield put({ ...worker, at: 'dead' }, { crashesLeft: world.crashesLeft - 1 });
    if (worker.at === 'dead') {
      const noted = world.claims[worker.claim];
      if (world.cutsLeft > 0 && noted?.isNoted === true)
        yield {
          ...world,
          cutsLeft: world.cutsLeft - 1,
          claims: world.claims.map((claim, at) =>
            at === worker.claim ? { ...claim, isNoted: false, answer: null, isCut: true } : claim,
          ),
        };
      yield* settleDead(world, worker, rules, put);
      // A new process replaces it.
      if (!isOpen(world, worker)) yield put(IDLE);
    }
  }
  const { entry, known } = world;
  if (world.backup === null) yield { ...world, backup: { entry, known } };
  else if (world.restoresLeft > 0)
    yield {
      ...world,
      ...world.backup,
      restoresLeft: world.restoresLeft - 1,
      toCompare: setup === 'one_machine' ? [] : machines,
    };
  for (const machine of machines)
    if (lacking(world, machine).length > 0 || world.toCompare.includes(machine))
      yield recover(world, machine, rules);
  // No live process holds the claim that the database records as sent, so the reaper marks it as in doubt.
  if (
    entry.state === 'sending' &&
    !world.workers.some((worker) => worker.at !== 'dead' && known.includes(worker.claim))
  )
    yield* withEntry(
      world,
      applyEvent(entry, { kind: 'answered', attempt: entry.attempt, answer: 'lease_over' }),
    );
}

type Put = (change: Worker, rest?: Partial<World>) => World;

type Step = {
  readonly worker: Worker;
  readonly machine: number;
  readonly rules: ContinuityRules;
  readonly put: Put;
};

function* workerSteps(world: World, { worker, machine, rules, put }: Step): Generator<World> {
  const { claims, entry, known } = world;
  const note = (change: Partial<Claim>) =>
    claims.map((claim, at) => (at === worker.claim ? { ...claim, ...change } : claim));
  if (worker.at === 'idle' && claims.length < MAX_CLAIMS) {
    if (rules.comparesJournals && lacking(world, machine).length > 0) return;
    if (rules.asksEveryMachine && world.toCompare.length > 0) return;
    const next = applyEvent(entry, { kind: 'claimed' });
    if (next === null) return;
    const claim = { by: machine, attempt: next.attempt, isNoted: false, answer: null };
    yield put(
      { at: 'claimed', claim: claims.length },
      { entry: next, claims: [...claims, claim], known: [...known, claims.length] },
    );
  } else if (worker.at === 'claimed') {
    yield put(
      { ...worker, at: 'noted' },
      { claims: rules.notesBeforeWriting ? note({ isNoted: true }) : claims },
    );
    yield put({ ...worker, at: 'answered' }, { claims: note({ answer: 'not_written' }) });
  } else if (worker.at === 'noted') {
    for (const processed of [0, 1])
      yield put(
        { ...worker, at: 'written' },
        { writes: world.writes + 1, processed: world.processed + processed },
      );
  } else if (worker.at === 'written') {
    if (world.processed > 0)
      yield put({ ...worker, at: 'answered' }, { claims: note({ isNoted: true, answer: 'accepted' }) });
    yield put({ ...worker, at: 'answered' }, { claims: note({ isNoted: true, answer: 'in_doubt' }) });
  } else if (worker.at === 'answered') {
    yield put(IDLE, record(world, worker.claim, rules));
  }
}

/**
 * Records an answer. An answer to a claim that the database lacks waits in the spool until recovery finds it
 * in the journal.
 */
function record(world: World, index: number, rules: ContinuityRules): Partial<World> {
  const claim = world.claims[index];
  if (claim === undefined || claim.answer === null) return {};
  if (rules.answersNameClaims && !world.known.includes(index)) return {};
  const { attempt, answer } = claim;
  return { entry: applyEvent(world.entry, { kind: 'answered', attempt, answer }) ?? world.entry };
}

/** Applies the journal of a dead process (settle-journals.ts). */
function* settleDead(world: World, worker: Worker, rules: ContinuityRules, put: Put): Generator<World> {
  const claim = world.claims[worker.claim];
  if (claim === undefined || !isOpen(world, worker)) return;
  if (claim.answer !== null) yield put(IDLE, record(world, worker.claim, rules));
  else if (!claim.isNoted && !(rules.trustsOnlyTheWhole && claim.isCut)) {
    const { attempt } = claim;
    yield* withEntry(
      put(IDLE),
      applyEvent(world.entry, { kind: 'answered', attempt, answer: 'not_written' }),
    );
  }
}

function isOpen({ entry, known, claims }: World, { claim }: Worker): boolean {
  return known.includes(claim) && entry.state === 'sending' && claims[claim]?.attempt === entry.attempt;
}

/** Returns the claims that a machine's journal contains and the database does not. */
function lacking({ claims, known, recovered }: World, machine: number): readonly number[] {
  return claims.flatMap(({ by }, index) =>
    by !== machine || known.includes(index) || recovered.includes(index) ? [] : [index],
  );
}

function recover(before: World, machine: number, rules: ContinuityRules): World {
  const lost = lacking(before, machine);
  const world = { ...before, toCompare: before.toCompare.filter((other) => other !== machine) };
  const claims = lost.flatMap((index) => world.claims[index] ?? []);
  const isDead = (index: number) => !world.workers.some(({ at, claim }) => claim === index && at !== 'dead');
  const mayBeSent = (index: number, { isNoted, isCut, answer }: Claim): boolean => {
    if (answer !== null) return answer === 'in_doubt';
    if (!rules.recoversUnanswered) return false;
    if (rules.trustsOnlyTheWhole && isCut) return true;
    return isNoted || (rules.trustsOnlyTheDead && !isDead(index));
  };
  const recovered = [...world.recovered, ...lost];
  const isAccepted = claims.some(({ answer }) => answer === 'accepted');
  const isDoubt = lost.some((index) =>
    mayBeSent(index, world.claims[index] ?? { by: machine, attempt: 0, isNoted: true, answer: null }),
  );
  let { entry } = world;
  if (!isAccepted && !isDoubt) return { ...world, recovered };
  if (entry.state === 'ready') entry = applyEvent(entry, { kind: 'claimed' }) ?? entry;
  else if (entry.state !== 'in_doubt' || !isAccepted) return { ...world, recovered };
  const answer = isAccepted ? 'accepted' : 'in_doubt';
  return {
    ...world,
    recovered,
    entry: applyEvent(entry, { kind: 'answered', attempt: entry.attempt, answer }) ?? entry,
  };
}

function* withEntry(world: World, entry: EntryFacts | null): Generator<World> {
  if (entry !== null) yield { ...world, entry };
}
