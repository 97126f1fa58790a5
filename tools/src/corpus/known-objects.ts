import type { SeededRandom } from '../client/seeded-random.ts'
import type { CorpusAnswer, CorpusRequest } from './exchange.ts'

type KnownPlan = { readonly productRef: string; readonly planRef: string }

/** References of objects that earlier answers created, as masks, newest last. */
export type KnownObjects = {
  readonly products: string[]
  readonly plans: KnownPlan[]
  readonly customers: string[]
  readonly externalRefs: string[]
  readonly purchases: string[]
  readonly meters: string[]
  readonly reservations: string[]
  readonly endpoints: string[]
  readonly sessions: string[]
  readonly keys: string[]
  readonly invoices: string[]
  readonly events: string[]
}

export function nothingKnown(): KnownObjects {
  return {
    products: [],
    plans: [],
    customers: [],
    externalRefs: [],
    purchases: [],
    meters: [],
    reservations: [],
    endpoints: [],
    sessions: [],
    keys: [],
    invoices: [],
    events: [],
  }
}

/** Returns one of the newest items, or one with an unknown id if there is none. Few objects are used, so that they have a history. */
export function pickKnown<Item>(random: SeededRandom, items: readonly Item[], unknown: Item): Item {
  if (items.length === 0 || random.chance(0.03)) return unknown
  const newest = items.slice(random.chance(0.8) ? -6 : -60)
  return random.pick(newest)
}

/** Adds the objects that the answer created. */
export function learn(
  known: KnownObjects,
  { method, path }: CorpusRequest,
  { status, body }: CorpusAnswer,
): void {
  if (status > 299 || body === '') return
  const made = parse(body)
  if (method === 'GET') {
    if (path.startsWith('/v1/ui/invoices'))
      add(known.invoices, first(made, 'invoices', 'reference'))
    if (path.startsWith('/v1/ui/events')) add(known.events, first(made, 'events', 'id'))
    if (path.startsWith('/v1/ui/meters')) add(known.meters, first(made, 'meters', 'reference'))
    if (path.startsWith('/v1/sdk/purchases')) {
      add(known.purchases, first(made, 'purchases', 'reference'))
    }
    return
  }
  if (method !== 'POST') return
  const plansOf = /^\/v1\/sdk\/products\/([^/?]+)\/plans$/.exec(path)
  if (plansOf !== null) {
    known.plans.push({ productRef: plansOf[1]!, planRef: String(made['reference']) })
  } else if (/^\/v1\/sdk\/products(\/[^/]+\/clone)?$/.test(path))
    add(known.products, made['reference'])
  else if (path === '/v1/sdk/customers') {
    add(known.customers, made['reference'])
    add(known.externalRefs, made['externalRef'])
  } else if (path === '/v1/sdk/activate') add(known.purchases, made['purchaseRef'])
  else if (path === '/v1/ui/meters') add(known.meters, made['reference'])
  else if (path === '/v1/sdk/limits') add(known.reservations, record(made['reservation'])['id'])
  else if (path === '/v1/webhook_endpoints') add(known.endpoints, made['id'])
  else if (path === '/v1/sdk/customers/customer-sessions') add(known.sessions, made['sessionId'])
  else if (path === '/v1/ui/api-keys') add(known.keys, made['keyId'])
}

function parse(body: string): Record<string, unknown> {
  try {
    return record(JSON.parse(body))
  } catch {
    return {}
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function first(body: Record<string, unknown>, list: string, field: string): unknown {
  const items = body[list]
  return Array.isArray(items) ? record(items[0])[field] : undefined
}

function add(list: string[], value: unknown): void {
  if (typeof value === 'string' && !list.includes(value)) list.push(value)
}
