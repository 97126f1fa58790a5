import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { DataPlane } from './data-plane.ts'
import type { KeyDirectory } from './domain/key-holder.ts'
import type { PlaceEvent } from './domain/placed-event.ts'

/** Adds tracing to the parts of the data plane that contribute attributes to spans or need the trace. */
export function traceDataPlane(tracing: Tracing, dataPlane: DataPlane): DataPlane {
  return {
    ...dataPlane,
    keys: traceKeys(tracing, dataPlane.keys),
    place: tracePlaces(tracing, dataPlane.place),
  }
}

/** The key determines the environment of a request. */
function traceKeys(tracing: Tracing, keys: KeyDirectory): KeyDirectory {
  const setEnvironment = (found: ReturnType<KeyDirectory['peek']>): void => {
    if (typeof found === 'string') return
    tracing.active()?.set({ 'tollgate.environment': found.environment })
  }
  return {
    peek(authorization) {
      const found = keys.peek(authorization)
      setEnvironment(found)
      return found
    },
    async find(authorization) {
      const found = await keys.find(authorization)
      setEnvironment(found)
      return found
    },
  }
}

/** Stores the trace of a sampled request in its event, so that the batches that count and store the event continue the trace. */
function tracePlaces(tracing: Tracing, place: PlaceEvent): PlaceEvent {
  return (environment, event) => {
    const span = tracing.active()
    if (span?.isSampled !== true) return place(environment, event)
    return place(environment, { ...event, traceParent: span.headers.traceparent })
  }
}
