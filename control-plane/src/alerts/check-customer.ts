import type { Alert } from '@tollgate/domain/alerts/alert'
import {
  finishCheck,
  hourMs,
  lockClaim,
  type ClaimedCheck,
} from '@tollgate/domain/alerts/checks-repository'
import { decideCrossings } from '@tollgate/domain/alerts/decide-crossings'
import { recordCrossings } from '@tollgate/domain/alerts/record-crossings'
import { listAlertsFor } from '@tollgate/domain/alerts/repository'
import type { WatchedValue } from '@tollgate/domain/alerts/watched-value'
import { readBillThreshold } from '@tollgate/domain/billing/bill-threshold'
import { noteCrossing } from '@tollgate/domain/billing/crossings-repository'
import { budgetStop, type Budget, type SpendReading } from '@tollgate/domain/budgets/budget'
import {
  listBudgets,
  listSpendReadings,
  upsertSpendReading,
} from '@tollgate/domain/budgets/repository'
import { findCustomer, listReferences } from '@tollgate/domain/customers/repository'
import { sumBilledMinor } from '@tollgate/domain/invoices/billed-usage'
import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import type { CreditConversion } from '@tollgate/domain/pricing/line-inputs'
import { commitAndPublish } from '@tollgate/domain/publishing/commit-and-publish'
import { findEndOfPrevious } from '@tollgate/domain/purchases/purchase-fields-repository'
import { listPackAccounts, type PackAccount } from '@tollgate/domain/packs/repository'
import { listPurchases, type Purchase } from '@tollgate/domain/purchases/repository'
import { readCustomerTime } from '@tollgate/domain/test-clocks/customer-time'
import { jobOperation } from '@tollgate/domain/unit-of-work/job-operation'
import { queuePublication, type UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Environment } from '@tollgate/schemas/environment'
import { read } from '../access/read.ts'
import { readEndedWindows } from './read-window-values.ts'
import { readLimitValues, type LimitValueParts, type WatchContext } from './read-limit-values.ts'
import { readSpend, spendValues } from './read-spend-values.ts'
import { watchedPeriods, type WatchedPurchasePeriod } from './watched-periods.ts'

export type AlertParts = LimitValueParts & {
  readonly database: ProviderDatabases
  readonly logger: Logger
}

/** Maximum number of purchases of one customer that a check looks at, the newest first. */
const purchasesMax = 100

/**
 * Compares one customer's usage with the alerts and budgets that apply.
 *
 * Everything is read first, without a lock. Then one transaction locks the claim, emits what was not emitted before, stores the cost,
 * and removes the check. A crash before its commit leaves the check, which is claimed again after its lease. A crash after it
 * leaves at most the publication of a stop in the queue, which the next process publishes.
 */
export async function checkCustomer(
  parts: AlertParts,
  environment: Environment,
  check: ClaimedCheck,
): Promise<void> {
  const { providerId, customerRef } = check
  const name = { providerId, customerRef }
  const now = await readCustomerTime(parts.database, environment, name, parts.publisher.now())
  const context = { environment, providerId, now }
  const facts = await readFacts(parts, context, check)
  const { values, readings, crossed } = await readValues(parts, context, check, facts)
  const crossings = values.flatMap((value) => decideCrossings(facts.alerts, value))
  const operation = jobOperation('check-alerts', context, context.now)
  await commitAndPublish(parts, operation, async (work) => {
    if (!(await lockClaim(work.sql, check))) return
    await recordCrossings(work, customerRef, crossings)
    await storeReadings(work, customerRef, readings)
    for (const purchaseRef of crossed) {
      await noteCrossing(work.sql, work.providerId, purchaseRef, work.now)
    }
    await finishCheck(work.sql, check)
  })
}

type CustomerFacts = {
  readonly alerts: readonly Alert[]
  readonly budgets: ReadonlyMap<string, Budget>
  readonly customerRefs: readonly string[]
  readonly purchases: readonly CustomerPurchase[]
}

type CustomerPurchase = {
  readonly purchase: Purchase
  readonly endOfPrevious: Date | undefined
  /** The customer's packs of the product; undefined if there are none. */
  readonly packs: PackAccount | undefined
  /** Undefined if the currency has no exchange rate. Nothing can be charged in it then. */
  readonly conversion: CreditConversion | undefined
  /** Unbilled usage at which the running period is billed; undefined if the plan has no such amount. */
  readonly billAtMinor: bigint | undefined
}

const noFacts: CustomerFacts = { alerts: [], budgets: new Map(), customerRefs: [], purchases: [] }

