import { createHmac, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { present, simulatorOrigin } from '../objects/present.ts'
import type { StripeEvent, WebhookEndpoint } from '../store/records.ts'
import type { KeyValueStore } from '../store/key-value-store.ts'
import type { SimulatedClock } from '../store/simulated-clock.ts'
import { dueDeliveries, UnitOfWork, type DueDelivery } from '../store/unit-of-work.ts'

/** Settings for the delivery of webhooks. */
export type WebhookSettings = {
  /** Whether webhooks are only sent by a flush. */
  readonly isHeld: boolean
  /** Milliseconds of the simulated clock by which each webhook is delayed. */
  readonly delayMs: number
  /** Order of the webhooks that are sent together. */
  readonly order: 'created' | 'reversed' | 'shuffled'
  /** How many times each webhook is sent. */
  readonly copies: number
  /** Number of the next webhooks that are dropped. */
  readonly dropNext: number
}

const defaultSettings: WebhookSettings = {
  isHeld: false,
  delayMs: 0,
  order: 'created',
  copies: 1,
  dropNext: 0,
}

export type WebhookParts = {
  readonly store: KeyValueStore
  readonly clock: SimulatedClock
  /** URL of the simulator, for links in webhooks. */
  readonly origin: () => string
}

const attemptsMax = 8
const firstRetrySeconds = 1
const timeoutMs = 10_000
const pollMs = 50
const batchMax = 100
const parallelMax = 8

function inOrder(due: DueDelivery[], order: WebhookSettings['order']): readonly DueDelivery[] {
  if (order === 'reversed') return due.reverse()
  if (order === 'created') return due
  for (let last = due.length - 1; last > 0; last--) {
    const other = randomInt(last + 1)
    ;[due[last], due[other]] = [due[other]!, due[last]!]
  }
  return due
}

/** Sends a delivery and removes it after a 2xx answer. If the simulator is killed before that, the delivery is sent again. */
async function send(parts: WebhookParts, delivery: DueDelivery, copies: number): Promise<void> {
  const { store, clock } = parts
  const { mode, key, event: eventId, endpoint: endpointId, attempts } = delivery
  const work = new UnitOfWork({ store, mode, nowMs: clock.now() })
  const event = work.find('event', eventId)
  const endpoint = work.find('webhook_endpoint', endpointId)
  if (event === undefined || endpoint === undefined) return removeDelivery(parts, delivery)
  let isDone = true
  for (let copy = 1; copy <= copies; copy++) {
    isDone = (await isAcknowledged(parts, event, endpoint)) && isDone
  }
  if (isDone || attempts + 1 >= attemptsMax) return removeDelivery(parts, delivery)
  const later = new UnitOfWork({ store, mode, nowMs: clock.now() })
  later.set(key, undefined)
  const retry = { event: eventId, endpoint: endpointId, attempts: attempts + 1 }
  later.scheduleDelivery(retry, firstRetrySeconds * 2 ** attempts)
  later.commit()
}

/** Sends the event once. Returns whether the endpoint answered 2xx. */
async function isAcknowledged(
  { clock, origin }: WebhookParts,
  event: StripeEvent,
  endpoint: WebhookEndpoint,
): Promise<boolean> {
  const body = JSON.stringify(present(event)).replaceAll(simulatorOrigin, origin())
  const seconds = Math.floor(clock.now() / 1_000)
  const digest = createHmac('sha256', endpoint.simulator.secret)
    .update(`${seconds}.${body}`)
    .digest('hex')
  try {
    const answer = await fetch(endpoint.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': `t=${seconds},v1=${digest}`,
        'user-agent': 'Stripe/1.0 (Tollgate simulator)',
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}

function removeDelivery({ store }: WebhookParts, { key }: DueDelivery): void {
  store.commit(new Map([[key, undefined]]))
}

/** Sends due deliveries until it is stopped. */
export class WebhookSender {
  settings: WebhookSettings = defaultSettings
  readonly #parts: WebhookParts
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(parts: WebhookParts) {
    this.#parts = parts
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Sends all pending deliveries, whatever their due time. Returns their number. */
  flush(): Promise<number> {
    return this.#sendDue(Infinity)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const { isHeld, delayMs } = this.settings
      const untilMs = isHeld ? -Infinity : this.#parts.clock.now() - delayMs
      const sent = await this.#sendDue(untilMs)
      if (sent === 0) await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Sends the deliveries that are due at a time of the simulated clock, once. Returns their number. */
  async #sendDue(untilMs: number): Promise<number> {
    const { order, copies } = this.settings
    const found: DueDelivery[] = []
    for (const delivery of dueDeliveries(this.#parts.store, untilMs)) {
      if (found.push(delivery) === batchMax) break
    }
    const due = inOrder(found, order)
    let next = 0
    const worker = async (): Promise<void> => {
      for (let each = due[next++]; each !== undefined; each = due[next++]) {
        if (this.#isDropped()) removeDelivery(this.#parts, each)
        else await send(this.#parts, each, copies)
      }
    }
    // Deliveries are sent one at a time if their order matters.
    const workers = order === 'shuffled' ? parallelMax : 1
    await Promise.all(Array.from({ length: workers }, worker))
    return due.length
  }

  /** Returns whether the next webhook is dropped, and counts it. */
  #isDropped(): boolean {
    if (this.settings.dropNext === 0) return false
    this.settings = { ...this.settings, dropNext: this.settings.dropNext - 1 }
    return true
  }
}
