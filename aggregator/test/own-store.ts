import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  spawnChdbGateway,
  type ChdbGatewayProcess,
} from '@tollgate/platform/chdb-gateway/spawn-chdb-gateway'
import type { TestUsageStore } from '@tollgate/platform/testing/embedded-servers'
import { keepCopy } from '@tollgate/platform/testing/older-copy'
import {
  createClickHouseUsageStore,
  type ClickHouseConnection,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { migrateUsageTables } from '../src/clickhouse/migrate.ts'

const password = 'own-store'

/**
 * A separate ClickHouse process that can be stopped and restored from an older copy of its folder. `store` is always the running
 * one.
 */
export class OwnStore implements TestUsageStore {
  readonly #root: string
  #gateway!: ChdbGatewayProcess
  #running!: UsageStore
  connection!: ClickHouseConnection
  #copy: { putBack(): Promise<void> } | undefined
  readonly store: UsageStore = {
    insert: (...input) => this.#running.insert(...input),
    query: (...input) => this.#running.query(...input),
    stream: (...input) => this.#running.stream(...input),
    command: (statement) => this.#running.command(statement),
    ping: () => this.#running.ping(),
    close: async () => {},
  }

  private constructor(root: string) {
    this.#root = root
  }

  static async start(): Promise<OwnStore> {
    const own = new OwnStore(await mkdtemp(join(tmpdir(), 'tollgate-own-store-')))
    await own.#launch()
    await migrateUsageTables(own.connection)
    return own
  }

  async restart(): Promise<void> {
    await this.#end()
    await this.#launch()
  }

  /** Makes a copy of the stored data. */
  async keepCopy(): Promise<void> {
    await this.#end()
    this.#copy = await keepCopy(this.#folder)
    await this.#launch()
  }

  async putOlderCopyBack(): Promise<void> {
    await this.#end()
    await this.#copy!.putBack()
    await this.#launch()
  }

  async stop(): Promise<void> {
    await this.#end()
    await rm(this.#root, { recursive: true, force: true })
  }

  get #folder(): string {
    return join(this.#root, 'clickhouse')
  }

  async #launch(): Promise<void> {
    this.#gateway = await spawnChdbGateway({ folder: this.#folder, password })
    this.connection = {
      url: this.#gateway.url,
      username: 'default',
      password,
      requestTimeoutMs: 30_000,
    }
    this.#running = createClickHouseUsageStore(this.connection)
  }

  async #end(): Promise<void> {
    await this.#running.close()
    await this.#gateway.stop()
  }
}
