import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { Recent } from '@tollgate/platform/memory/recent'
import type { Environment } from '@tollgate/schemas/environment'
import { metersDocumentKey, type PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import { EventMatcher, noEventMatcher, type UnpricedCount } from '../domain/event-matcher.ts'
import type { FetchMeters, KeyHolder } from '../domain/key-holder.ts'
import type { MeterStatus } from '../domain/meter-events.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { IngestCounts } from '../metrics.ts'
import { DocumentCache } from './document-cache.ts'
import { PublicationCheck } from './publication-check.ts'

export type MetersCacheOptions = {
  readonly freshMs: number
  readonly staleMs: number
  readonly providersMax: number
}

type KnownMatcher = {
  readonly matcher: EventMatcher
  readonly readAtMs: number
  /** The last read failed, so there may be newer meters. */
  readonly isOld: boolean
}

type Loaded = { readonly meters: PublishedMeters; readonly matcher: EventMatcher }

/** Caches the meters of providers. A name that is not in the cached list is read again before it is reported as unknown. */
export class MetersCache {
  readonly #documents: DocumentCache<Loaded>
  readonly #counts: Pick<IngestCounts, 'oldMeters' | 'unpricedCalls'>
  /** The matcher of each provider that was read last. It is used beyond `freshMs` only while the documents cannot be read. */
  readonly #matchers: Readonly<Record<Environment, Recent<KnownMatcher>>>
  readonly #options: MetersCacheOptions
  readonly #fetchMeters: FetchMeters
  readonly #fetching = new Map<string, Promise<PublishedMeters>>()

  constructor(
    hotState: Pick<HotState, 'readDocument' | 'incarnation'>,
    fetchMeters: FetchMeters,
    counts: Pick<IngestCounts, 'oldMeters' | 'unpricedCalls'>,
    options: MetersCacheOptions,
  ) {
    this.#counts = counts
    this.#options = options
    this.#fetchMeters = fetchMeters
    this.#matchers = {
      sandbox: new Recent(options.providersMax),
      live: new Recent(options.providersMax),
    }
    const check = new PublicationCheck(hotState, 'meters')
    const parsed = new ParsedMeters(options.providersMax, counts)
    this.#documents = new DocumentCache({
      load: (key) => check.find(async () => parsed.of(key, await hotState.readDocument(key))),
      freshMs: options.freshMs,
      staleMs: options.staleMs,
      presentMax: options.providersMax,
      missingMax: options.providersMax,
    })
  }

  /**
   * Returns what the provider's meters read from events, without a promise while the cached document is fresh. While the document
   * cannot be read, the last known one is used, however old it is: a change applies once ingest has learned of it. If none is known,
   * the control plane is asked with the caller's key. Rejects with UnavailableError if it cannot answer either, because an event that
   * is recorded without its counts would never be counted.
   */
  matcherOf(
    { environment, providerId }: KeyHolder,
    authorization?: string,
  ): EventMatcher | Promise<EventMatcher> {
    const known = this.#matchers[environment].get(providerId)
    if (known !== undefined && performance.now() - known.readAtMs < this.#options.freshMs) {
      return known.matcher
    }
    if (known?.isOld !== true) {
      return this.#readMatcher(environment, providerId, known, authorization)
    }
    // While reads fail, requests do not wait for the next failure.
    this.#matchers[environment].set(providerId, { ...known, readAtMs: performance.now() })
    void this.#readMatcher(environment, providerId, known, authorization)
    return known.matcher
  }

  /** Never rejects if a matcher is known. */
  async #readMatcher(
    environment: Environment,
    providerId: string,
    known: KnownMatcher | undefined,
    authorization: string | undefined,
  ): Promise<EventMatcher> {
    const readAtMs = performance.now()
    try {
      const loaded = await this.#documents.reread(metersDocumentKey(environment, providerId))
      const matcher = loaded?.matcher ?? noEventMatcher
      this.#matchers[environment].set(providerId, { matcher, readAtMs, isOld: false })
      return matcher
    } catch (error) {
      if (known === undefined) {
        if (authorization === undefined) throw error
        const matcher = await this.#fetchMatcher(
          `${environment}/${providerId}`,
          authorization,
          error,
        )
        this.#matchers[environment].set(providerId, { matcher, readAtMs, isOld: true })
        return matcher
      }
      this.#counts.oldMeters += 1
      const triedAtMs = performance.now()
      this.#matchers[environment].set(providerId, { ...known, readAtMs: triedAtMs, isOld: true })
      return known.matcher
    }
  }

  /** Concurrent requests of a provider share one call. */
  async #fetchMatcher(
    provider: string,
    authorization: string,
    cause: unknown,
  ): Promise<EventMatcher> {
    let fetching = this.#fetching.get(provider)
    if (fetching === undefined) {
      fetching = this.#fetchMeters(authorization).finally(() => this.#fetching.delete(provider))
      this.#fetching.set(provider, fetching)
    }
    try {
      return new EventMatcher(await fetching, this.#counts)
    } catch {
      // The error of the hot state explains the failure better.
      throw cause
    }
  }

  /** Returns the status of each name, in input order. Rejects with UnavailableError when it cannot be found out now. */
  async statusOf(holder: KeyHolder, names: readonly string[]): Promise<MeterStatus[]> {
    const key = metersDocumentKey(holder.environment, holder.providerId)
    const found = await this.#documents.find(key)
    const known = statuses(found?.meters, names)
    if (known.every((status) => status === 'active')) return known
    const loaded = await this.#documents.reread(key)
    if (loaded === undefined) {
      // Every provider has meters, so the document is late or lost. A refusal as unknown would lose usage.
      throw new UnavailableError('The meters of this provider are not published yet, try again')
    }
    return statuses(loaded.meters, names)
  }
}

function statuses(meters: PublishedMeters | undefined, names: readonly string[]): MeterStatus[] {
  return names.map((name) => {
    if (meters === undefined || !Object.hasOwn(meters.meters, name)) return 'unknown'
    const { status, reads } = meters.meters[name]!
    return status === 'active' && reads !== undefined ? 'reads-events' : status
  })
}

/** Parses a document again only after it has changed: every provider's meters are read each second. */
class ParsedMeters {
  readonly #providersMax: number
  readonly #counts: UnpricedCount
  readonly #last = new Map<string, { readonly document: string; readonly loaded: Loaded }>()

  constructor(providersMax: number, counts: UnpricedCount) {
    this.#providersMax = providersMax
    this.#counts = counts
  }

  of(key: string, document: string | undefined): Loaded | undefined {
    const last = this.#last.get(key)
    if (last !== undefined && last.document === document) return last.loaded
    this.#last.delete(key)
    if (document === undefined) return undefined
    const meters = JSON.parse(document) as PublishedMeters
    const loaded = { meters, matcher: new EventMatcher(meters, this.#counts) }
    if (this.#last.size >= this.#providersMax) {
      const [oldest] = this.#last.keys()
      this.#last.delete(oldest!)
    }
    this.#last.set(key, { document, loaded })
    return loaded
  }
}
