/** What the processor made of a call is not known: the same call is to be made again. */
export class PaymentUnknownError extends Error {
  override readonly name = 'PaymentUnknownError'
}
