import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { offerDocumentKey, type PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { KeyHolder } from '../domain/key-holder.ts'

/** What a refusal shows to be bought instead. Undefined: nothing is published, and the control plane must be asked. */
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
