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
import { ProcessCrashedError, CrashingProcess, type Crash } from './crashing-process.ts'
import { CrashingService } from './crashing-service.ts'
import { removePendingWork, type Stores } from './stores.ts'

/** Timeout of processor calls in milliseconds, if calls hang and the full timeout is waited for. */
const shortTimeoutMs = 200

/**
 * Timeout of processor calls in milliseconds, if no call hangs. The outcome of a call that times out is unknown for a day, which must
 * not happen on a busy machine.
 */
export const longTimeoutMs = 20_000

/** Milliseconds after a reset within which the request that the SDK repeats by itself has arrived. */
const resendWithinMs = 1_000

/** Stores on which a world is open. */
const storesInUse = new WeakSet<Stores>()

/** A payment processor and the process that uses it. If the process dies, a new one replaces it on the same stores. */
export class MoneyWorld {
  readonly stores: Stores
  readonly simulator: SimulatorUnderTest
  /** Events of the processor that are not delivered yet. */
  readonly webhooks: ProcessorEvent[] = []
  /** Calls of dead processes that have not arrived yet. */
  readonly pendingCalls: (() => Promise<unknown>)[] = []
  /** Errors that processes reported, other than their crashes. */
  readonly errors: unknown[] = []
  /** All processes in the order in which they lived. */
  readonly processes: CrashingProcess[] = []
  readonly #crashes: Crash[]
  readonly #receiver: Server
  #service: CrashingService | undefined

  private constructor(
    stores: Stores,
    simulator: SimulatorUnderTest,
    receiver: Server,
    crashes: readonly Crash[],
  ) {
    this.stores = stores
    this.simulator = simulator
    this.#receiver = receiver
    this.#crashes = [...crashes]
  }

  /** Opens a world. `events` are the types of the events that the processor sends. Default: all of them. */
  static async open(
    stores: Stores,
    crashes: readonly Crash[] = [],
    timeoutMs = shortTimeoutMs,
    events?: readonly string[],
  ): Promise<MoneyWorld> {
    // The processes of one story would find the payments of the other one, which do not exist at their processor.
    if (storesInUse.has(stores)) throw new Error('Another story is playing on these stores.')
    storesInUse.add(stores)
    const received: { readonly body: Buffer; readonly signature: string }[] = []
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const signature = String(request.headers['stripe-signature'])
        received.push({ body: Buffer.concat(chunks), signature })
        response.end()
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const { port } = receiver.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const simulator = await openSimulator({
      timeoutMs,
      clock: stores.clock,
      webhooks: { test: { url, secret: webhookSecret, ...(events && { events }) } },
    })
    await simulator.admin('webhooks', { isHeld: true })
    await removePendingWork(stores)
    const world = new MoneyWorld(stores, simulator, receiver, crashes)
    world.#received = received
    return world
  }

  #received: { readonly body: Buffer; readonly signature: string }[] = []

  async close(): Promise<void> {
    this.#receiver.closeAllConnections()
    await new Promise((resolve) => this.#receiver.close(resolve))
    await this.simulator.close()
    storesInUse.delete(this.stores)
  }

  get now(): Date {
    return new Date(this.stores.clock.now())
  }

  /** Moves the clock forward, also at the processor, where due actions are executed. */
  async advanceClock(ms: number): Promise<void> {
    this.stores.clock.set(this.stores.clock.now() + ms)
    await this.simulator.admin('clock', { advanceSeconds: 0 })
  }

  /** Returns the living process. After a crash it starts a new one, which first publishes what the last one left unpublished. */
  async service(): Promise<CrashingService> {
    while (this.#service === undefined) {
      const process = new CrashingProcess(this.#crashes.shift(), (send) =>
        this.pendingCalls.push(send),
      )
      this.processes.push(process)
      const service = new CrashingService(process, this.stores, this.simulator.processor, (error) =>
        this.errors.push(error),
      )
      if ((await this.#ignoreCrash(process, () => service.publishPending())).kind === 'done') {
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
    body: (service: CrashingService) => Promise<Result>,
  ): Promise<Result | undefined> {
    const service = await this.service()
    const outcome = await this.#ignoreCrash(service.process, () => body(service))
    return outcome.kind === 'done' ? outcome.result : undefined
  }

  /** Repeats `body` with new processes until one survives it. */
  async actUntilDone<Result>(body: (service: CrashingService) => Promise<Result>): Promise<Result> {
    for (;;) {
      const service = await this.service()
      const outcome = await this.#ignoreCrash(service.process, () => body(service))
      if (outcome.kind === 'done') return outcome.result
    }
  }

  async #ignoreCrash<Result>(
    process: CrashingProcess,
    body: () => Promise<Result>,
  ): Promise<{ readonly kind: 'done'; readonly result: Result } | { readonly kind: 'died' }> {
    try {
      const result = await body()
      // Some operations continue after an error. Their result is ignored if the process is dead.
      if (!process.hasCrashed) return { kind: 'done', result }
    } catch (error) {
      if (!process.hasCrashed && !(error instanceof ProcessCrashedError)) throw error
    }
    if (this.#service?.process === process) this.#service = undefined
    return { kind: 'died' }
  }

  /** Collects the events that the processor has emitted. */
  async collectWebhooks(): Promise<void> {
    await this.simulator.admin('webhooks/flush')
    for (const { body, signature } of this.#received.splice(0)) {
      const verdict = this.simulator.processor.verifyWebhook(body, signature, this.now)
      if (verdict.verdict !== 'genuine') throw new Error(`not genuine: ${verdict.message}`)
      this.webhooks.push(verdict.event)
    }
  }

  async injectFault(fault: Pick<Fault, 'kind' | 'path' | 'times'>): Promise<void> {
    const { kind, path, times } = fault
    this.#hasResets ||= kind.startsWith('reset')
    await this.simulator.admin('faults', { kind, path, times, method: 'POST' })
  }

  #hasResets = false

  /**
   * Waits until all calls have arrived at the processor, including those that the SDK repeats after the service has given up
   * waiting.
   */
  async completeCalls(): Promise<void> {
    await this.sendPendingCalls()
    // A request that the SDK repeats may still be in flight.
    if (this.#hasResets) await sleep(resendWithinMs)
  }

  /** Sends the remaining calls of dead processes. */
  async sendPendingCalls(): Promise<void> {
    for (const send of this.pendingCalls.splice(0)) await send().catch(() => undefined)
  }
}
