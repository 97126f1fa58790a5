import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { offerDocumentKey, type PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { KeyHolder } from '../domain/key-holder.ts'

const parsedMax = 1_000

/** Reads what a refusal offers instead. The document is read every time, and parsed only if its text is new. */
export class OfferReader {
  readonly #hotState: Pick<HotState, 'readDocument'>
  /** Parsed documents by their text. */
  readonly #parsed = new Map<string, PublishedOffer>()

  constructor(hotState: Pick<HotState, 'readDocument'>) {
    this.#hotState = hotState
  }

  /** Returns the plans to offer, or undefined if no offer is published and the control plane must answer. */
  async read(
    { environment, providerId }: KeyHolder,
    productRef: string,
  ): Promise<PublishedOffer | undefined> {
    const key = offerDocumentKey(environment, providerId, productRef)
    const document = await this.#hotState.readDocument(key)
    return document === undefined ? undefined : this.#parse(document)
  }

  #parse(document: string): PublishedOffer {
    const known = this.#parsed.get(document)
    if (known !== undefined) return known
    const offer = JSON.parse(document) as PublishedOffer
    if (this.#parsed.size >= parsedMax) this.#parsed.clear()
    this.#parsed.set(document, offer)
    return offer
  }
}
