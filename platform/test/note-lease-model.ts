/*
 * A model of the note lease (src/event-log/note-lease), for an exhaustive search of all its orders of steps. It has no time. A step
 * of a process may take any time, so a paused process is one that takes no step. What clocks promise is one guard: a process is
 * settled when every lease from a question sent before it learned the record has ended. The real process waits 1.1 lease times for
 * that, which is enough if clocks differ by less than 10 %.
 */

import { copyOf, keyOf, type Process, type Server, type State } from './note-lease-states.ts'

/** Parts of the rule, each of which can be left out to show that it is needed. */
export type Rule = {
  /** Processes use a home only while their lease is valid. Without it, they use the newest record that they know. */
  readonly hasLease: boolean
  /** Processes wait for the leases of the record before. */
  readonly settles: boolean
  /** A note and a read state which master they need: 'term' is one time as master, 'process' one server process, 'any' nothing. */
  readonly identity: 'term' | 'process' | 'any'
  /** A note and a read state the token that the hash must have. */
  readonly hasToken: boolean
  /** A checker asks the log once after it has settled. */
  readonly hasFloor: boolean
  /** An appender looks at its lease after the note, too. */
  readonly checksAfterNote: boolean
}

export const fullRule: Rule = {
  hasLease: true,
  settles: true,
  identity: 'term',
  hasToken: true,
  hasFloor: true,
  checksAfterNote: true,
}

export type Scope = {
  readonly partitions: number
  /** Events of each appender. */
  readonly events: readonly number[]
  readonly checkers: number
  readonly recordsMax: number
  /** How often a server may get a new token. */
  readonly claimsMax: number
  readonly failures: readonly Failure[]
  readonly failuresMax: number
}

/** Promotes the replica beside a master that lives on; makes a master a replica; restart with an older file; FLUSHALL. */
type Failure = 'promote' | 'demote' | 'restart' | 'flush'

export type Search = { readonly states: number; readonly missed: readonly string[] | undefined }

/** Visits every state that the rule allows. Stops at the first check that misses an acknowledged event, and returns the steps to it. */
export function searchMissed(rule: Rule, scope: Scope): Search {
  const first = firstState(scope)
  const seen = new Set([keyOf(first)])
  let level: Visit[] = [{ state: first, step: 'start', from: undefined }]
  while (level.length > 0) {
    const next: Visit[] = []
    for (const visit of level) {
      for (const { step, act } of stepsOf(visit.state, rule, scope)) {
        const state = copyOf(visit.state)
        if (act(state) === 'missed') {
          return { states: seen.size, missed: [...pathTo(visit), step] }
        }
        const key = keyOf(state)
        if (seen.has(key)) continue
        seen.add(key)
        next.push({ state, step, from: visit })
      }
    }
    level = next
  }
  return { states: seen.size, missed: undefined }
}

type Visit = { readonly state: State; readonly step: string; readonly from: Visit | undefined }

function pathTo(visit: Visit): string[] {
  return visit.from === undefined ? [] : [...pathTo(visit.from), visit.step]
}

/** A healthy installation: one master is the home, a replica copies it, and every process is settled. */
function firstState({ partitions, events, checkers }: Scope): State {
  const zeros = (): number[] => Array.from({ length: partitions }, () => 0)
  const settled = (): Process => ({ known: 1, hasLease: true, unsettled: 0 })
  return {
    records: [0, 1],
    claims: [
      { term: 0, process: 0 },
      { term: 1, process: 1 },
    ],
    servers: [
      { isMaster: true, term: 1, process: 1, token: 1, notes: zeros() },
      { isMaster: false, term: 0, process: 2, token: 1, notes: zeros() },
    ],
    newTerm: 2,
    failures: 0,
    durable: zeros(),
    acked: zeros(),
    appenders: events.map((left) => ({ ...settled(), left, event: null, proposal: null })),
    checkers: Array.from({ length: checkers }, () => {
      return { ...settled(), floors: zeros(), check: null }
    }),
  }
}

type Step = { readonly step: string; readonly act: (state: State) => unknown }

