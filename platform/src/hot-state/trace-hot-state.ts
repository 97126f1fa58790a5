import { tracedCall, withCalls } from '../observability/traced-call.ts'
import type { Tracing } from '../observability/tracing.ts'
import type { HotState } from './hot-state.ts'

/** The traced calls, with the space that each one uses. Keys and subjects are not part of spans. */
const spaces: { readonly [Name in Call]?: SpaceOf<Name> } = {
  putDocument: () => undefined,
  deleteDocument: () => undefined,
  readDocument: () => undefined,
  putEntry: (at) => at.space,
  putEntries: (space) => space,
  deleteEntry: (at) => at.space,
  readEntry: (at) => at.space,
  readEntrySeries: (at) => at.space,
  readEntryDocument: (at) => at.space,
  cachedEntryDocument: (at) => at.space,
  appliedOffset: (space) => space,
  readMarks: (space) => space,
  claimMarks: (claim) => claim.space,
  apply: (batch) => batch.space,
  waitForApply: () => undefined,
  reserve: (request) => request.at.space,
  reserveBatch: ([request]) => request?.at.space,
  extendReservation: (extension) => extension.at.space,
  releaseReservation: (at) => at.space,
  settleReservations: (settlement) => settlement.space,
  readTaken: (query) => query.at.space,
}

type Call = Exclude<keyof HotState, 'acknowledgedHeads'>

type SpaceOf<Name extends Call> = (...given: Parameters<HotState[Name]>) => string | undefined

/** Wraps hot state so that every call of a sampled trace has a span. Synchronous results stay synchronous. */
export function traceHotState(
  tracing: Tracing,
  hotState: HotState,
  system: 'redis' | 'lmdb',
): HotState {
  const calls = Object.entries(spaces).map(([name, spaceOf]) => [
    name,
    (...given: never[]) => {
      const space = spaceOf(...given)
      const attributes = {
        'db.system.name': system,
        'db.operation.name': name,
        ...(space !== undefined && { 'db.namespace': space }),
      }
      const call = (): unknown =>
        (hotState[name as Call] as (...given: never[]) => unknown).apply(hotState, given)
      return tracedCall(tracing, spanName(name, space), 'client', attributes, call)
    },
  ])
  return withCalls(hotState, Object.fromEntries(calls) as Partial<HotState>)
}

function spanName(operation: string, space: string | undefined): string {
  return space === undefined ? operation : `${operation} ${space}`
}
