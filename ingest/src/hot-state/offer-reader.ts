import { ParsedDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { offerDocumentKey, type PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { KeyHolder } from '../domain/key-holder.ts'

const parsedMax = 1_000

/** Reads what a refusal offers instead. The document is read every time, and parsed only if its text is new. */
export class OfferReader {
  readonly #hotState: Pick<HotState, 'readDocument'>
  readonly #offers = new ParsedDocuments<PublishedOffer>(parsedMax)

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
    return document === undefined ? undefined : this.#offers.parse(document)
  }
}
