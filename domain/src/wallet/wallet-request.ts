import type { EntryAddress } from '@tollgate/platform/hot-state/hot-state'
import type { PlaceRequest } from '@tollgate/platform/hot-state/reservations'
import type { Environment } from '@tollgate/schemas/environment'
import { walletSeries, walletWindow } from '@tollgate/schemas/hot-state/wallets'
import { usageTopic } from '@tollgate/schemas/topics'
import type { WalletParts } from './hot-wallet.ts'

export type WalletHold = Pick<
  PlaceRequest,
  'document' | 'units' | 'takes' | 'replaces' | 'keepsRest' | 'cap' | 'reservationsMax'
>

/** Returns the request by which hot state holds credits of one wallet. Amounts are 10^-6 credits. */
export async function walletRequest(
  { log }: Pick<WalletParts, 'log'>,
  at: EntryAddress,
  hold: WalletHold,
): Promise<PlaceRequest> {
  return {
    ...hold,
    at,
    units: hold.units < unitsMax ? hold.units : unitsMax,
    isReservedFirst: true,
    subjects: [at.subject],
    series: walletSeries,
    windowId: walletWindow.id,
    minOffset: await log.head(usageTopic(at.space as Environment), at.partition),
    elsewhere: { amount: 0n, appliedOffsets: new Map() },
  }
}

/** More than any wallet has, and the most that hot state can reserve at once. */
const unitsMax = 2n ** 62n - 1n
