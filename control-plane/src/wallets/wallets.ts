import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { spendableMicros, readWallet, type HotWallet } from '@tollgate/domain/wallet/read-wallet'
import {
  createHoldCredits,
  createReleaseCredits,
  type HoldCredits,
  type ReleaseCredits,
} from '@tollgate/domain/wallet/hold-credits'
import { findWallet } from '@tollgate/domain/wallet/repository'
import {
  holdAllUsageCredits,
  type DueDebit,
  type HeldUsageCredits,
  type WalletLimits,
} from '@tollgate/domain/wallet/hold-usage-credits'
import { WalletFullError } from '@tollgate/domain/wallet/wallet-full-error'
import type { WalletKey, WalletParts } from '@tollgate/domain/wallet/hot-wallet'
import type { ProviderDatabases } from '@tollgate/platform/database/database'
import { EventLogUnavailableError, type EventLog } from '@tollgate/platform/event-log/event-log'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { refusals } from '../errors.ts'
import { StoredReads } from '../usage/stored-reads.ts'
import { readStoredDebits } from '../usage/stored-usage.ts'

export type WalletsParts = {
  readonly database: ProviderDatabases
  readonly eventLog: EventLog
  readonly hotState: WalletParts['hotState']
  readonly usageStore: UsageStore
  readonly logger: Logger
  readonly limits: WalletLimits & {
    readonly tailRecordsMax: number
    /** Maximum number of balances that are read concurrently from the ledger, ClickHouse and the log. */
    readonly storedBalancesMax: number
  }
}

/** Reads and holds the current credits of customers. */
export class Wallets {
  readonly #parts: WalletsParts
  readonly #hot: WalletParts
  readonly #storedReads: StoredReads
  /** Holds credits for a change other than usage. Throws a refusal with status 503 if this is not possible now. */
  readonly hold: HoldCredits
  readonly release: ReleaseCredits

  constructor(parts: WalletsParts) {
    this.#parts = parts
    this.#storedReads = new StoredReads(parts.limits.storedBalancesMax)
    this.#hot = { log: parts.eventLog, hotState: parts.hotState }
    const hold = createHoldCredits(this.#hot, parts.limits)
    this.hold = (...request) => refuseIfBehind(() => hold(...request))
    this.release = createReleaseCredits(this.#hot)
  }

  /**
   * Returns the remaining credits of a wallet, in 10^-6 credits, after all usage acknowledged before the call. Reads the hot state,
   * or the ledger, ClickHouse and the log while the hot state does not know the balance. Throws a refusal with status 503 if no
   * store can tell the balance now.
   */
  async read(name: WalletKey): Promise<bigint> {
    const hot = await this.readHot(name)
    if (hot !== undefined) return spendableMicros(hot)
    return await this.#storedReads.run(() => this.#readStored(name))
  }

  /** Debits credits for usage records that are about to be written. */
  async take(due: readonly DueDebit[]): Promise<HeldUsageCredits[]> {
    return await refuseIfBehind(() => holdAllUsageCredits(this.#hot, due, this.#parts.limits))
  }

  /**
   * Returns the wallet of the hot state. Returns undefined while only the ledger knows the balance; the ledger includes usage
   * later.
   */
  async readHot(name: WalletKey): Promise<HotWallet | undefined> {
    try {
      return await readWallet(this.#hot, name, this.#parts.limits.waitMs)
    } catch (error) {
      if (error instanceof EventLogUnavailableError) throw error
      if (!(error instanceof UsageBehindError)) {
        this.#parts.logger.warn(
          { err: error },
          'could not read a wallet from the hot state; the ledger is used instead',
        )
      }
      return undefined
    }
  }

  async #readStored(name: WalletKey): Promise<bigint> {
    const { environment, providerId, customerRef } = name
    const { database, limits } = this.#parts
    const { tailRecordsMax } = limits
    const query = { environment, providerId, customerRefs: [customerRef], tailRecordsMax }
    const [wallet, spentMicros] = await Promise.all([
      database
        .of(providerId)
        .in(environment)
        .read((sql) => findWallet(sql, providerId, customerRef)),
      readStoredDebits(this.#parts, query),
    ])
    return spendableMicros({ grantedMicros: wallet?.grantedMicros ?? 0n, spentMicros })
  }
}

async function refuseIfBehind<Result>(operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation()
  } catch (error) {
    const isBehind = error instanceof UsageBehindError || error instanceof WalletFullError
    throw isBehind ? refusals.countersBehind() : error
  }
}
