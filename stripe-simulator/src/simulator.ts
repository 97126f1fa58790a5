import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import { Faults } from './api/faults.ts'
import { createApp } from './http/create-app.ts'
import { pruneKeys } from './api/idempotency.ts'
import type { Mode } from './store/records.ts'
import { ensureConfiguredEndpoint } from './objects/webhook-endpoints.ts'
import { runDue } from './run-due.ts'
import { LmdbPages } from './store/lmdb-pages.ts'
import { MemoryPages } from './store/pages.ts'
import { SimulatedClock } from './store/simulated-clock.ts'
import { World } from './store/world.ts'
import { WebhookSender } from './webhooks/send-webhooks.ts'

export type SimulatorOptions = {
  /** Folder of the state. If absent, the state is kept in memory. */
  readonly folder?: string
  readonly host?: string
  /** 0 selects any free port. */
  readonly port?: number
  readonly clock?: Clock
  /** Configured webhook endpoints, in addition to those created over the API. */
  readonly webhooks?: Readonly<
    Partial<Record<Mode, { readonly url: string; readonly secret: string }>>
  >
  /** Called for errors that are bugs of the simulator. */
  readonly onError?: (error: unknown) => void
}

export type Simulator = {
  readonly url: string
  readonly port: number
  /** Throws if the state cannot be read. */
  check(): void
  /** Stops the simulator. It may be called twice. */
  stop(): Promise<void>
}

const dueEveryMs = 50
const pruneEveryMs = 3_600_000

/** Starts a local Stripe that answers requests of Stripe's SDK over HTTP and stores their effects. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = '127.0.0.1', onError = () => undefined } = options
  const pages =
    options.folder === undefined ? new MemoryPages() : await LmdbPages.open(options.folder)
  const clock = new SimulatedClock(pages, options.clock ?? systemClock)
  let port = options.port ?? 0
  const origin = (): string => `http://${host}:${port}`
  const webhooks = new WebhookSender({ pages, clock, origin })
  const faults = new Faults()
  const app = createApp({
    pages,
    clock,
    faults,
    webhooks,
    origin,
    onError,
    inUse: new Set(),
  })
  for (const [mode, endpoint] of Object.entries(options.webhooks ?? {})) {
    const world = new World({ pages, mode: mode as Mode, nowMs: clock.now() })
    ensureConfiguredEndpoint(world, endpoint.url, endpoint.secret)
    world.commit()
  }
  runDue(pages, clock.now())
  pruneKeys(pages, clock.now())
  await app.listen({ port, host })
  port = (app.server.address() as AddressInfo).port
  webhooks.start()
  const due = setInterval(() => runDue(pages, clock.now()), dueEveryMs)
  const prune = setInterval(() => pruneKeys(pages, clock.now()), pruneEveryMs)
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    clearInterval(due)
    clearInterval(prune)
    await app.close()
    await webhooks.stop()
    await pages.close()
  }
  return {
    url: origin(),
    port,
    check: () => void pages.get('number'),
    stop: () => (stopping ??= stop()),
  }
}
