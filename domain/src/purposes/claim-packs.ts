import { requestCheck } from '../alerts/checks-repository.ts'
import { settledToOfReturn } from '../billing/decide-pack-settlement.ts'
import { listUsingPurchases } from '../billing/settle-packs.ts'
import { lockCustomer } from '../customers/repository.ts'
import {
  deletePackClaim,
  hasClaim,
  insertPackClaim,
  sumClaims,
} from '../packs/claims-repository.ts'
import { unitsOfPack } from '../packs/pack-terms.ts'
import {
  lockPackAccount,
  setPacksDue,
  setSettledTo,
  type PackAccount,
} from '../packs/repository.ts'
import { withdrawalsOf } from '../payments/decide-dispute.ts'
import type { PaymentIntent } from '../payments/payment-intent.ts'
import { totalPriceOf } from '../payments/taxed-terms.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { FinalRefund, ReportedDispute } from './payment-handler.ts'

/*
 * Units of a pack are taken back in proportion to the refunded or disputed amount, as far as they are left. The claim is stored with
 * the refund, and no longer offered from its publication on. A job settles it: the usage until then has the units first.
 */

/** Claims the units that the refunded part of the payment had bought, or gives them back if the refund failed late. */
export async function claimRefundedPack(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id: reference, amountMinor, isReturned }: FinalRefund,
): Promise<void> {
  const pack = packOf(intent)
  if (pack === undefined) return
  if (isReturned) await undoClaim(work, pack, reference)
  else await claimUnits(work, pack, { reference, amountMinor })
}

/** Claims the units that the disputed money had bought, for as long as it is withdrawn. Returns false if no pack was bought. */
export async function claimDisputedPack(
  work: UnitOfWork,
  intent: PaymentIntent,
  { id, amountMinor, movements }: ReportedDispute,
): Promise<boolean> {
  const pack = packOf(intent)
  if (pack === undefined) return false
  const { times, isTaken } = withdrawalsOf(movements)
  // Each withdrawal has its own claim. All but the last were reversed.
  const reference = times > 1 ? `${id}:${times}` : id
  if (times > 1) await undoClaim(work, pack, times > 2 ? `${id}:${times - 1}` : id)
  if (isTaken) await claimUnits(work, pack, { reference, amountMinor })
  else await undoClaim(work, pack, reference)
  return true
}

type SoldPack = {
  readonly packRef: string
  readonly customerRef: string
  readonly productRef: string
  readonly unitsMicros: bigint
  readonly paidMinor: bigint
}

/** Returns the pack that the payment bought. Undefined if it bought none, or was not delivered. */
function packOf(intent: PaymentIntent): SoldPack | undefined {
  const { purchaseRef, customerRef, productRef, planSnapshot } = intent
  const units = planSnapshot === null ? undefined : unitsOfPack(planSnapshot)
  if (units === undefined || purchaseRef === null || productRef === null) return undefined
  const paidMinor = totalPriceOf(intent)
  const { unitsMicros } = units
  return { packRef: purchaseRef, customerRef, productRef, unitsMicros, paidMinor }
}

/** If the reference has a claim, nothing changes. The caller has locked the payment. */
async function claimUnits(
  work: UnitOfWork,
  pack: SoldPack,
  { reference, amountMinor }: { readonly reference: string; readonly amountMinor: bigint },
): Promise<void> {
  const { sql, providerId, now } = work
  const { packRef, unitsMicros: bought, paidMinor } = pack
  await lockPacks(work, pack)
  if (await hasClaim(sql, providerId, reference)) return
  const others = await sumClaims(sql, providerId, packRef)
  const unitsMicros = claimedUnits(bought, paidMinor, others, amountMinor)
  const claim = { reference, packRef, claimedAt: now, amountMinor, unitsMicros }
  await insertPackClaim(sql, providerId, claim)
  await publishPacks(work, pack)
}

/** Returns the claimed units, rounded down on the running total, so that claims never exceed the units that were bought. */
function claimedUnits(
  bought: bigint,
  paidMinor: bigint,
  others: { readonly amountMinor: bigint; readonly unitsMicros: bigint },
  amountMinor: bigint,
): bigint {
  const claimedMinor = others.amountMinor + amountMinor
  const upTo = (bought * (claimedMinor < paidMinor ? claimedMinor : paidMinor)) / paidMinor
  return upTo > others.unitsMicros ? upTo - others.unitsMicros : 0n
}

async function undoClaim(work: UnitOfWork, pack: SoldPack, reference: string): Promise<void> {
  const { sql, providerId, now } = work
  const account = await lockPacks(work, pack)
  await deletePackClaim(sql, providerId, reference)
  if (account !== undefined) {
    const purchases = await listUsingPurchases(sql, providerId, pack)
    const settledTo = settledToOfReturn(account, purchases, now)
    if (settledTo !== undefined) await setSettledTo(sql, providerId, pack, settledTo)
  }
  await publishPacks(work, pack)
}

/** Sales lock the customer before the packs, and so do the effects of a refund. */
async function lockPacks(
  { sql, providerId }: UnitOfWork,
  pack: SoldPack,
): Promise<PackAccount | undefined> {
  await lockCustomer(sql, providerId, pack.customerRef)
  return lockPackAccount(sql, providerId, pack)
}

async function publishPacks(work: UnitOfWork, pack: SoldPack): Promise<void> {
  await setPacksDue(work.sql, work.providerId, pack, work.now)
  await queuePublication(work, 'customer', pack.customerRef)
  // What usage costs depends on the packs, and a budget may stop or admit it.
  await requestCheck(work, pack.customerRef)
}
