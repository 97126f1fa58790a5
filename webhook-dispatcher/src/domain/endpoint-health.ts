/** The result of one attempt, as far as it concerns the health of its endpoint. */
export type AttemptReport = {
  readonly endpointRef: string
  readonly isSuccess: boolean
  readonly isGone: boolean
  readonly startedAt: Date
  /** When the delivery was first attempted, if this was its last attempt. Null if attempts remain. */
  readonly exhaustedSince: Date | null
}

/** The combined result of several attempts to one endpoint, in the order in which they ended. */
export type EndpointHealth = {
  readonly endpointRef: string
  readonly hasSucceeded: boolean
  /** Failures after the last success, or all failures without a success. */
  readonly failures: number
  readonly failingSince: Date | null
  /** The latest first attempt among the deliveries that failed for good after the last success. */
  readonly exhaustedSince: Date | null
  readonly isGone: boolean
}

/**
 * Combines reports per endpoint, sorted by reference. Every transaction locks endpoint rows in this order, which avoids deadlocks.
 */
export function foldHealth(reports: readonly AttemptReport[]): EndpointHealth[] {
  const byEndpoint = new Map<string, EndpointHealth>()
  for (const each of reports) {
    const before = byEndpoint.get(each.endpointRef)
    byEndpoint.set(each.endpointRef, each.isSuccess ? succeeded(each) : failed(before, each))
  }
  return [...byEndpoint.values()].sort((one, other) =>
    one.endpointRef < other.endpointRef ? -1 : 1,
  )
}

function succeeded({ endpointRef }: AttemptReport): EndpointHealth {
  return {
    endpointRef,
    hasSucceeded: true,
    failures: 0,
    failingSince: null,
    exhaustedSince: null,
    isGone: false,
  }
}

function failed(before: EndpointHealth | undefined, report: AttemptReport): EndpointHealth {
  return {
    endpointRef: report.endpointRef,
    hasSucceeded: before?.hasSucceeded ?? false,
    failures: (before?.failures ?? 0) + 1,
    failingSince: earliest(before?.failingSince ?? null, report.startedAt),
    exhaustedSince: latest(before?.exhaustedSince ?? null, report.exhaustedSince),
    isGone: (before?.isGone ?? false) || report.isGone,
  }
}

function earliest(one: Date | null, other: Date): Date {
  return one !== null && one < other ? one : other
}

function latest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
