/** Options of the adapters for HTTP frameworks. `Request` is the request type of the framework. */
export type HttpPaywallOptions<Request> = {
  /**
   * Returns the customer who makes the request: Tollgate's reference or your own id. Default: the header `x-customer-ref`, which
   * must be set by the part of your system that authenticates callers. Never accept it from outside.
   */
  readonly customer?: (request: Request) => Maybe<string> | Promise<Maybe<string>>
  /**
   * Maps the status of a response to the outcome of the call. Default: `success` below 400, otherwise `fail`: a request that failed
   * delivered nothing, so it is neither billed nor counted.
   */
  readonly outcomeOf?: (status: number) => 'success' | 'fail'
}

export type Maybe<Value> = Value | null | undefined

export const customerHeader = 'x-customer-ref'

export function outcomeOfStatus(status: number): 'success' | 'fail' {
  return status < 400 ? 'success' : 'fail'
}

/** Returns whether requests with this method are metered. OPTIONS is not: browsers send it as a preflight without credentials. */
export function isGated(method: string | undefined): boolean {
  return method !== 'OPTIONS'
}
