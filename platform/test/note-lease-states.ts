/* The states of the model of the note lease (note-lease-model.ts). */

export type Server = {
  isMaster: boolean
  /** One time as master. No other server and no other time has the same number. */
  term: number
  process: number
  token: number
  notes: number[]
}

export type Process = {
  /** Place of the newest record that this process knows. */
  known: number
  hasLease: boolean
  /** Processes, as bits, whose leases must end before this one is settled. */
  unsettled: number
}

type Event = { partition: number; head: number; notedIn: number }
type Proposal = { place: number; claim: number }
type Appender = Process & { left: number; event: Event | null; proposal: Proposal | null }
type Check = { partition: number; required: number; claim: number; floor: number }
type Checker = Process & { floors: number[]; check: Check | null }

export type State = {
  /** The control log: the claim of the home, or 0 for none. */
  records: number[]
  /** Server and term of each claim. The number of a claim is its token. */
  claims: { term: number; process: number }[]
  servers: Server[]
  newTerm: number
  failures: number
  durable: number[]
  acked: number[]
  appenders: Appender[]
  checkers: Checker[]
}

export function copyOf(state: State): State {
  return {
    ...state,
    records: [...state.records],
    claims: [...state.claims],
    servers: state.servers.map((server) => ({ ...server, notes: [...server.notes] })),
    durable: [...state.durable],
    acked: [...state.acked],
    appenders: state.appenders.map((each) => ({ ...each, event: each.event && { ...each.event } })),
    checkers: state.checkers.map((each) => ({ ...each, floors: [...each.floors] })),
  }
}

export function keyOf(state: State): string {
  const numbers: number[] = [state.newTerm, state.failures, ...state.records]
  for (const { term, process } of state.claims) numbers.push(term, process)
  for (const { isMaster, term, process, token, notes } of state.servers) {
    numbers.push(Number(isMaster), term, process, token, ...notes)
  }
  numbers.push(...state.durable, ...state.acked)
  for (const { known, hasLease, unsettled, left, event, proposal } of state.appenders) {
    numbers.push(known, Number(hasLease), unsettled, left)
    numbers.push(event?.partition ?? -1, event?.head ?? -1, event?.notedIn ?? -1)
    numbers.push(proposal?.place ?? -1, proposal?.claim ?? -1)
  }
  for (const { known, hasLease, unsettled, floors, check } of state.checkers) {
    numbers.push(known, Number(hasLease), unsettled, ...floors, check?.partition ?? -1)
    numbers.push(check?.required ?? -1, check?.claim ?? -1, check?.floor ?? -1)
  }
  return String.fromCharCode(...numbers.map((number) => number + 1), state.records.length)
}
