import { requestCheck } from '@tollgate/domain/alerts/checks-repository'
import type { Overrides } from '@tollgate/domain/overrides/overrides'
import {
  changeOverrides,
  type ChangeOverridesOutcome,
} from '@tollgate/domain/purchases/change-overrides'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'

/**
 * Replaces a customer's overrides of a product, and requests a comparison with the alerts in the same transaction. A limit that is
 * lowered may be reached already, and then no usage is admitted that would cause one.
 */
export async function overrideAndCheck(
  work: UnitOfWork,
  names: { readonly customerRef: string; readonly productRef: string },
  overrides: Overrides,
): Promise<ChangeOverridesOutcome> {
  const outcome = await changeOverrides(work, names, overrides)
  if (outcome.kind === 'changed') await requestCheck(work, names.customerRef)
  return outcome
}
