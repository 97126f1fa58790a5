import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { offerDocumentKey, type PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { KeyHolder } from '../domain/key-holder.ts'

/** Returns the plans that a refusal offers instead, or undefined if no offer is published and the control plane must answer. */
export async function readOffer(
  hotState: Pick<HotState, 'readDocument'>,
  { environment, providerId }: KeyHolder,
  productRef: string,
): Promise<PublishedOffer | undefined> {
  const document = await hotState.readDocument(
    offerDocumentKey(environment, providerId, productRef),
  )
  return document === undefined ? undefined : (JSON.parse(document) as PublishedOffer)
}
