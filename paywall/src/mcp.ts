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
import { withoutUndefined } from './paywall-options.ts'

export type { McpContext, McpServerLike } from './mcp-server.ts'

export type McpPaywallOptions = {
  /**
   * Returns the customer who makes the call: Tollgate's reference or your own id. Default: the header `x-customer-ref` of the HTTP
   * request, which must be set by the part of your system that authenticates callers.
   */
  readonly customer?: (context: McpContext) => Maybe<string> | Promise<Maybe<string>>
  /** Names of tools that are free for everyone. Calls of them are not recorded. */
  readonly publicTools?: readonly string[]
  /** Tools of your server that resolve a refusal. The message of the refusal names the one that fits. */
  readonly recoveryTools?: readonly Recovery[]
  /**
   * Whether a refusal links to Tollgate's checkout. Anyone with that link acts for the customer, and over MCP models and other
   * people may read it, so it is off by default. Set `checkoutUrl` of the paywall to a page of yours that requires sign-in instead.
   */
  readonly includesCheckoutLink?: boolean
}

/** Name of the field in `_meta` of a request that holds the client's idempotency key. */
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
 * Runs a call and records its outcome. Error results, thrown errors and cancelled calls fail. A call that requests input has not
 * ended: only its last round is recorded. A call that starts a task is recorded when the task is created.
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

function errorResult(text: string): object {
  return { isError: true, content: [{ type: 'text', text }] }
}
