import type { Queryable } from '@tollgate/platform/database/database'
import { microsFromNumber, microsPerUnit, numberFromMicros } from '@tollgate/schemas/quantity'
import { unixSeconds } from '../periods/periods.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { alertInEffect, type Alert } from './alert.ts'
import { listAlertsFor } from './repository.ts'

/*
 * Alerts on the balance of a wallet. They are decided where the ledger is posted: a posting knows the balance before and after it,
 * and the event commits with it. So each time the balance falls to a threshold is one event, and no job has to watch wallets.
 */

/** Alerts on wallets, for one batch of postings. Whether a provider has any is read once. */
export class WalletAlerts {
  readonly #isUsedBy = new Map<string, Promise<boolean>>()

  /** Returns the alert that applies to the customer's wallet, or undefined if none does. */
  async read({ sql, providerId }: UnitOfWork, customerRef: string): Promise<Alert | undefined> {
    let isUsed = this.#isUsedBy.get(providerId)
    if (isUsed === undefined) {
      isUsed = hasWalletAlerts(sql, providerId)
      this.#isUsedBy.set(providerId, isUsed)
    }
    if (!(await isUsed)) return undefined
    const alerts = await listAlertsFor(sql, providerId, customerRef)
    return alertInEffect(alerts, { watches: 'wallet', limitKey: null, planRef: null })
  }
}

async function hasWalletAlerts(sql: Queryable, providerId: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from alerts where provider_id = ${providerId} and watches = 'wallet') as found`
  return row!.found
}

export type FallenBalance = {
  readonly customerRef: string
  /** 10^-6 credits in the ledger. */
  readonly beforeMicros: bigint
  readonly afterMicros: bigint
}

/** Emits an event for each threshold to which the balance falls, the highest first. */
export async function recordWalletCrossings(
  work: UnitOfWork,
  alert: Alert | undefined,
  { customerRef, beforeMicros, afterMicros }: FallenBalance,
): Promise<void> {
  if (alert === undefined || alert.thresholds.length === 0) return
  const object = {
    alert: alert.reference,
    watches: 'wallet',
    customer: customerRef,
    product: null,
    purchase: null,
    limit: null,
    meterName: null,
    percent: null,
    value: numberFromMicros(afterMicros),
    whole: null,
    unit: 'credits',
    currency: null,
    periodStart: null,
    periodEnd: null,
    created: unixSeconds(work.now),
  } as const
  for (const credits of creditsOf(alert)) {
    const micros = BigInt(microsFromNumber(credits)!)
    if (beforeMicros <= micros || afterMicros > micros) continue
    await recordEvent(work, 'usage.threshold_reached', { ...object, threshold: credits })
  }
  if (isUsedUp(beforeMicros, afterMicros)) {
    await recordEvent(work, 'usage.limit_reached', { ...object, threshold: 0 })
  }
}

function creditsOf({ thresholds }: Alert): number[] {
  return thresholds
    .flatMap((threshold) => ('credits' in threshold ? [threshold.credits] : []))
    .sort((one, other) => other - one)
}

/** As for `customer.credit.exhausted`, a wallet with less than one credit is used up. */
function isUsedUp(beforeMicros: bigint, afterMicros: bigint): boolean {
  const oneCredit = BigInt(microsPerUnit)
  return beforeMicros >= oneCredit && afterMicros < oneCredit
}