function readFacts(
  parts: AlertParts,
  context: WatchContext,
  { providerId, customerRef, usedHours }: ClaimedCheck,
): Promise<CustomerFacts> {
  return read(parts, context, async (sql) => {
    // A customer who was deleted in the meantime has no limits.
    if ((await findCustomer(sql, providerId, customerRef)) === undefined) return noFacts
    const [alerts, budgets, customerRefs, purchases, accounts] = await Promise.all([
      listAlertsFor(sql, providerId, customerRef),
      listBudgets(sql, providerId, customerRef),
      listReferences(sql, providerId, customerRef),
      // Packs and top-ups have no limits of their own. What packs add is part of the purchase beside them.
      listPurchases(sql, providerId, { customerRef, isOfPlan: true, rowsMax: purchasesMax }),
      listPackAccounts(sql, [{ providerId, customerRef }]),
    ])
    const firstMs = Math.min(...usedHours) * hourMs
    const touched = purchases.filter(({ endedAt, endDate }) => {
      const end = endedAt ?? endDate
      return end === null || end.getTime() > firstMs
    })
    const found: CustomerPurchase[] = []
    for (const purchase of touched) {
      const { currency, productRef } = purchase
      const rate = await findExchangeRate(sql, providerId, currency)
      const { unitsPerDollar } = rate ?? {}
      found.push({
        purchase,
        endOfPrevious: await findEndOfPrevious(sql, providerId, purchase),
        packs: accounts.get(customerRef)?.find((account) => account.productRef === productRef),
        conversion: unitsPerDollar === undefined ? undefined : { currency, unitsPerDollar },
        billAtMinor: await readBillThreshold({ sql, providerId }, purchase),
      })
    }
    return { alerts, budgets, customerRefs, purchases: found }
  })
}

type ReadValues = {
  readonly values: readonly WatchedValue[]
  /** The cost of running periods, for budgets. */
  readonly readings: readonly SpendReading[]
  /** Purchases whose unbilled usage has reached the amount of their plan. */
  readonly crossed: readonly string[]
}

async function readValues(
  parts: AlertParts,
  context: WatchContext,
  { usedHours }: ClaimedCheck,
  { alerts, budgets, customerRefs, purchases }: CustomerFacts,
): Promise<ReadValues> {
  const values: WatchedValue[] = []
  const readings: SpendReading[] = []
  const crossed: string[] = []
  const watchesLimits = alerts.some(({ watches }) => watches === 'limit')
  const watchesSpend = alerts.some(({ watches }) => watches === 'spend')
  for (const { purchase, billAtMinor, ...priced } of purchases) {
    const references = { customerRefs, packs: priced.packs }
    const periods = watchedPeriods(purchase, references, usedHours, context.now)
    const budget = budgets.get(purchase.productRef)
    if (watchesLimits) values.push(...(await limitValuesOf(parts, context, periods, usedHours)))
    const { conversion } = priced
    const isSpendWatched = budget !== undefined || watchesSpend
    if (conversion === undefined) continue
    for (const watched of periods) {
      const isBilledWithin = billAtMinor !== undefined && watched.isCurrent
      if (!isSpendWatched && !isBilledWithin) continue
      const billedMinor = isBilledWithin ? await readBilled(parts, context, watched) : 0n
      const reading = await readSpend(parts, context, watched, { ...priced, budget, conversion })
      if (isBilledWithin && reading.spentMinor - billedMinor >= billAtMinor) {
        crossed.push(purchase.reference)
      }
      if (!isSpendWatched) continue
      values.push(...spendValues(watched, reading, budget))
      if (watched.isCurrent) readings.push(reading)
    }
  }
  return { values, readings, crossed }
}

/**
 * Returns what bills within the period have charged. It is read before the cost is measured: a bill in between then makes a crossing
 * that leads to no bill, and no crossing is missed.
 */
function readBilled(
  parts: AlertParts,
  context: WatchContext,
  { purchase, period }: WatchedPurchasePeriod,
): Promise<bigint> {
  const start = new Date(period.startSecond * 1_000)
  return read(parts, context, (sql) =>
    sumBilledMinor(sql, context.providerId, purchase.reference, start),
  )
}

async function limitValuesOf(
  parts: AlertParts,
  context: WatchContext,
  periods: readonly WatchedPurchasePeriod[],
  usedHours: readonly number[],
): Promise<WatchedValue[]> {
  const [first] = periods
  if (first === undefined) return []
  const values = await readEndedWindows(parts, context, first, usedHours)
  for (const watched of periods) {
    values.push(...(await readLimitValues(parts, context, watched)))
  }
  return values
}

/**
 * Stores the cost of running periods, and queues a publication if it changes whether a budget stops. Budgets are read again here: a
 * change of a budget requests a check, so it waits for the lock of this one, and publishes after this transaction.
 */
async function storeReadings(
  work: UnitOfWork,
  customerRef: string,
  readings: readonly SpendReading[],
): Promise<void> {
  if (readings.length === 0) return
  const { sql, providerId } = work
  const budgets = await listBudgets(sql, providerId, customerRef)
  const before = await listSpendReadings(sql, providerId, customerRef)
  for (const reading of readings) {
    const budget = budgets.get(reading.productRef)
    const was = budgetStop(budget, before.get(reading.productRef))
    const is = budgetStop(budget, reading)
    await upsertSpendReading(sql, providerId, reading)
    const isSame =
      was?.purchaseRef === is?.purchaseRef &&
      was?.periodStart.getTime() === is?.periodStart.getTime() &&
      was?.periodEnd.getTime() === is?.periodEnd.getTime()
    if (!isSame) await queuePublication(work, 'customer', customerRef)
  }
}