function* stepsOf(state: State, rule: Rule, scope: Scope): Generator<Step> {
  const processes = [...state.appenders, ...state.checkers]
  for (const [index, { known, hasLease }] of processes.entries()) {
    if (!hasLease || known < state.records.length - 1) {
      yield { step: `${index} confirms`, act: (next) => confirm(next, index) }
    }
    // The end of a lease matters only to a process that waits for it. Until then it only forbids steps.
    if (hasLease && rule.hasLease && processes.some(({ unsettled }) => (unsettled >> index) & 1)) {
      yield { step: `the lease of ${index} ends`, act: (next) => endLease(next, index) }
    }
  }
  for (const index of state.appenders.keys()) yield* appenderSteps(state, index, rule, scope)
  for (const index of state.checkers.keys()) yield* checkerSteps(state, index, rule)
  yield* serverSteps(state, scope)
}

function* appenderSteps(state: State, index: number, rule: Rule, scope: Scope): Generator<Step> {
  const { event, left, known } = state.appenders[index]!
  const at = `appender ${index}`
  if (event === null && left > 0) {
    for (let partition = 0; partition < scope.partitions; partition++) {
      yield {
        step: `${at}: an event of ${partition} becomes durable`,
        act: (next) => append(next, index, partition),
      }
    }
  }
  if (event !== null) {
    const claim = state.records[known]!
    if (claim !== 0 && event.notedIn !== known) {
      // A note may be late, so the lease of its sender may have ended when it is written.
      for (const [place, server] of state.servers.entries()) {
        if (!isHome(state, server, claim, rule)) continue
        yield { step: `${at}: notes at ${place}`, act: (next) => note(next, index, place) }
      }
    }
    if (mayAcknowledge(state, index, rule)) {
      yield { step: `${at}: acknowledges`, act: (next) => acknowledge(next, index) }
    }
  }
  yield* recordSteps(state, index, rule, scope)
}

/**
 * A record without a home has no condition but the record before it, so the moment when it is sent does not matter. A record with a
 * home names what its claim found, and arrives at any time later, or never.
 */
function* recordSteps(state: State, index: number, rule: Rule, scope: Scope): Generator<Step> {
  const appender = state.appenders[index]!
  const { known, proposal } = appender
  const at = `appender ${index}`
  if (proposal !== null) {
    yield { step: `${at}: its record arrives`, act: (next) => arrive(next, index) }
    return
  }
  if (known + 1 < state.records.length || state.records.length >= scope.recordsMax) return
  if (state.records[known] !== 0) {
    yield { step: `${at}: "no home" arrives`, act: (next) => void next.records.push(0) }
    return
  }
  if (!isSettled(appender, rule) || state.claims.length > scope.claimsMax + 1) return
  for (const [place, { isMaster }] of state.servers.entries()) {
    if (isMaster) yield { step: `${at}: claims ${place}`, act: (next) => claim(next, index, place) }
  }
}

function claim(state: State, index: number, place: number): void {
  const server = state.servers[place]!
  const { term, process } = server
  server.token = state.claims.push({ term, process }) - 1
  state.appenders[index]!.proposal = { place: state.records.length, claim: server.token }
}

function* checkerSteps(state: State, index: number, rule: Rule): Generator<Step> {
  const { check, floors, known } = state.checkers[index]!
  const at = `checker ${index}`
  if (check !== null) {
    // A check that misses nothing changes nothing, so the search needs one check of each checker.
    for (const [place, server] of state.servers.entries()) {
      if (!isHome(state, server, check.claim, rule)) continue
      yield { step: `${at}: reads ${place}`, act: (next) => read(next, index, place) }
    }
    return
  }
  const process = state.appenders.length + index
  if (state.records[known] === 0 || !isUsable(state, process, rule)) return
  if (!isSettled(state.checkers[index]!, rule)) return
  for (const [partition, floor] of floors.entries()) {
    if (floor < 0 && rule.hasFloor) {
      yield {
        step: `${at}: asks the log for ${partition}`,
        act: (next) => void (next.checkers[index]!.floors[partition] = next.durable[partition]!),
      }
    } else if (state.acked[partition]! > floor) {
      yield {
        step: `${at}: begins a check of ${partition}`,
        act: (next) => begin(next, index, partition),
      }
    }
  }
}

function* serverSteps(state: State, { failures, failuresMax }: Scope): Generator<Step> {
  const fail = (step: string, act: (next: State, server: Server) => void, place: number): Step => ({
    step: `${step} ${place}`,
    act: (next) => {
      next.failures += 1
      act(next, next.servers[place]!)
    },
  })
  for (const [place, server] of state.servers.entries()) {
    const other = 1 - place
    if (!server.isMaster && state.servers[other]!.isMaster) {
      yield {
        step: `${other} copies to ${place}`,
        act: (next) => copyTo(next.servers[place]!, next.servers[other]!),
      }
    }
    if (state.failures >= failuresMax) continue
    if (!server.isMaster && failures.includes('promote')) yield fail('promote', promote, place)
    if (!server.isMaster) continue
    if (failures.includes('restart')) yield fail('restart', restart, place)
    if (failures.includes('flush')) yield fail('flush', flush, place)
    if (failures.includes('demote') && state.servers[other]!.isMaster) {
      yield fail('demote', (_, each) => void (each.isMaster = false), place)
    }
  }
}

