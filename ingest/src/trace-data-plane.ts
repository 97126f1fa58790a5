import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { DataPlane } from './data-plane.ts'
import type { KeyDirectory } from './domain/key-holder.ts'
import type { PlaceEvent } from './domain/placed-event.ts'

/** What of the data plane knows something that spans should tell, or gets something from them. */
export function traceDataPlane(tracing: Tracing, dataPlane: DataPlane): DataPlane {
  return {
    ...dataPlane,
    keys: traceKeys(tracing, dataPlane.keys),
    place: tracePlaces(tracing, dataPlane.place),
  }
}

/** The key says which environment a request is for. */
function traceKeys(tracing: Tracing, keys: KeyDirectory): KeyDirectory {
  const tell = (found: ReturnType<KeyDirectory['peek']>): void => {
    if (typeof found === 'string') return
    tracing.active()?.set({ 'tollgate.environment': found.environment })
  }
  return {
    peek(authorization) {
      const found = keys.peek(authorization)
      tell(found)
      return found
    },
    async find(authorization) {
      const found = await keys.find(authorization)
      tell(found)
      return found
    },
  }
}

/** An event of a sampled request carries its trace through the log, to the batches that count and store it. */
function tracePlaces(tracing: Tracing, place: PlaceEvent): PlaceEvent {
  return (environment, event) => {
    const span = tracing.active()
    if (span?.isSampled !== true) return place(environment, event)
    return place(environment, { ...event, traceParent: span.headers.traceparent })
  }
}
