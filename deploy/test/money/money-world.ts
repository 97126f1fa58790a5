import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessorEvent } from '@tollgate/platform/payments/payment-processor'
import {
  openSimulator,
  webhookSecret,
  type SimulatorUnderTest,
} from '../../../stripe-simulator/test/simulator-under-test.ts'
import type { Fault } from '@tollgate/stripe-simulator/api/faults'
import { Died, Life, type Death } from './life.ts'
import { MortalService } from './mortal-service.ts'
import { forgetOthers, type Stores } from './stores.ts'

/** Timeout of processor calls in milliseconds, if calls hang and the full timeout is waited for. */
const shortTimeoutMs = 200

/** Milliseconds after a reset within which the request that the SDK repeats by itself has arrived. */
const sentAgainMs = 1_000

/** A payment processor and the process that uses it. If the process dies, a new one replaces it on the same stores. */
export class MoneyWorld {
  readonly stores: Stores
  readonly simulator: SimulatorUnderTest
  /** Events of the processor that are not delivered yet. */
  readonly mail: ProcessorEvent[] = []
  /** Calls of dead processes that have not arrived yet. */
  readonly lastWords: (() => Promise<unknown>)[] = []
  /** Errors that processes reported, other than their deaths. */
  readonly complaints: unknown[] = []
  /** All processes in the order in which they lived. */
  readonly lives: Life[] = []
  readonly #deaths: Death[]
  readonly #mailbox: Server
  #service: MortalService | undefined

  private constructor(
    stores: Stores,
    simulator: SimulatorUnderTest,
    mailbox: Server,
    deaths: readonly Death[],
  ) {
    this.stores = stores
    this.simulator = simulator
    this.#mailbox = mailbox
    this.#deaths = [...deaths]
  }

  static async open(
    stores: Stores,
    deaths: readonly Death[] = [],
    timeoutMs = shortTimeoutMs,
  ): Promise<MoneyWorld> {
    const received: { readonly body: Buffer; readonly signature: string }[] = []
    const mailbox = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const signature = String(request.headers['stripe-signature'])
        received.push({ body: Buffer.concat(chunks), signature })
        response.end()
      })
    })
    await new Promise<void>((resolve) => mailbox.listen(0, '127.0.0.1', resolve))
    const { port } = mailbox.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const simulator = await openSimulator({
      timeoutMs,
      clock: stores.clock,
      webhooks: { test: { url, secret: webhookSecret } },
    })
    await simulator.admin('webhooks', { isHeld: true })
    await forgetOthers(stores)
    const world = new MoneyWorld(stores, simulator, mailbox, deaths)
    world.#received = received
    return world
  }

  #received: { readonly body: Buffer; readonly signature: string }[] = []

  async close(): Promise<void> {
    this.#mailbox.closeAllConnections()
    await new Promise((resolve) => this.#mailbox.close(resolve))
    await this.simulator.close()
  }

  get now(): Date {
    return new Date(this.stores.clock.now())
  }

  /** Moves the clock forward, also at the processor, where due actions are executed. */
  async pass(ms: number): Promise<void> {
    this.stores.clock.set(this.stores.clock.now() + ms)
    await this.simulator.admin('clock', { advanceSeconds: 0 })
  }

  /** Returns the living process. After a death it starts a new one, which first publishes what the last one left unpublished. */
  async service(): Promise<MortalService> {
    while (this.#service === undefined) {
      const life = new Life(this.#deaths.shift(), (send) => this.lastWords.push(send))
      this.lives.push(life)
      const service = new MortalService(life, this.stores, this.simulator.processor, (complaint) =>
        this.complaints.push(complaint),
      )
      if ((await this.#outlived(life, () => service.publishPending())).kind === 'done') {
        this.#service = service
      }
    }
    return this.#service
  }

  /**
   * Lets the process do something. Returns undefined if the process died during it, or is dead when it is done. The caller then
   * gets no answer.
   */
  async act<Result>(
    body: (service: MortalService) => Promise<Result>,
  ): Promise<Result | undefined> {
    const service = await this.service()
    const outcome = await this.#outlived(service.life, () => body(service))
    return outcome.kind === 'done' ? outcome.result : undefined
  }

  /** Repeats `body` with new processes until one survives it. */
  async insist<Result>(body: (service: MortalService) => Promise<Result>): Promise<Result> {
    for (;;) {
      const service = await this.service()
      const outcome = await this.#outlived(service.life, () => body(service))
      if (outcome.kind === 'done') return outcome.result
    }
  }

  async #outlived<Result>(
    life: Life,
    body: () => Promise<Result>,
  ): Promise<{ readonly kind: 'done'; readonly result: Result } | { readonly kind: 'died' }> {
    try {
      const result = await body()
      // Some operations continue after an error. Their result is ignored if the process is dead.
      if (!life.isOver) return { kind: 'done', result }
    } catch (error) {
      if (!life.isOver && !(error instanceof Died)) throw error
    }
    if (this.#service?.life === life) this.#service = undefined
    return { kind: 'died' }
  }

  /** Collects the events that the processor has emitted. */
  async collectMail(): Promise<void> {
    await this.simulator.admin('webhooks/flush')
    for (const { body, signature } of this.#received.splice(0)) {
      const verdict = this.simulator.processor.verifyWebhook(body, signature, this.now)
      if (verdict.verdict !== 'genuine') throw new Error(`not genuine: ${verdict.message}`)
      this.mail.push(verdict.event)
    }
  }

  async goWrong(fault: Pick<Fault, 'kind' | 'path' | 'times'>): Promise<void> {
    const { kind, path, times } = fault
    this.#hasResets ||= kind.startsWith('reset')
    await this.simulator.admin('faults', { kind, path, times, method: 'POST' })
  }

  #hasResets = false

  /**
   * Waits until all calls have arrived at the processor, including those that the SDK repeats after the service has given up
   * waiting.
   */
  async arriveAll(): Promise<void> {
    await this.hearLastWords()
    // A request that the SDK repeats may still be in flight.
    if (this.#hasResets) await sleep(sentAgainMs)
  }

  /** Sends the remaining calls of dead processes. */
  async hearLastWords(): Promise<void> {
    for (const send of this.lastWords.splice(0)) await send().catch(() => undefined)
  }
}
