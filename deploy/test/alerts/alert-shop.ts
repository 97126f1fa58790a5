import { PeriodUsage } from '@tollgate/control-plane/limits/period-usage'
import { readControlPlaneConfig } from '@tollgate/control-plane/config'
import { createPeriodUsageAnswers } from '@tollgate/control-plane/metrics'
import { runAlertRound, type AlertJobParts } from '@tollgate/control-plane/jobs/check-alerts'
import type { Alert, AlertThreshold } from '@tollgate/domain/alerts/alert'
import { createAlert } from '@tollgate/domain/alerts/manage-alerts'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { createMeter } from '@tollgate/domain/meters/create-meter'
import { publish } from '@tollgate/domain/publishing/publisher'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { createMetrics } from '@tollgate/platform/observability/metrics'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { usageTopic } from '@tollgate/schemas/topics'
import { expect } from 'vitest'
import type { Shop } from '../../../billing-runner/test/runner-stack.ts'
import { CrashingProcess, databaseOf } from '../money/crashing-process.ts'
import {
  startUsageBillingStack,
  type UsageBillingStack,
} from '../usage-billing/usage-billing-stack.ts'

const topic = usageTopic('sandbox')

/** A shop with alerts, and processes that compare usage with them and may die. */
export class AlertShop {
  readonly stack: UsageBillingStack
  #shop: Shop | undefined

  private constructor(stack: UsageBillingStack) {
    this.stack = stack
  }

  static async start(): Promise<AlertShop> {
    return new AlertShop(await startUsageBillingStack())
  }

  /** Opens a new provider with the meter `tokens`, at a time. */
  async open(at: string): Promise<void> {
    this.stack.runner.clock.set(at)
    this.#shop = await this.stack.runner.openShop()
    await this.stack.runner.within(this.shop, (work) =>
      createMeter(work, {
        name: 'tokens',
        displayName: 'Tokens',
        description: null,
        aggregation: 'sum',
        unit: 'tokens',
        reading: null,
      }),
    )
  }

  get shop(): Shop {
    return this.#shop!
  }

  get sql() {
    return this.stack.runner.database.in('sandbox')
  }

  /** Creates a customer who buys the plan now, and publishes it like the control plane. */
  async buy(input: Partial<PlanCreateInput>): Promise<Purchase> {
    const plan = await this.stack.runner.addPlan(this.shop, input)
    const purchase = await this.stack.runner.buy(this.shop, plan)
    await this.publish(purchase.customerRef)
    return purchase
  }

  async publish(target: string): Promise<void> {
    const { providerId } = this.shop
    const customer = { kind: 'customer', providerId, target } as const
    await publish(this.#partsOf(new CrashingProcess()).publisher, 'sandbox', customer, 'always')
  }

  alert(
    thresholds: readonly AlertThreshold[],
    change: Partial<Omit<Alert, 'reference'>> = {},
  ): Promise<unknown> {
    const places = { limitKey: null, planRef: null, customerRef: null } as const
    return this.stack.runner.within(this.shop, async (work) => {
      const fields = { watches: 'limit', ...places, thresholds, ...change } as const
      const outcome = await createAlert(work, fields, 100)
      expect(outcome.kind).toBe('alert')
    })
  }

  /** Records usage and waits until the sink has stored it. */
  async use(
    customerRef: string,
    units: number,
    options: { readonly meterName?: string; readonly at?: string } = {},
  ): Promise<void> {
    const { at, meterName = 'requests' } = options
    const time = at === undefined ? new Date(this.stack.runner.clock.now()) : new Date(at)
    const micros = BigInt(Math.round(units * 1_000_000))
    await this.stack.record(this.shop, [{ customerRef, micros, at: time, meterName }])
    await this.untilStored()
  }

  async untilStored(): Promise<void> {
    const { eventLog } = this.stack.runner.parts
    for (let partition = 0; partition < eventLog.partitionCount(topic); partition++) {
      const head = await eventLog.head(topic, partition)
      const stored = async () => (await eventLog.position(sinkGroup, topic, partition)).offset
      await expect.poll(stored, { timeout: 60_000, interval: 5 }).toBe(head)
    }
  }

  /** Runs one round of the job in a process that may die. A claim that a dead process has left ends at once. */
  async check(life = new CrashingProcess()): Promise<void> {
    try {
      await runAlertRound(this.#partsOf(life), 'sandbox', 4)
    } catch (error) {
      if (!life.hasCrashed) throw error
    }
    await this.sql`update alert_checks set claimed_until = null, due_at = now()`
  }

  /** Returns the events about reached thresholds, in the order of the outbox. */
  async reached(): Promise<ReachedEvent[]> {
    const events = await this.stack.runner.events(this.shop, /^usage\.(threshold|limit)_reached$/)
    return events.map(({ type, object }) => ({ type, ...object }) as ReachedEvent)
  }

  #partsOf(life: CrashingProcess): AlertJobParts & { readonly publisher: PublisherParts } {
    const { parts, database, hotState, clock } = this.stack.runner
    const mortal = databaseOf(life, database)
    const partitionCount = () => parts.eventLog.partitionCount(topic)
    const publisher = {
      database: mortal,
      hotState,
      partitionCount,
      now: () => new Date(clock.now()),
    }
    const limits = readControlPlaneConfig(this.stack.environment({}))
    const tailParts = createTailParts({ log: parts.eventLog, hotState }, limits)
    const answers = createPeriodUsageAnswers(createMetrics('control-plane'))
    const usage = new PeriodUsage({ ...parts, ...tailParts, limits, answers })
    return { ...parts, database: mortal, publisher, partitionCount, usage }
  }

  async stop(): Promise<void> {
    await this.stack.stop()
  }
}

type ReachedEvent = {
  readonly type: 'usage.threshold_reached' | 'usage.limit_reached'
  readonly watches: string
  readonly customer: string
  readonly limit: string | null
  readonly percent: number | null
  readonly threshold: number
  readonly value: number
  readonly whole: number | null
  readonly periodStart: number
  readonly periodEnd: number | null
}
