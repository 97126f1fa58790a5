import {
  closeCustomer as closeInDomain,
  type ClosingParts,
  type CloseOutcome,
} from '@tollgate/domain/closing/close-customer'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { PaymentParts } from '@tollgate/domain/payments/payment-parts'
import { refusals } from '../errors.ts'
import { requireProvider } from '../access/require.ts'
import { billNowPartsOf } from '../access/bill-now-parts.ts'
import { readWalletBeforeChange } from '../wallets/expire-wallet.ts'
import type { ChangeParts } from '../access/commit.ts'
import type { Wallets } from '../wallets/wallets.ts'

export type CustomerClosingParts = ChangeParts & {
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
  readonly wallets: Wallets
  readonly payments: PaymentParts
  readonly limits: { readonly usageStoreWaitMs: number }
}

/**
 * Deletes a customer with the parts of this service. Throws a refusal with status 503 while the customer's usage cannot be totaled.
 */
export async function closeCustomerOrRefuse(
  parts: CustomerClosingParts,
  operation: Operation,
  anyReference: string,
  settle: CustomerSettlement | undefined,
): Promise<CloseOutcome> {
  try {
    return await closeInDomain(closingPartsOf(parts, operation), operation, anyReference, settle)
  } catch (error) {
    throw error instanceof UsageBehindError ? refusals.usageBehind() : error
  }
}

function closingPartsOf(parts: CustomerClosingParts, operation: Operation): ClosingParts {
  const { eventLog, usageStore, payments, clock, limits } = parts
  return {
    ...billNowPartsOf(payments, operation.environment),
    measuring: {
      eventLog,
      usageStore,
      now: () => new Date(clock.now()),
      storedWaitMs: limits.usageStoreWaitMs,
    },
    readWallet: (name) => readWalletBeforeChange(parts, name),
    holdCredits: parts.wallets.hold,
    readSeller: () => requireProvider(parts, operation),
  }
}
