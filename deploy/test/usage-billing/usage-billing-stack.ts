import { randomUUID } from 'node:crypto'
import { readAggregatorConfig } from '@tollgate/aggregator/config'
import { migrateUsageTables } from '@tollgate/aggregator/clickhouse/migrate'
import { createAggregator } from '@tollgate/aggregator/service'
import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import { listLines } from '@tollgate/domain/invoices/lines'
import { findInvoice, listInvoices } from '@tollgate/domain/invoices/repository'
import { startTestUsageStore } from '@tollgate/platform/testing/embedded-servers'
import { withoutCounts, type MeterEvent } from '@tollgate/schemas/meter-event'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import { offsetOfNoLog } from '@tollgate/schemas/usage-records'
import {
  startRunnerStack,
  type RunnerStack,
  type Shop,
} from '../../../billing-runner/test/runner-stack.ts'

/** Usage as a client records it. */
type RecordedUsage = {
  readonly customerRef: string
  readonly micros: bigint
  /** Time of the usage according to the client. */
  readonly at: Date
  readonly idempotencyKey?: string
  /** Default: `requests`. */
  readonly meterName?: string
}

/** Usage that was moved here from another installation: it is stored, but not in the log. */
type MovedUsage = {
  /** Default: an id of its own. */
  readonly id?: string
  readonly customerRef: string
  readonly meterName: string
  readonly units: number
  readonly at: string
  readonly dimensions: Readonly<Record<string, string>>
}

/** The billing runner on real parts, with projections that count and store the records of the log. */
export type UsageBillingStack = {
  readonly runner: RunnerStack
  /** Returns the environment of a runner in a separate process on the same stores. */
  environment(settings: Record<string, string>): Record<string, string>
  /** Appends records like ingest, one after the other. */
  record(shop: Shop, usages: readonly RecordedUsage[]): Promise<void>
  /** Stores records with dimensions that have no place in the log. */
  storeMoved(shop: Shop, usages: readonly MovedUsage[]): Promise<void>
  startProjections(): Promise<void>
  stopProjections(): Promise<void>
  /** Returns the invoices of one purchase in the order of their numbers. */
  invoicesOf(shop: Shop, purchaseRef: string): Promise<InvoiceWithLines[]>
  /** Returns the drafts of periods that cost nothing. */
  draftsOf(shop: Shop, purchaseRef: string): Promise<InvoiceWithLines[]>
  stop(): Promise<void>
}

const topic = usageTopic('sandbox')

export async function startUsageBillingStack(): Promise<UsageBillingStack> {
  const clickhouse = await startTestUsageStore()
  const runner = await startRunnerStack({ usageStore: clickhouse.store })
  const { url, username, password } = clickhouse.connection
  const clickhouseSettings = {
    TOLLGATE_CLICKHOUSE_URL: url,
    TOLLGATE_CLICKHOUSE_USERNAME: username,
    TOLLGATE_CLICKHOUSE_PASSWORD: password,
  }
  const aggregatorConfig = readAggregatorConfig({
    TOLLGATE_DATA_DIR: runner.folder,
    ...clickhouseSettings,
    TOLLGATE_SINK_DELAY_MS: '1',
  })
  const { clock, logger, eventLog, hotState } = runner.parts
  let aggregator: ReturnType<typeof createAggregator> | undefined
  const startProjections = async (): Promise<void> => {
    aggregator = createAggregator(aggregatorConfig, { clock, logger, eventLog, hotState })
    await aggregator.start()
  }
  const stopProjections = async (): Promise<void> => {
    await aggregator?.stop()
    aggregator = undefined
  }
  // The aggregator migrates after its start, and tests store rows at once.
  await migrateUsageTables(clickhouse.connection)
  await startProjections()
  return {
    runner,
    environment: (settings) => runner.environment({ ...clickhouseSettings, ...settings }),
    startProjections,
    stopProjections,
    record: async ({ providerId, product }, usages) => {
      const records = usages.map((usage) => {
        const event = meterEventOf(providerId, product.reference, usage, clock.now())
        const buffer = Buffer.alloc(2_000)
        const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
        const subject = subjectKey(providerId, event.customerRef)
        return { partition: partitionOf(subject, eventLog.partitionCount(topic)), value }
      })
      await eventLog.appendAll(topic, records, clock.now())
    },
    storeMoved: async ({ providerId, product }, usages) => {
      const rows = usages.map((usage) => {
        const { id, customerRef, meterName, units, at, dimensions } = usage
        const subject = subjectKey(providerId, customerRef)
        return {
          id: id ?? `usage_${randomUUID()}`,
          provider_id: providerId,
          customer_ref: customerRef,
          meter_name: meterName,
          value: units,
          timestamp: at.replace(/Z$/, ''),
          received_at: at.replace(/Z$/, ''),
          product_ref: product.reference,
          outcome: 'success',
          source: 'usages',
          dimensions,
          log_partition: partitionOf(subject, eventLog.partitionCount(topic)),
          log_offset: offsetOfNoLog,
        }
      })
      const lines = rows.map((row) => JSON.stringify(row)).join('\n')
      await clickhouse.store.command(
        `INSERT INTO sandbox.usage_records (${Object.keys(rows[0]!).join(', ')}) FORMAT JSONEachRow ${lines}`,
      )
    },
    invoicesOf: async ({ providerId }, purchaseRef) => {
      const sql = runner.database.in('sandbox')
      const page = { limit: 1_000, offset: 0 }
      const { invoices } = await listInvoices(sql, providerId, { purchaseRef }, page)
      const whole = invoices.map(async (invoice) => {
        const lines = await listLines(sql, providerId, invoice.reference)
        return { ...invoice, lines }
      })
      return (await Promise.all(whole)).sort((one, other) =>
        Number((one.number ?? 0n) - (other.number ?? 0n)),
      )
    },
    draftsOf: async ({ providerId }, purchaseRef) => {
      const sql = runner.database.in('sandbox')
      const drafts = await sql<{ reference: string }[]>`
        select reference from invoices
        where provider_id = ${providerId} and purchase_ref = ${purchaseRef} and status = 'draft'`
      const whole = drafts.map(async ({ reference }) => {
        const invoice = (await findInvoice(sql, providerId, reference))!
        return { ...invoice, lines: await listLines(sql, providerId, reference) }
      })
      return Promise.all(whole)
    },
    stop: async () => {
      await stopProjections()
      await runner.stop()
      await clickhouse.stop()
    },
  }
}

function meterEventOf(
  providerId: string,
  productRef: string,
  { customerRef, micros, at, idempotencyKey, meterName = 'requests' }: RecordedUsage,
  receivedAt: number,
): MeterEvent {
  const key = idempotencyKey ?? null
  return {
    id: `usage_${key === null ? randomUUID() : `${providerId}_${customerRef}_${key}`}`,
    providerId,
    customerRef,
    meterName,
    value: Number(micros),
    timestamp: at.getTime(),
    receivedAt,
    productRef,
    purchaseRef: null,
    outcome: 'success',
    source: 'usages',
    idempotencyKey: key,
    properties: '{}',
    reservationId: null,
    traceParent: null,
    debit: null,
    ...withoutCounts,
  }
}
