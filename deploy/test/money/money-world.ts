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

/** How long the simulator may take to answer, where calls hang that are waited for that long. */
const shortTimeoutMs = 200

/** After a reset the SDK sends once more by itself: by then it has arrived. */
const sentAgainMs = 1_000

/**
 * A processor of payments, and the process that takes payments there: when it dies, another one takes its place on the
 * same stores.
 */
export class MoneyWorld {
  readonly stores: Stores
  readonly simulator: SimulatorUnderTest
  /** What the processor has told and nobody has received yet. */
  readonly mail: ProcessorEvent[] = []
  /** Calls of the dead that are still on their way. */
  readonly lastWords: (() => Promise<unknown>)[] = []
  /** What the processes complained about, beside their deaths. */
  readonly complaints: unknown[] = []
  /** Of every process, in the order in which they lived. */
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

  /** Time passes, for the processor as well: what comes due there has happened. */
  async pass(ms: number): Promise<void> {
    this.stores.clock.set(this.stores.clock.now() + ms)
    await this.simulator.admin('clock', { advanceSeconds: 0 })
  }

  /** The process that lives: a new one after a death, which begins with what the last one left to publish. */
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
   * Has the process do something. Undefined where it died of it, or was dead when another of its acts was done: whoever
   * asked is not answered.
   */
  async act<Result>(
    body: (service: MortalService) => Promise<Result>,
  ): Promise<Result | undefined> {
    const service = await this.service()
    const outcome = await this.#outlived(service.life, () => body(service))
    return outcome.kind === 'done' ? outcome.result : undefined
  }

  /** As long as somebody lives to do it. */
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
      // Some of what a process does goes on after an error: the dead are not told of it.
      if (!life.isOver) return { kind: 'done', result }
    } catch (error) {
      if (!life.isOver && !(error instanceof Died)) throw error
    }
    if (this.#service?.life === life) this.#service = undefined
    return { kind: 'died' }
  }

  /** What the processor has to tell by now is on its way. */
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

  /** Whatever is on its way to the processor is there: what the SDK sends again, we may have given up already. */
  async arriveAll(): Promise<void> {
    await this.hearLastWords()
    // One that was asked for may still be to come, and come again.
    if (this.#hasResets) await sleep(sentAgainMs)
  }

  /** The calls of the dead arrive. */
  async hearLastWords(): Promise<void> {
    for (const send of this.lastWords.splice(0)) await send().catch(() => undefined)
  }
}
