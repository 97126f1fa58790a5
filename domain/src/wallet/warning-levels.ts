import { findMerchant } from '../merchants/repository.ts'
import { findDecidingPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { warningMicrosOf } from './balance-thresholds.ts'

/** Warning thresholds of wallets, for one batch. The setting of each provider is read once. */
export class WarningLevels {
  readonly #ownCredits = new Map<string, Promise<bigint | null>>()

  /** Returns the warning threshold in 10^-6 credits. */
  async read(work: UnitOfWork, customerRef: string, productRef: string | null): Promise<bigint> {
    const { sql, providerId } = work
    const ownCredits = await this.#ownOf(work)
    if (ownCredits !== null || productRef === null) return warningMicrosOf(ownCredits, undefined)
    const purchase = await findDecidingPurchase(sql, providerId, customerRef, productRef)
    return warningMicrosOf(null, purchase?.planSnapshot?.terms.creditsPerUnit)
  }

  #ownOf({ sql, providerId }: UnitOfWork): Promise<bigint | null> {
    let own = this.#ownCredits.get(providerId)
    if (own === undefined) {
      own = findMerchant(sql, providerId).then(({ lowBalanceCredits }) => lowBalanceCredits)
      this.#ownCredits.set(providerId, own)
    }
    return own
  }
}