const copyTo = (server: Server, from: Server): void => {
  server.token = from.token
  server.notes = [...from.notes]
}
const promote = (state: State, server: Server): void => {
  server.isMaster = true
  server.term = state.newTerm++
}
/** The file has the token, and none of the notes. */
const restart = (state: State, server: Server): void => {
  server.process = 100 + state.newTerm
  server.term = state.newTerm++
  server.notes = server.notes.map(() => 0)
}
const flush = (_: State, server: Server): void => {
  server.token = 0
  server.notes = server.notes.map(() => 0)
}

function confirm(state: State, index: number): void {
  const processes = [...state.appenders, ...state.checkers]
  const process = processes[index]!
  const newest = state.records.length - 1
  if (process.known < newest) {
    process.known = newest
    // A lease that knows the record too forbids what this one forbids, so nothing waits for it.
    process.unsettled = processes.reduce((bits, other, place) => {
      return other.hasLease && other.known < newest ? bits | (1 << place) : bits
    }, 0)
    if ('floors' in process) process.floors = process.floors.map(() => -1)
  }
  process.hasLease = true
  // The lease that others wait for was replaced by one that knows at least what they know.
  for (const other of processes) other.unsettled &= ~(1 << index)
}

function endLease(state: State, index: number): void {
  const processes = [...state.appenders, ...state.checkers]
  processes[index]!.hasLease = false
  for (const other of processes) other.unsettled &= ~(1 << index)
}

function append(state: State, index: number, partition: number): void {
  const appender = state.appenders[index]!
  appender.left -= 1
  state.durable[partition]! += 1
  appender.event = { partition, head: state.durable[partition]!, notedIn: -1 }
}

function note(state: State, index: number, place: number): void {
  const appender = state.appenders[index]!
  const { partition, head } = appender.event!
  const { notes } = state.servers[place]!
  notes[partition] = Math.max(notes[partition]!, head)
  appender.event!.notedIn = appender.known
}

function mayAcknowledge(state: State, index: number, rule: Rule): boolean {
  const appender = state.appenders[index]!
  const { notedIn } = appender.event!
  if (!rule.checksAfterNote && notedIn >= 0) return true
  if (!isUsable(state, index, rule)) return false
  return state.records[appender.known] === 0
    ? isSettled(appender, rule)
    : notedIn === appender.known
}

function acknowledge(state: State, index: number): void {
  const { partition, head } = state.appenders[index]!.event!
  state.acked[partition] = Math.max(state.acked[partition]!, head)
  state.appenders[index]!.event = null
}

/** Of the records with one number, the first counts. */
function arrive(state: State, index: number): void {
  const appender = state.appenders[index]!
  const { place, claim } = appender.proposal!
  appender.proposal = null
  if (place === state.records.length) state.records.push(claim)
}

function begin(state: State, index: number, partition: number): void {
  const checker = state.checkers[index]!
  checker.check = {
    partition,
    required: state.acked[partition]!,
    claim: state.records[checker.known]!,
    floor: checker.floors[partition]!,
  }
}

function read(state: State, index: number, place: number): 'missed' | undefined {
  const { partition, required, floor } = state.checkers[index]!.check!
  return Math.max(state.servers[place]!.notes[partition]!, floor) < required ? 'missed' : undefined
}

function isUsable(state: State, index: number, rule: Rule): boolean {
  return !rule.hasLease || [...state.appenders, ...state.checkers][index]!.hasLease
}

function isSettled({ unsettled }: Process, rule: Rule): boolean {
  return !rule.settles || unsettled === 0
}

/** Whether a server gives this answer itself, which its script decides. */
function isHome({ claims }: State, server: Server, claim: number, rule: Rule): boolean {
  if (rule.hasToken && server.token !== claim) return false
  const { term, process } = claims[claim]!
  if (rule.identity === 'term') return server.isMaster && server.term === term
  return rule.identity === 'any' || server.process === process
}
