import { digestOfParsed } from './call-key.ts'
import type { AdmittedCall, Paywall } from './create-paywall.ts'
import {
  customerHeader,
  outcomeOfStatus,
  type HttpPaywallOptions,
  type Maybe,
} from './http-options.ts'
import { noCustomerRefusal, refusalOf, type Refusal } from './http-refusals.ts'

/** The part of a request that is read, as node:http and frameworks based on it provide it. */
export type NodeRequest = {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The parsed body, if a body parser ran before. */
  readonly body?: unknown
}

export type NodeResponse = {
  readonly statusCode: number
  readonly headersSent: boolean
  once(event: 'finish' | 'close', listener: () => void): unknown
}

/**
 * Checks the limits for a request. Returns `admitted`, the refusal to send, or undefined if the client has disconnected. Rejects if
 * `options.customer` throws.
 */
export async function gateNodeRequest<Request extends NodeRequest>(
  paywall: Paywall,
  options: HttpPaywallOptions<Request>,
  request: Request,
  response: NodeResponse,
  path: string,
): Promise<'admitted' | Refusal | undefined> {
  let hasGone = false
  response.once('close', () => (hasGone = true))
  const customerRef = options.customer
    ? await options.customer(request)
    : headerOf(request, customerHeader)
  if (!customerRef) return noCustomerRefusal
  const method = request.method ?? 'GET'
  const key = headerOf(request, 'idempotency-key')
  const admission = await paywall.begin({
    customerRef,
    metadata: { method },
    clientKey: key ? { key, of: [method, path, digestOfParsed(request.body)] } : undefined,
    includesCheckoutLink: true,
  })
  if (admission.kind !== 'admitted') return refusalOf(admission)
  if (hasGone) {
    await admission.call.end('fail')
    return undefined
  }
  recordOutcomeOf(response, admission.call, options.outcomeOf ?? outcomeOfStatus)
  return 'admitted'
}

/**
 * Records the outcome when the response ends. If the client disconnects before the response began, the call fails. Once it has
 * begun, its status decides, so that a client cannot avoid paying by disconnecting before the last byte.
 */
function recordOutcomeOf(
  response: NodeResponse,
  call: AdmittedCall,
  outcomeOf: (status: number) => 'success' | 'fail',
): void {
  const end = (): void => {
    void call.end(response.headersSent ? outcomeOf(response.statusCode) : 'fail')
  }
  response.once('finish', end)
  response.once('close', end)
}

function headerOf({ headers }: NodeRequest, name: string): Maybe<string> {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
