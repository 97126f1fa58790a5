import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { reportedIssuesMax } from '@tollgate/schemas/limits'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

export type BulkEvents =
  | { readonly kind: 'accepted'; readonly events: readonly MeterEvent[] }
  | { readonly kind: 'refused'; readonly issues: readonly ValidationIssue[] }

/**
 * Returns all events of a bulk request. If any item is invalid, returns the issues of the request instead, so that none is
 * recorded. `listPath` is where the list is in the request.
 */
export function bulkEvents<Input>(
  inputs: readonly Input[],
  listPath: readonly string[],
  build: (input: Input) => MeterEvent | ValidationIssue,
): BulkEvents {
  const events: MeterEvent[] = []
  const issues: ValidationIssue[] = []
  for (const [index, input] of inputs.entries()) {
    const built = build(input)
    if (isEvent(built)) events.push(built)
    else issues.push({ ...built, path: [...listPath, index, ...built.path] })
    if (issues.length === reportedIssuesMax) break
  }
  return issues.length === 0 ? { kind: 'accepted', events } : { kind: 'refused', issues }
}

export function isEvent(built: MeterEvent | ValidationIssue): built is MeterEvent {
  return 'id' in built
}
