/** What an attempt says of its endpoint. */
export type EndpointNews = {
  readonly endpointRef: string
  readonly isSuccess: boolean
  readonly isGone: boolean
  readonly startedAt: Date
  /** Of the delivery whose last attempt this was; null: there are more to come. */
  readonly exhaustedSince: Date | null
}

/** What some attempts that ended one after the other say together. */
export type EndpointHealth = {
  readonly endpointRef: string
  readonly hasSucceeded: boolean
  /** After the last success, if there was one. */
  readonly failures: number
  readonly failingSince: Date | null
  /** The latest first attempt of those that were given up after the last success. */
  readonly exhaustedSince: Date | null
  readonly isGone: boolean
}

/** By endpoint, in the order of their names: whoever writes them locks their rows in the order in which others do. */
export function foldHealth(news: readonly EndpointNews[]): EndpointHealth[] {
  const byEndpoint = new Map<string, EndpointHealth>()
  for (const each of news) {
    const before = byEndpoint.get(each.endpointRef)
    byEndpoint.set(each.endpointRef, each.isSuccess ? succeeded(each) : failed(before, each))
  }
  return [...byEndpoint.values()].sort((one, other) =>
    one.endpointRef < other.endpointRef ? -1 : 1,
  )
}

function succeeded({ endpointRef }: EndpointNews): EndpointHealth {
  return {
    endpointRef,
    hasSucceeded: true,
    failures: 0,
    failingSince: null,
    exhaustedSince: null,
    isGone: false,
  }
}

function failed(before: EndpointHealth | undefined, news: EndpointNews): EndpointHealth {
  return {
    endpointRef: news.endpointRef,
    hasSucceeded: before?.hasSucceeded ?? false,
    failures: (before?.failures ?? 0) + 1,
    failingSince: earliest(before?.failingSince ?? null, news.startedAt),
    exhaustedSince: latest(before?.exhaustedSince ?? null, news.exhaustedSince),
    isGone: (before?.isGone ?? false) || news.isGone,
  }
}

function earliest(one: Date | null, other: Date): Date {
  return one !== null && one < other ? one : other
}

function latest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
