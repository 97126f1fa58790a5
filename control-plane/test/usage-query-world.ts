import { correctionKey, correctionSource } from '@tollgate/schemas/correction-records'
import { expect } from 'vitest'
import {
  startTestUsageStore,
  type TestUsageStore,
} from '@tollgate/platform/testing/embedded-servers'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import { startTestStack, type Tenant, type TestStack } from './test-stack.ts'
import { createUsageRecordTables } from './usage-record-tables.ts'
import type { ModelRecord } from './usage-query-model.ts'

export const dayMs = 86_400_000
export const start = Date.parse('2026-03-01T00:00:00Z')
export const range = { from: '2026-03-01', to: '2026-03-04' }

export type Query = Readonly<Record<string, string | readonly string[]>>
type StoredRow = {
  readonly properties?: object
  /** The id of the record that a correction changes. Undefined for all other records. */
  readonly corrects?: string
}

/** A control plane with ClickHouse, in which tests store records directly. */
export class UsageQueryWorld {
  readonly usage: TestUsageStore
  readonly stack: TestStack
  readonly tenant: Tenant

  private constructor(usage: TestUsageStore, stack: TestStack, tenant: Tenant) {
    this.usage = usage
    this.stack = stack
    this.tenant = tenant
  }

  static async start(): Promise<UsageQueryWorld> {
    const usage = await startTestUsageStore()
    await createUsageRecordTables(usage.store)
    const settings = {
      TOLLGATE_USAGE_EXPORTS_MAX: '2',
      TOLLGATE_USAGE_EXPORTS_PER_PROVIDER_MAX: '1',
      TOLLGATE_USAGE_EXPORT_ROWS_MAX: '50000',
      TOLLGATE_USAGE_EXPORT_STALL_SECONDS_MAX: '4',
      TOLLGATE_USAGE_BUCKETS_MAX: '2000',
    }
    const stack = await startTestStack({ usageStore: usage.store, settings })
    return new UsageQueryWorld(usage, stack, await stack.createTenant())
  }

  async stop(): Promise<void> {
    await this.stack.stop()
    await this.usage.stop()
  }

  async createMeter(fields: object, { sandboxKey } = this.tenant): Promise<MeterBody> {
    const made = await this.stack.call<MeterBody>(sandboxKey, 'POST', '/v1/ui/meters', fields)
    expect([made.status, made.body]).toMatchObject([201, {}])
    return made.body
  }

  async store(
    meterName: string,
    records: readonly (ModelRecord & StoredRow)[],
    environment: 'sandbox' | 'live' = 'sandbox',
  ): Promise<void> {
    const lines = records.map((record) =>
      JSON.stringify({
        id: record.id,
        provider_id: this.tenant.providerId,
        customer_ref: 'ada',
        meter_name: meterName,
        value: (record.micros / 1_000_000).toFixed(6),
        timestamp: inClickHouse(record.atMs),
        received_at: inClickHouse(record.receivedMs),
        outcome: 'success',
        source: record.corrects === undefined ? 'events' : correctionSource,
        idempotency_key:
          record.corrects === undefined ? '' : correctionKey('ucr_1', record.corrects),
        properties: JSON.stringify(record.properties ?? {}),
        dimensions: record.dimensions,
        value_text: record.text,
      }),
    )
    await this.usage.store.command(
      `INSERT INTO ${environment}.usage_records FORMAT JSONEachRow ${lines.join('\n')}`,
    )
  }

  get<Body>(path: string, query: Query) {
    const { stack, tenant } = this
    return stack.call<Body>(tenant.sandboxKey, 'GET', `${path}?${queryText(query)}`)
  }

  file(
    meter: MeterBody,
    query: Query,
    headers: Readonly<Record<string, string>> = {},
    { sandboxKey } = this.tenant,
  ): Promise<Response> {
    return this.stack.fetch(`/v1/ui/meters/${meter.reference}/usage?${queryText(query)}`, {
      headers: { authorization: `Bearer ${sandboxKey}`, ...headers },
    })
  }
}

export function queryText(query: Query): string {
  return new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((each): [string, string] => [name, each]),
    ),
  ).toString()
}

function inClickHouse(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
}

/** Returns the rows of a CSV without its header, sorted. */
export function csvRows(text: string): string[] {
  return text.trimEnd().split('\n').slice(1).sort()
}
