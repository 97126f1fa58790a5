import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { SuspendOnDispute } from '@tollgate/schemas/http/merchants'

export type DisputeStatus = Dispute['status']

/** A bank's question becomes a dispute, or not; a dispute ends won or lost. Never back. */
export const disputeRank: Readonly<Record<DisputeStatus, number>> = {
  warning_needs_response: 0,
  warning_under_review: 0,
  warning_closed: 1,
  prevented: 1,
  needs_response: 2,
  under_review: 2,
  won: 3,
  lost: 3,
}

/** A dispute as it was last looked at. */
export type KnownDispute = {
  readonly status: DisputeStatus
  /** How many movements of the balance it had by then; null: nobody counted them, before lost disputes took access away. */
  readonly movements: number | null
  readonly takesAccess: boolean
}

/**
 * Whether a look tells something that is newer than what is known. A bank can decide once more after a dispute was closed,
 * and moves the money again then: of two looks at a closed dispute the one with more movements is the newer one.
 */
export function isNewerLook(
  known: KnownDispute | undefined,
  { status, movements }: Pick<Dispute, 'status' | 'movements'>,
): boolean {
  if (known === undefined) return true
  if (disputeRank[status] !== disputeRank[known.status]) {
    return disputeRank[status] > disputeRank[known.status]
  }
  const isClosed = disputeRank[status] === disputeRank.won
  if (isClosed && known.movements !== null) return movements.length > known.movements
  return status !== known.status
}

/** Whether what the payment paid for is suspended, and its card is not charged. A bank's question alone is no dispute. */
export function takesAccess(status: DisputeStatus, suspendOn: SuspendOnDispute): boolean {
  switch (status) {
    case 'lost':
      return true
    case 'needs_response':
    case 'under_review':
      return suspendOn === 'opened'
    default:
      return false
  }
}

/** How often the money was taken that had been there, or was there again; and whether it is away now. */
export function takingsOf(
  movements: readonly Pick<Dispute['movements'][number], 'amountMinor'>[],
): {
  readonly times: number
  readonly isTaken: boolean
} {
  let takenMinor = 0n
  let times = 0
  for (const { amountMinor } of movements) {
    const wasTaken = takenMinor > 0n
    takenMinor -= amountMinor
    if (!wasTaken && takenMinor > 0n) times += 1
  }
  return { times, isTaken: takenMinor > 0n }
}
