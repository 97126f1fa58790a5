import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { Entry, EntryAddress, HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { areCustomersPublished } from '../publications/published-since.ts'
import {
  walletScope,
  walletSubject,
  walletWindow,
  type PublishedWallet,
} from '@tollgate/schemas/hot-state/wallets'
import type { Wallet } from './repository.ts'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'

export type WalletParts = {
  readonly log: Pick<EventLog, 'head' | 'partitionCount'>
  readonly hotState: Pick<
    HotState,
    | 'releaseReservation'
    | 'readEntryDocument'
    | 'readTaken'
    | 'reserve'
    | 'waitForApply'
    | 'readDocument'
    | 'incarnation'
  >
}

export type WalletKey = {
  readonly environment: Environment
  readonly providerId: string
  /** Reference of the customer. */
  readonly customerRef: string
}

/**
 * Returns the address of the wallet. It is in the partition of the customer's own reference, where the usage that the wallet pays
 * for is recorded.
 */
export function walletAddress(
  { environment, providerId, customerRef }: WalletKey,
  partitionCount: number,
): EntryAddress {
  const partition = partitionOf(subjectKey(providerId, customerRef), partitionCount)
  const subject = walletSubject(providerId, customerRef)
  return { space: environment, partition, subject, scope: walletScope }
}

export function resolveWalletAddress(
  { log }: Pick<WalletParts, 'log'>,
  name: WalletKey,
): EntryAddress {
  return walletAddress(name, log.partitionCount(usageTopic(name.environment)))
}

/**
 * Returns the entry of a wallet to publish. `removals` names the holds whose removal the document already contains, so the
 * publication ends them.
 */
export function walletEntry(
  { grantedMicros, removedMicros, rechargeBelowMicros }: PublishedSums,
  removals: readonly string[],
): Omit<Entry, 'version'> {
  const document: PublishedWallet = {
    grantedMicros: grantedMicros.toString(),
    ...(removedMicros === 0n ? {} : { removedMicros: removedMicros.toString() }),
    ...(rechargeBelowMicros === undefined
      ? {}
      : { rechargeBelowMicros: rechargeBelowMicros.toString() }),
  }
  return {
    document: JSON.stringify(document),
    windows: [walletWindow],
    endedReservations: removals,
  }
}

/** Amounts in 10^-6 credits. */
export type WalletSums = Pick<Wallet, 'grantedMicros' | 'removedMicros'>

/** `rechargeBelowMicros` is undefined if no automatic recharge is active. */
export type PublishedSums = WalletSums & { readonly rechargeBelowMicros?: bigint | undefined }

export function parsePublishedSums(document: string): PublishedSums {
  const { grantedMicros, removedMicros, rechargeBelowMicros } = JSON.parse(
    document,
  ) as PublishedWallet
  return {
    grantedMicros: BigInt(grantedMicros),
    removedMicros: BigInt(removedMicros ?? 0),
    rechargeBelowMicros:
      rechargeBelowMicros === undefined ? undefined : BigInt(rechargeBelowMicros),
  }
}

/**
 * Returns the published sums of a wallet. They are 0 if no document exists, because nothing was granted. Undefined if hot state was
 * lost and is not published again yet.
 */
export async function readPublishedSums(
  { hotState }: { readonly hotState: Parameters<typeof areCustomersPublished>[0] },
  { space, partition }: EntryAddress,
  document: string | undefined,
): Promise<PublishedSums | undefined> {
  if (document !== undefined) return parsePublishedSums(document)
  const isPublished = await areCustomersPublished(hotState, space as Environment, partition)
  return isPublished ? { grantedMicros: 0n, removedMicros: 0n } : undefined
}
