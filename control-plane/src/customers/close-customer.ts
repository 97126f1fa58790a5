import {
  closeCustomer as closeInDomain,
  type ClosingParts,
  type CloseOutcome,
} from '@tollgate/domain/closing/close-customer'
import { createSavedCardCharger } from '@tollgate/domain/charging/charge-saved-card'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { CustomerSettlement } from '@tollgate/schemas/http/customers'
import { refusals } from '../errors.ts'
import type { AppParts } from '../http/app-parts.ts'
import { requireProvider } from '../access/require.ts'
import { readBeforeChange } from '../wallets/expire-wallet.ts'

/** Deletes a customer with the parts of this service. Throws a refusal with 503 while its usage cannot be summed up. */
export async function closeCustomer(
  parts: AppParts,
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

function closingPartsOf(parts: AppParts, operation: Operation): ClosingParts {
  const { database, eventLog, usageStore, payments, clock, limits } = parts
  const { environment } = operation
  const isCharging = payments.processors.of(environment) !== undefined
  return {
    database,
    commit: payments.commit,
    charge: isCharging ? createSavedCardCharger(payments) : undefined,
    measuring: {
      eventLog,
      usageStore,
      now: () => new Date(clock.now()),
      storedWaitMs: limits.usageStoreWaitMs,
    },
    readWallet: (name) => readBeforeChange(parts, name),
    holdCredits: parts.wallets.hold,
    readSeller: () => requireProvider(parts, operation),
  }
}
