import type { PlanRefusal } from '@tollgate/domain/catalog/draft-plan'
import { InvalidRequestError, refusals } from '../errors.ts'

/** Returns the refusal of a request that creates or changes a plan. */
export function planRefusalOf({ issues, message }: Pick<PlanRefusal, 'issues' | 'message'>): Error {
  return issues === undefined ? refusals.planInvalid(message) : new InvalidRequestError(issues)
}
