import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '@tollgate/platform/clock/clock'
import { Faults } from './api/faults.ts'
import { createApp } from './http/create-app.ts'
import { pruneKeys } from './api/idempotency.ts'
import type { Mode } from './store/records.ts'
import { ensureConfiguredEndpoint, type ConfiguredEndpoint } from './objects/webhook-endpoints.ts'
import { runDueActions } from './run-due-actions.ts'
import { LmdbKeyValueStore } from './store/lmdb-key-value-store.ts'
import { MemoryStore } from './store/key-value-store.ts'
import { SimulatedClock } from './store/simulated-clock.ts'
import { UnitOfWork } from './store/unit-of-work.ts'
import { WebhookSender } from './webhooks/send-webhooks.ts'

export type SimulatorOptions = {
  /** Folder of the state. If absent, the state is kept in memory. */
  readonly folder?: string
  readonly host?: string
  /** 0 selects any free port. */
  readonly port?: number
  readonly clock?: Clock
  /** Configured webhook endpoints, in addition to those created over the API. */
  readonly webhooks?: Readonly<Partial<Record<Mode, ConfiguredEndpoint>>>
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
  const store =
    options.folder === undefined ? new MemoryStore() : await LmdbKeyValueStore.open(options.folder)
  const clock = new SimulatedClock(store, options.clock ?? systemClock)
  let port = options.port ?? 0
  const origin = (): string => `http://${host}:${port}`
  const webhooks = new WebhookSender({ store, clock, origin })
  const faults = new Faults()
  const app = createApp({
    store,
    clock,
    faults,
    webhooks,
    origin,
    onError,
    inUse: new Set(),
  })
  for (const [mode, endpoint] of Object.entries(options.webhooks ?? {})) {
    const work = new UnitOfWork({ store, mode: mode as Mode, nowMs: clock.now() })
    ensureConfiguredEndpoint(work, endpoint)
    work.commit()
  }
  runDueActions(store, clock.now())
  pruneKeys(store, clock.now())
  await app.listen({ port, host })
  port = (app.server.address() as AddressInfo).port
  webhooks.start()
  const due = setInterval(() => runDueActions(store, clock.now()), dueEveryMs)
  const prune = setInterval(() => pruneKeys(store, clock.now()), pruneEveryMs)
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    clearInterval(due)
    clearInterval(prune)
    await app.close()
    await webhooks.stop()
    await store.close()
  }
  return {
    url: origin(),
    port,
    check: () => void store.get('number'),
    stop: () => (stopping ??= stop()),
  }
}
