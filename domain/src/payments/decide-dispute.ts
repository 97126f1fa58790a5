import type { Dispute } from '@tollgate/platform/payments/payment-objects'
import type { SuspendOnDispute } from '@tollgate/schemas/http/merchants'

export type DisputeStatus = Dispute['status']

/** Order of the statuses. A bank's inquiry may become a dispute, a dispute ends won or lost, and neither moves back. */
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

/** The stored state of a dispute. */
export type StoredDispute = {
  readonly status: DisputeStatus
  /** Number of balance movements of the dispute when it was stored. Null for disputes stored before movements were counted. */
  readonly movements: number | null
  readonly takesAccess: boolean
}

/**
 * Returns whether the processor's state of a dispute is newer than the stored one. A bank can decide again after a dispute was
 * closed and then moves the money again. Of two states of a closed dispute, the one with more movements is newer.
 */
export function isNewerDispute(
  known: StoredDispute | undefined,
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

/**
 * Returns whether the dispute suspends what the payment paid for and stops charges of its card. A bank's inquiry alone does
 * neither.
 */
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

/** Returns how many separate times the disputed money was withdrawn, and whether it is withdrawn now. */
export function withdrawalsOf(
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
