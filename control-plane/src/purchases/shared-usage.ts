import { windowBefore, billedWindowOf } from '@tollgate/domain/purchases/usage-windows'
import type { CountedPeriod } from '@tollgate/domain/entitlements/usage-view'
import type { Period } from '@tollgate/domain/periods/periods'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { findEndOfPrevious } from '@tollgate/domain/purchases/purchase-fields-repository'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import type { PeriodUsage } from '../limits/period-usage.ts'

export type SharedUsageParts = ReadParts & { readonly logger: Logger; readonly usage: PeriodUsage }

type SplitUsage = Pick<CountedPeriod, 'usedMicros' | 'usedBeforeMicros'>

/**
 * Returns the part of a window that belongs to this purchase, if several purchases count in the window. The counters have only the
 * sum, so the part is read from the usage store. Returns undefined if the store does not respond. While the purchase gives access,
 * it shows the complete sum, as limit checks do.
 */
export async function splitSharedUsage(
  parts: SharedUsageParts,
  caller: Caller,
  purchase: Purchase,
  customerRefs: readonly string[],
  period: Period,
  countedMicros: bigint,
): Promise<SplitUsage | undefined> {
  try {
    const { own, before } = await readShares(parts, caller, purchase, customerRefs, period)
    const usedMicros = purchase.endedAt === null ? countedMicros : before + own
    return { usedMicros, usedBeforeMicros: before }
  } catch (error) {
    const { reference } = purchase
    parts.logger.warn(
      { err: error, purchase: reference },
      'could not split shared usage between purchases',
    )
    return undefined
  }
}

async function readShares(
  parts: ReadParts & { readonly usage: PeriodUsage },
  caller: Caller,
  purchase: Purchase,
  customerRefs: readonly string[],
  period: Period,
): Promise<{ own: bigint; before: bigint }> {
  const { environment, providerId } = caller
  const { productRef, endedAt } = purchase
  const endOfPrevious = await read(parts, caller, (sql) =>
    findEndOfPrevious(sql, providerId, purchase),
  )
  const own = { start: period.start, end: endedAt ?? period.end }
  const before = windowBefore(purchase, own, endOfPrevious)
  const windows = [
    { id: 'own', ...billedWindowOf(purchase, own, endOfPrevious) },
    ...(before === undefined ? [] : [{ id: 'before', ...before }]),
  ]
  const meterName = requestsMeterName
  const query = { environment, providerId, productRef, customerRefs, meterName, windows }
  const amounts = await parts.usage.readWindows(query)
  return { own: amounts.get('own') ?? 0n, before: amounts.get('before') ?? 0n }
}
