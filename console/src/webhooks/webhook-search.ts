import type { operations } from '../api/openapi.d.ts'
import { textOf } from '../parts/list-search.ts'

type Query = NonNullable<operations['listWebhookDeliveries']['parameters']['query']>
type State = NonNullable<Query['state']>

/** The states of a delivery by which the list can be filtered. */
export const deliveryStates: readonly State[] = [
  ...(['pending', 'held', 'succeeded', 'failed', 'skipped'] as const),
]

/** The query of an endpoint's address. Only deliveries that are older than `before` are shown. */
export type DeliveriesSearch = { readonly state?: State; readonly before?: string }

export function deliveriesSearch(given: Record<string, unknown>): DeliveriesSearch {
  const state = deliveryStates.find((each) => each === given['state'])
  const before = textOf(given, 'before')
  return { ...(state === undefined ? {} : { state }), ...(before === undefined ? {} : { before }) }
}
