import type { CreditDebit } from '@tollgate/schemas/http/usages'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import type { KeyHolder } from './key-holder.ts'

/** What a usage call tells about the wallet; undefined: nothing. The answer is at hand unless something must be read. */
export interface DebitDecider {
  decide(
    holder: KeyHolder,
    event: MeterEvent,
  ): CreditDebit | undefined | Promise<CreditDebit | undefined>
}

export const duplicateDebit: CreditDebit = { debited: false, reason: 'duplicate' }
