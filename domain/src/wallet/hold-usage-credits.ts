import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'
import type { ReserveOutcome, ReserveRequest } from '@tollgate/platform/hot-state/reservations'
import { walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { placeOfReservation, reservationUse } from '@tollgate/schemas/reservation-reference'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import {
  resolveWalletAddress,
  readPublishedSums,
  type PublishedSums,
  type WalletKey,
  type WalletParts,
} from './hot-wallet.ts'
import { spendableMicros, readWallet } from './read-wallet.ts'
import { WalletFullError } from './wallet-full-error.ts'
import { walletRequest } from './wallet-request.ts'

/** The cost of a usage record. */
export type DueDebit = WalletKey & {
  /** Reference of the record to be written. It is the name of the hold. */
  readonly usageRef: string
  /** Amount in 10^-6 credits. */
  readonly dueMicros: bigint
  /**
   * Whether the record's reference was derived from the client's idempotency key, so that another call may hold credits under it at
   * the same time.
   */
  readonly isKeyed: boolean
  /**
   * How the record uses a reservation (`reservationUseText`). If it holds credits of this wallet, the debit uses these first. A
   * record that is not final leaves the rest on hold.
   */
  readonly reservationId?: string | null
}

export type HeldUsageCredits = {
  /** Credits taken, at most what was due and 0 from an empty wallet, 10^-6. */
  readonly heldMicros: bigint
  /** Credits left in the wallet, 10^-6. */
  readonly leftMicros: bigint
  /** The automatic recharge; undefined if none of the customer is published as active. */
  readonly recharge?: PublishedRecharge | undefined
}

export type PublishedRecharge = {
  /** Balance below which the wallet may be recharged, 10^-6 credits. */
  readonly belowMicros: bigint
  /** All credits ever added at the time of the publication, 10^-6. A larger sum later means that a recharge was paid. */
  readonly grantedMicros: bigint
}

export type WalletLimits = {
  /** How long to wait for lost counters, in milliseconds. */
  readonly waitMs: number
  /**
   * How long credits are held for a record that is never written, in milliseconds. This must be far longer than writing a record
   * can take.
   */
  readonly heldMs: number
  /** Maximum number of records for which credits are held in one wallet at a time. */
  readonly heldMax: number
}

/**
 * Takes credits for one usage record in one atomic step of hot state. It must be called before the record is written, because the
 * record states how much was taken. When the projection applies the record, it turns the hold into counted usage. This order
 * ensures that no two calls take the same credit:
 *
 *   1. The credits are held. After a crash here they stay held until `heldMs` have passed, and then they are released. The same
 *      step ends the reservation that the record names: its credits are used for the record's hold first, and the rest
 *      returns to the wallet, or stays reserved if further records will use it. A reservation that has expired by then has released its credits, and the record takes what is
 *      available.
 *   2. The record is in the log, and the caller gets its response.
 *   3. The record is counted, and the same step ends its hold.
 *
 * A call with the same reference gets the result of the first one. Throws UsageBehindError while lost counters are being rebuilt,
 * and WalletFullError.
 */
export async function holdUsageCredits(
  parts: WalletParts,
  due: DueDebit,
  limits: WalletLimits,
): Promise<HeldUsageCredits> {
  const at = resolveWalletAddress(parts, due)
  const deadline = performance.now() + limits.waitMs
  let pauseMs = readAgainAfterMs
  for (;;) {
    const document = await parts.hotState.readEntryDocument(at)
    const sums = await readPublishedSums(parts, at, document)
    const grantedMicros = sums?.grantedMicros
    const recharge = sums && publishedRecharge(sums)
    if (grantedMicros === 0n) return { heldMicros: 0n, leftMicros: 0n, recharge }
    if (due.dueMicros === 0n) {
      const wallet = await readWallet(parts, due, limits.waitMs)
      return { heldMicros: 0n, leftMicros: spendableMicros(wallet), recharge }
    }
    if (grantedMicros !== undefined) {
      const request = await requestOf(parts, due, limits, at, document, grantedMicros)
      const taken = toHeldCredits(await parts.hotState.reserve(request), grantedMicros)
      if (taken !== 'behind') return { ...taken, recharge }
    }
    if (performance.now() >= deadline) throw new UsageBehindError(0)
    await parts.hotState.waitForApply(pauseMs)
    pauseMs = Math.min(pauseMs * 2, readAgainAfterMsMax)
  }
}

/**
 * Takes credits for many records. One record of each wallet goes first, so that one call waits for lost counters on behalf of all.
 * If one record fails, all fail. Then all holds are released except those under idempotency keys: a concurrent call with the same
 * key may be about to write its record, and its credits must not be given away before that record is counted. The client's next try
 * uses these holds, or they expire.
 */
export async function holdAllUsageCredits(
  parts: WalletParts,
  due: readonly DueDebit[],
  limits: WalletLimits,
): Promise<HeldUsageCredits[]> {
  const ahead = new Map<string, Promise<unknown>>()
  const holds = due.map(async (each): Promise<HeldUsageCredits> => {
    const wallet = walletSubject(each.providerId, each.customerRef)
    const first = ahead.get(wallet)
    if (first !== undefined) {
      await first
      return await holdUsageCredits(parts, each, limits)
    }
    const taken = holdUsageCredits(parts, each, limits)
    ahead.set(wallet, taken)
    return await taken
  })
  const outcomes = await Promise.allSettled(holds)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed === undefined) return await Promise.all(holds)
  await Promise.allSettled(
    due.map(async (each, index) => {
      if (outcomes[index]!.status === 'rejected' || each.isKeyed) return
      await parts.hotState.releaseReservation(resolveWalletAddress(parts, each), each.usageRef)
    }),
  )
  throw failed.reason
}

function publishedRecharge({
  grantedMicros,
  rechargeBelowMicros: belowMicros,
}: PublishedSums): PublishedRecharge | undefined {
  return belowMicros === undefined ? undefined : { belowMicros, grantedMicros }
}

async function requestOf(
  parts: WalletParts,
  { customerRef, usageRef, dueMicros, reservationId }: DueDebit,
  { heldMs, heldMax }: WalletLimits,
  at: EntryAddress,
  document: string | undefined,
  grantedMicros: bigint,
): Promise<ReserveRequest> {
  const used = reservationUse(reservationId ?? '')
  const isOwn = placeOfReservation(used.reservationId)?.customerRef === customerRef
  const request = await walletRequest(parts, at, {
    document,
    units: dueMicros,
    takes: 'rest',
    replaces: isOwn ? used.reservationId : undefined,
    keepsRest: !used.isFinal,
    cap: grantedMicros,
    reservationsMax: heldMax,
  })
  return { ...request, reservationId: usageRef, ttlMs: heldMs }
}

function toHeldCredits(
  outcome: ReserveOutcome,
  grantedMicros: bigint,
): HeldUsageCredits | 'behind' {
  switch (outcome.kind) {
    case 'behind':
      return 'behind'
    case 'full':
      throw new WalletFullError()
    case 'admitted':
    case 'denied': {
      const spentMicros = outcome.taken.used + outcome.taken.reserved
      return {
        heldMicros: outcome.kind === 'admitted' ? outcome.units : 0n,
        leftMicros: spendableMicros({ grantedMicros, spentMicros }),
      }
    }
  }
}

/** The counters may also be behind because another document was published, and publications send no signal. */
const readAgainAfterMs = 5
const readAgainAfterMsMax = 200
