/** The outcome of a call to the processor is unknown. The caller repeats the same call. */
export class PaymentUnknownError extends Error {
  override readonly name = 'PaymentUnknownError'
}
