import { listReferencesByCustomer } from '@tollgate/domain/customers/repository'
import { compileEntitlement } from '@tollgate/domain/entitlements/compile-entitlement'
import { currentPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { packsInUse } from '@tollgate/domain/entitlements/entitled-packs'
import { leftOfPacks } from '@tollgate/domain/entitlements/pack-units'
import { sumByKey } from '@tollgate/domain/entitlements/sum-by-key'
import { leftMicros } from '@tollgate/domain/packs/pack-balance'
import { listPackAccounts, type PackAccount } from '@tollgate/domain/packs/repository'
import { givesAccess } from '@tollgate/domain/purchases/access'
import { findDecidingPurchase, type Purchase } from '@tollgate/domain/purchases/repository'
import type { Clock } from '@tollgate/platform/clock/clock'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import type { CounterParts } from '../limits/read-counters.ts'

/** The units of a bought pack, as far as usage has been counted. */
export type ShownPack = {
  readonly meterName: string
  readonly units: number
  readonly left: number
}

type Parts = ReadParts &
  Pick<CounterParts, 'hotState' | 'partitionCount'> & { readonly clock: Clock }

/** Returns the packs that a customer ever bought, by the references of their purchases. For display only. */
export async function readPackUnits(
  parts: Parts,
  caller: Caller,
  customerRef: string,
): Promise<Map<string, ShownPack>> {
  const { providerId } = caller
  const { accounts, running, references } = await read(parts, caller, async (sql) => {
    const byCustomer = await listPackAccounts(sql, [{ providerId, customerRef }])
    const found = byCustomer.get(customerRef) ?? []
    const purchases = await Promise.all(
      found.map(({ productRef }) => findDecidingPurchase(sql, providerId, customerRef, productRef)),
    )
    const ofCustomer = await listReferencesByCustomer(sql, providerId, [customerRef])
    const referencesOf = ofCustomer.get(customerRef) ?? []
    return { accounts: found, running: purchases, references: referencesOf }
  })
  const shown = new Map<string, ShownPack>()
  for (const [at, account] of accounts.entries()) {
    const counted = await leftByPack(parts, caller, references, account, running[at])
    for (const pack of account.packs) {
      const left = counted.get(pack.purchaseRef) ?? leftMicros(pack)
      shown.set(pack.purchaseRef, {
        meterName: pack.meterName,
        units: numberFromMicros(pack.unitsMicros - pack.takenMicros - pack.claimedMicros),
        left: numberFromMicros(left),
      })
    }
  }
  return shown
}

/** Returns what the running purchase has left of each pack, without those of which nothing was left at the last settlement. */
async function leftByPack(
  parts: Parts,
  { environment, providerId }: Caller,
  customerRefs: readonly string[],
  account: PackAccount,
  purchase: Purchase | undefined,
): Promise<Map<string, bigint>> {
  const now = new Date(parts.clock.now())
  const left = new Map<string, bigint>()
  if (purchase === undefined || purchase.planSnapshot === null) return left
  if (!givesAccess(purchase, now)) return left
  const context = { now, customerRefs, packs: account }
  const entitlement = compileEntitlement(purchase, purchase.planSnapshot, context)
  const period = currentPeriod(entitlement, now.getTime())
  const meters = entitlement.packs?.meters ?? []
  if (period === undefined || meters.length === 0) return left
  const names = meters.map(({ meterName }) => meterName)
  const views = await Promise.all(
    customerRefs.map(async (reference) => {
      const subject = subjectKey(providerId, reference)
      const partition = partitionOf(subject, parts.partitionCount(environment))
      const key = { space: environment, partition, subject, scope: purchase.productRef }
      return parts.hotState.readEntrySeries(key, names)
    }),
  )
  for (const meter of meters) {
    const amounts = sumByKey(
      views.flatMap(({ series }) => series.get(meter.meterName)?.amounts ?? []),
    )
    const rest = leftOfPacks(entitlement, meter, period, amounts, now.getTime())
    for (const [at, { purchaseRef }] of packsInUse(account, meter.meterName).entries()) {
      const micros = rest?.[at]
      if (micros !== undefined) left.set(purchaseRef, micros)
    }
  }
  return left
}
