import { digestOfParsed } from './call-key.ts'
import type { Admission, AdmittedCall, Paywall, Recovery } from './create-paywall.ts'
import { widenTools, type ListedTool } from './mcp-output-schema.ts'
import {
  customerOfContext,
  interceptHandlers,
  signalOf,
  type McpContext,
  type McpServerLike,
} from './mcp-server.ts'
import type { Maybe } from './http-options.ts'

export type { McpContext, McpServerLike } from './mcp-server.ts'

export type McpPaywallOptions = {
  /**
   * The customer who makes the call: Tollgate's reference or your own id. Default: the header `x-customer-ref` of the HTTP
   * request, which must be set by the part of your system that has authenticated the caller.
   */
  readonly customer?: (context: McpContext) => Maybe<string> | Promise<Maybe<string>>
  /** Names of tools that everybody may call. They are not recorded. */
  readonly publicTools?: readonly string[]
  /** Tools of your server that lead on from a refusal. The refusal names the one that fits. */
  readonly recoveryTools?: readonly Recovery[]
  /**
   * Whether a refusal links to Tollgate's checkout. Whoever has that link acts for the customer, and over MCP models and other
   * people may read it, so it is off by default: set `checkoutUrl` of the paywall to a page of yours that asks for sign-in.
   */
  readonly includesCheckoutLink?: boolean
}

/** A client's own key for a call, in `_meta` of the request. */
export const idempotencyKeyMeta = 'tollgate/idempotencyKey'

/**
 * Meters the tools of an MCP server of the TypeScript SDK, `McpServer` or `Server`, of `@modelcontextprotocol/sdk` and of
 * `@modelcontextprotocol/server`. Returns the same server. Call it before you register tools: it throws an Error otherwise.
 */
export function mcpPaywall<Server extends McpServerLike>(
  paywall: Paywall,
  server: Server,
  options: McpPaywallOptions = {},
): Server {
  const isPublic = (name: string): boolean => options.publicTools?.includes(name) ?? false
  interceptHandlers(server, {
    'tools/list': async (request, context, list) => {
      const result = (await list(request, context)) as { tools?: readonly ListedTool[] }
      return result.tools ? { ...result, tools: widenTools(result.tools, isPublic) } : result
    },
    'tools/call': async (request, context, call) => {
      const { name = '', arguments: given, _meta } = request.params ?? {}
      if (isPublic(name)) return await call(request, context)
      const customerRef = await (options.customer ?? customerOfContext)(context)
      if (!customerRef) return errorResult('This call names no customer. Sign in first.')
      const key = _meta?.[idempotencyKeyMeta]
      const isKeyed = typeof key === 'string' && key !== ''
      const admission = await paywall.begin({
        customerRef,
        metadata: { toolName: name },
        clientKey: isKeyed ? { key, of: ['tools/call', name, digestOfParsed(given)] } : undefined,
        includesCheckoutLink: options.includesCheckoutLink ?? false,
      })
      if (admission.kind !== 'admitted') return refusalOf(admission, options.recoveryTools ?? [])
      return await settle(admission.call, signalOf(context), () => call(request, context))
    },
  })
  return server
}

/**
 * An error result, an error and a call that was cancelled meanwhile are failed. A call that asks for input has not ended: its
 * last round is recorded. A call that starts a task is recorded when the task is there.
 */
async function settle(
  admitted: AdmittedCall,
  signal: AbortSignal | undefined,
  call: () => unknown,
): Promise<unknown> {
  try {
    const result = (await call()) as { isError?: boolean; resultType?: string }
    if (result.resultType === 'input_required') await admitted.interrupt()
    else await admitted.end(result.isError || signal?.aborted ? 'fail' : 'success')
    return result
  } catch (error) {
    await admitted.end('fail')
    throw error
  }
}

function refusalOf(
  admission: Exclude<Admission, { readonly kind: 'admitted' }>,
  recoveryTools: readonly Recovery[],
): object {
  switch (admission.kind) {
    case 'paywalled': {
      const { gate, recovery } = admission
      const { plans, confirmationUrl, ...shown } = gate
      const more = gate.kind === 'activation_required' && { plans, confirmationUrl }
      const tool = recoveryTools.includes(recovery) ? ` Or call the tool ${recovery}.` : ''
      const message = `${gate.message}.${tool}`
      return {
        isError: false,
        content: [{ type: 'text', text: message }],
        structuredContent: withoutUndefined({ ...shown, ...more, message }),
      }
    }
    case 'unknown_customer':
      return errorResult('This account is not set up for billing. Contact the provider.')
    case 'unavailable':
      return errorResult('Plan limits cannot be checked now. Try again in a few seconds.')
  }
}

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function errorResult(text: string): object {
  return { isError: true, content: [{ type: 'text', text }] }
}
