import type { SeededRandom } from '../client/seeded-random.ts'
import type { CorpusRequest } from './exchange.ts'
import { pickKnown, type KnownObjects } from './known-objects.ts'

/** Draws the parts of random requests. */
export type Draw = {
  readonly random: SeededRandom
  /** Number of the request, for names that differ. */
  readonly number: number
  readonly product: () => string
  readonly plan: () => { readonly productRef: string; readonly planRef: string }
  /** A customer by its reference or the provider's own id. */
  readonly customer: () => string
  readonly purchase: () => string
  readonly meter: () => string
  readonly known: KnownObjects
  /** Returns the fields, without some of them at random. */
  readonly some: (fields: Readonly<Record<string, unknown>>) => Record<string, unknown>
}

export type Maker = (draw: Draw) => CorpusRequest

const unknownPlan = { productRef: 'prd_UNKNOWN0001', planRef: 'pln_UNKNOWN0001' }

export function createDraw(random: SeededRandom, known: KnownObjects, number: number): Draw {
  const pick = (list: readonly string[], unknown: string): string =>
    pickKnown(random, list, unknown)
  return {
    random,
    number,
    known,
    product: () => pick(known.products, unknownPlan.productRef),
    plan: () => pickKnown(random, known.plans, unknownPlan),
    customer: () => {
      const list = random.chance(0.4) ? known.externalRefs : known.customers
      return pick(list, random.chance(0.5) ? 'cus_unknown00001' : 'nobody')
    },
    purchase: () => pick(known.purchases, 'pur_UNKNOWN0001'),
    meter: () => pick(known.meters, 'mtr_UNKNOWN0001'),
    some: (fields) => Object.fromEntries(Object.entries(fields).filter(() => random.chance(0.55))),
  }
}

export function get(path: string): CorpusRequest {
  return { method: 'GET', path }
}

export function send(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): CorpusRequest {
  return {
    method,
    path,
    ...(headers && { headers }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}
