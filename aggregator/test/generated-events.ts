import { SeededRandom } from '@tollgate/platform/testing/seeded-random'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { meterEvent } from './meter-event.ts'

const dayMs = 86_400_000

/**
 * How many days late events are late, which leads to the previous month and to the one before it. They are few, because the sink compares
 * each day of a batch that is stored again with statements of its own.
 */
const lateDays = [1, 59]

/** Milliseconds by which a late event is earlier still. At noon it stays on its day. */
const earlierMsMax = dayMs / 2

/**
 * Generates events with repeated keys (one in ten), late events (one in twenty), outcomes that do not count, debits
 * of wallets (one in five), some of them larger than a number can represent exactly, and events that count on other meters too (one
 * in four), a third of which name no meter themselves.
 */
export class EventGenerator {
  readonly customerRefs: readonly string[]
  readonly #random: SeededRandom
  readonly #nowMs: number
  readonly #keyed: MeterEvent[] = []
  #next = 0

  constructor(seed: number, customerTotal: number, nowMs: number) {
    this.#random = new SeededRandom(seed)
    this.#nowMs = nowMs
    this.customerRefs = Array.from({ length: customerTotal }, (_, index) => `cus_${index}`)
  }

  take(total: number): MeterEvent[] {
    return Array.from({ length: total }, () => this.#one())
  }

  #one(): MeterEvent {
    const random = this.#random
    if (random.chance(0.1) && this.#keyed.length > 0) return random.pick(this.#keyed)
    const isKeyed = random.chance(0.5)
    const isLate = random.chance(0.05)
    const number = this.#next++
    const outcome = random.chance(0.9) ? 'success' : random.chance(0.5) ? 'paywall' : 'fail'
    const isPaid = outcome === 'success' && random.chance(0.2)
    const countsMore = random.chance(0.25)
    const isCloudEvent = countsMore && random.chance(0.33)
    const further = countsMore ? ['tokens', 'users'].filter(() => random.chance(0.7)) : []
    const event = meterEvent({
      id: `usage_${String(number).padStart(26, '0')}`,
      idempotencyKey: isKeyed ? `key-${number}` : null,
      customerRef: random.pick(this.customerRefs),
      meterName: isCloudEvent ? '' : 'requests',
      value: isCloudEvent ? 0 : random.below(10_000_000),
      eventType: isCloudEvent ? 'llm.call' : null,
      dimensions: further.length > 0 ? { model: random.pick(['small', 'large']) } : {},
      counts: further.map((meterName) => ({
        meterName,
        value: random.below(10_000_000),
        text: meterName === 'users' ? `user "${random.below(9)}"` : null,
      })),
      timestamp: this.#nowMs - (isLate ? this.#lateMs() : random.below(5_000)),
      receivedAt: this.#nowMs,
      outcome,
      debit: isPaid ? String(1n + BigInt(random.below(1_000)) * 10n ** 15n) : null,
      productRef: random.chance(0.5) ? 'prd_all' : null,
    })
    if (isKeyed) this.#keyed.push(event)
    return event
  }

  #lateMs(): number {
    return this.#random.pick(lateDays) * dayMs + this.#random.below(earlierMsMax)
  }
}
