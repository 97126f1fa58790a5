/** What the adapters for HTTP frameworks take, each with the request type of its framework. */
export type HttpPaywallOptions<Request> = {
  /**
   * The customer who makes the request: Tollgate's reference or your own id. Default: the header `x-customer-ref`, which must
   * be set by the part of your system that has authenticated the caller. Never let it through from outside.
   */
  readonly customer?: (request: Request) => Maybe<string> | Promise<Maybe<string>>
  /**
   * How a request ended, by the status of its answer. Default: `success` below 400, otherwise `fail`: a refused request
   * delivered nothing, and is neither billed nor counted.
   */
  readonly outcomeOf?: (status: number) => 'success' | 'fail'
}

export type Maybe<Value> = Value | null | undefined

export const customerHeader = 'x-customer-ref'

export function outcomeOfStatus(status: number): 'success' | 'fail' {
  return status < 400 ? 'success' : 'fail'
}

/** Browsers ask with OPTIONS, and without any credentials, whether they may send the request itself. */
export function isGated(method: string | undefined): boolean {
  return method !== 'OPTIONS'
}
