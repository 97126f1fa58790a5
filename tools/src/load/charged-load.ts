import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { costMicros, type ChargedProduct, type ChargedUnits } from '../client/charged-product.ts'
import type { SeededRandom } from '../client/seeded-random.ts'
import { addRecord, newChargedLedger, type ChargedLedger } from './charged-totals.ts'

const batchRate = 0.2
const batchSizeMax = 10
const resendRate = 0.05

export type ChargedLoadParts = {
  readonly clients: readonly TollgateClient[]
  readonly random: SeededRandom
  readonly nextKey: () => string
  /** Sends a request until it is answered. */
  readonly insist: (record: () => Promise<unknown>) => Promise<unknown>
}

/** Sends events that count on several meters with charges, and knows what each of them must cost. */
export class ChargedLoad {
  readonly ledgers: readonly ChargedLedger[]
  readonly #product: ChargedProduct

  constructor(product: ChargedProduct) {
    this.#product = product
    this.ledgers = product.customers.map(newChargedLedger)
  }

  /** Sends one event or a batch, as CloudEvents or as meter events with properties. */
  async send({ clients, random, nextKey, insist }: ChargedLoadParts): Promise<void> {
    const isCloudEvent = random.chance(0.5)
    const count = random.chance(batchRate) ? random.integer(2, batchSizeMax) : 1
    const items = Array.from({ length: count }, () => this.#draw(random, nextKey(), isCloudEvent))
    const bodies = items.map(({ body }) => body)
    const [path, body] = requestOf(bodies, isCloudEvent)
    const send = (): Promise<unknown> =>
      insist(() => random.pick(clients).require('POST', path, body))
    for (const { ledger, units, dueMicros } of items) addRecord(ledger.sent, units, dueMicros)
    await send()
    for (const { ledger, units, dueMicros } of items) addRecord(ledger.acked, units, dueMicros)
    // A client that lost the answer sends the same events again. Nothing may change.
    if (random.chance(resendRate)) await send()
  }

  #draw(random: SeededRandom, key: string, isCloudEvent: boolean) {
    const ledger = random.pick(this.ledgers)
    const { customerRef, productRef } = ledger
    const usage = {
      input: random.integer(1, 4_000),
      output: random.integer(1, 1_500),
      cached: random.integer(1, 900),
    }
    const units: ChargedUnits = { ...usage, calls: 1, ...(!isCloudEvent && { turns: 1 }) }
    const type = this.#product.meterNames.turns
    const body = isCloudEvent
      ? {
          ...{ specversion: '1.0', id: key, source: 'chaos', type, subject: customerRef },
          ...{ productref: productRef, data: { usage } },
        }
      : {
          ...{ customerRef, productRef, meterName: type, value: 1, idempotencyKey: key },
          properties: { usage },
        }
    return { ledger, units, dueMicros: ledger.isPrepaid ? costMicros(units) : 0n, body }
  }
}

function requestOf(bodies: readonly object[], isCloudEvent: boolean): [string, unknown] {
  const isOne = bodies.length === 1
  if (isCloudEvent) return isOne ? ['/v1/events', bodies[0]] : ['/v1/events/batch', bodies]
  return isOne
    ? ['/v1/sdk/meter-events', bodies[0]]
    : ['/v1/sdk/meter-events/bulk', { events: bodies }]
}
