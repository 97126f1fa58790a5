import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { AppendUnavailableError } from './append-records.ts'

/** Returns whether the error says that a part is behind or does not answer, so that a later attempt succeeds. */
export function isExpectedFailure(error: unknown): boolean {
  return (
    error instanceof UsageBehindError ||
    error instanceof UsageStoreUnavailableError ||
    error instanceof AppendUnavailableError
  )
}
