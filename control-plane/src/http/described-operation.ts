/**
 * Refusals that an operation makes beyond those that all make: of its body and parameters, of the key, and 503. `unsettled`
 * is 402 and 409 with the amounts of a customer.
 */
type Refusal = 401 | 404 | 409 | 429 | 502 | 'unsettled'

export type DescribedOperation = {
  /** What generated clients call it. */
  readonly operationId: string
  readonly summary: string
  readonly refusals: readonly Refusal[]
}

export function operation(
  operationId: string,
  summary: string,
  ...refusals: readonly Refusal[]
): DescribedOperation {
  return { operationId, summary, refusals }
}
