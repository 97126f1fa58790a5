/**
 * Refusals of an operation in addition to those that all operations have: for the body and parameters, for the key, and 503.
 * `unsettled` means 402 and 409 with the open amounts of a customer.
 */
type Refusal = 401 | 404 | 409 | 429 | 502 | 'unsettled'

export type DescribedOperation = {
  /** Name of the method in generated clients. */
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
