import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { metersDocumentKey, type PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { MeterStatus } from '../domain/meter-events.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import { DocumentCache } from './document-cache.ts'
import { PublicationCheck } from './publication-check.ts'

export type MetersCacheOptions = {
  readonly freshMs: number
  readonly staleMs: number
  readonly providersMax: number
}

/** Caches the meters of providers. A name that is not in the cached list is read again before it is reported as unknown. */
export class MetersCache {
  readonly #documents: DocumentCache<PublishedMeters>

  constructor(
    hotState: Pick<HotState, 'readDocument' | 'incarnation'>,
    options: MetersCacheOptions,
  ) {
    const check = new PublicationCheck(hotState, 'meters')
    this.#documents = new DocumentCache({
      load: (key) => check.find(() => readMeters(hotState, key)),
      freshMs: options.freshMs,
      staleMs: options.staleMs,
      presentMax: options.providersMax,
      missingMax: options.providersMax,
    })
  }

  /** Returns the status of each name, in input order. Rejects with UnavailableError when it cannot be found out now. */
  async statusOf(holder: KeyHolder, names: readonly string[]): Promise<MeterStatus[]> {
    const key = metersDocumentKey(holder.environment, holder.providerId)
    const known = statuses(await this.#documents.find(key), names)
    if (known.every((status) => status === 'active')) return known
    const meters = await this.#documents.reread(key)
    if (meters === undefined) {
      // Every provider has meters, so the document is late or lost. A refusal as unknown would lose usage.
      throw new UnavailableError('The meters of this provider are not published yet, try again')
    }
    return statuses(meters, names)
  }
}

function statuses(meters: PublishedMeters | undefined, names: readonly string[]): MeterStatus[] {
  return names.map((name) => {
    if (meters === undefined || !Object.hasOwn(meters.meters, name)) return 'unknown'
    return meters.meters[name]!.status
  })
}

async function readMeters(
  hotState: Pick<HotState, 'readDocument'>,
  key: string,
): Promise<PublishedMeters | undefined> {
  const document = await hotState.readDocument(key)
  return document === undefined ? undefined : (JSON.parse(document) as PublishedMeters)
}
