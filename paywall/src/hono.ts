import { digestOfStream } from './call-key.ts'
import type { Paywall } from './create-paywall.ts'
import {
  customerHeader,
  isGated,
  outcomeOfStatus,
  type HttpPaywallOptions,
} from './http-options.ts'
import { noCustomerRefusal, refusalOf, type Refusal } from './http-refusals.ts'

export type { HttpPaywallOptions } from './http-options.ts'

/** The part of Hono's context that the middleware uses. */
export type HonoContext = {
  readonly req: {
    readonly method: string
    readonly url: string
    readonly raw: Request
    header(name: string): string | undefined
    text(): Promise<string>
  }
  readonly res: Response
}

/** Middleware for Hono on Node: `app.use('/api/*', honoPaywall(paywall))`. Put it after the middleware that authenticates. */
export function honoPaywall<Context extends HonoContext = HonoContext>(
  paywall: Paywall,
  options: HttpPaywallOptions<Context> = {},
): (context: Context, next: () => Promise<void>) => Promise<Response | void> {
  const outcomeOf = options.outcomeOf ?? outcomeOfStatus
  return async (context, next) => {
    const { req } = context
    if (!isGated(req.method)) return await next()
    const customerRef = options.customer
      ? await options.customer(context)
      : req.header(customerHeader)
    if (!customerRef) return responseOf(noCustomerRefusal)
    const admission = await paywall.begin({
      customerRef,
      metadata: { method: req.method },
      clientKey: await clientKeyOf(context),
      includesCheckoutLink: true,
    })
    if (admission.kind !== 'admitted') return responseOf(refusalOf(admission))
    const { call } = admission
    try {
      await next()
    } catch (error) {
      await call.end('fail')
      throw error
    }
    // An aborted request means that the client disconnected before the response began.
    const { aborted } = req.raw.signal
    await call.end(aborted ? 'fail' : outcomeOf(context.res.status))
  }
}

async function clientKeyOf({ req }: HonoContext) {
  const key = req.header('idempotency-key')
  if (!key) return undefined
  const { pathname, search } = new URL(req.url)
  // The body is read from a clone, because the handler reads it too. If an earlier middleware has read it, Hono has cached it.
  const digest = req.raw.bodyUsed ? await req.text() : await digestOfStream(req.raw.clone().body)
  return { key, of: [req.method, `${pathname}${search}`, digest] }
}

function responseOf({ status, headers, body }: Refusal): Response {
  return new Response(body, { status, headers })
}
