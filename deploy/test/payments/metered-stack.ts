import { readAggregatorConfig } from '@tollgate/aggregator/config'
import { createAggregator } from '@tollgate/aggregator/service'
import { createLogger } from '@tollgate/platform/observability/logger'
import { startTestUsageStore } from '@tollgate/platform/testing/embedded-servers'
import { usageTopic } from '@tollgate/schemas/topics'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { encodeMeterEvent } from '@tollgate/schemas/meter-event-codec'
import { randomUUID } from 'node:crypto'
import { recordedEvent } from '../recorded-event.ts'
import { RenewalStack } from './renewal-stack.ts'

/** Customers who bought with a card, and whose usage is counted and stored. */
type MeteredStack = {
  readonly shop: RenewalStack
  /** Records usage of the product like ingest, at a given time or now. */
  use(customerRef: string, units: number, at?: string): Promise<void>
  /** Settings with which a runner finds the usage. */
  readonly runnerSettings: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export async function startMeteredStack(): Promise<MeteredStack> {
  const clickhouse = await startTestUsageStore()
  const shop = await RenewalStack.start({ hasWebhooks: true, usageStore: clickhouse.store })
  const { stack, tenant, productRef } = shop.payments
  const { url, username, password } = clickhouse.connection
  const runnerSettings = {
    TOLLGATE_CLICKHOUSE_URL: url,
    TOLLGATE_CLICKHOUSE_USERNAME: username,
    TOLLGATE_CLICKHOUSE_PASSWORD: password,
  }
  const config = readAggregatorConfig({
    ...runnerSettings,
    TOLLGATE_DATA_DIR: stack.folder,
    TOLLGATE_SINK_DELAY_MS: '1',
  })
  const logger = createLogger('aggregator', 'silent')
  const { clock, eventLog, hotState } = stack
  const aggregator = createAggregator(config, { clock, logger, eventLog, hotState })
  await aggregator.start()
  return {
    shop,
    runnerSettings,
    use: async (customerRef, units, at) => {
      const event = recordedEvent({
        id: `usage_${randomUUID()}`,
        providerId: tenant.providerId,
        customerRef,
        meterName: 'requests',
        value: units * 1_000_000,
        timestamp: at === undefined ? clock.now() : Date.parse(at),
        receivedAt: clock.now(),
        productRef,
      })
      const buffer = Buffer.alloc(2_000)
      const value = buffer.subarray(0, encodeMeterEvent(event, buffer, 0))
      const topic = usageTopic('sandbox')
      const subject = subjectKey(tenant.providerId, customerRef)
      const partition = partitionOf(subject, eventLog.partitionCount(topic))
      await eventLog.appendAll(topic, [{ partition, value }], clock.now())
    },
    stop: async () => {
      await aggregator.stop()
      await shop.stop()
      await clickhouse.stop()
    },
  }
}
