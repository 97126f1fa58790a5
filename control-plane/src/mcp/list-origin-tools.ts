import type { SdkHttpError } from '@modelcontextprotocol/client'
import type { FoundTool } from '@tollgate/domain/mcp/decide-tools'
import type { GuardedFetch } from '@tollgate/platform/outbound/guarded-http'
import { OutboundError } from '@tollgate/platform/outbound/outbound-error'
import { isStorableText } from '@tollgate/schemas/json-object'
import { mcpToolNameCharsMax, mcpToolsMax, textCharsMax } from '@tollgate/schemas/limits'

export type Origin = {
  readonly url: string
  /** Headers that the origin requires, which may be none. */
  readonly headers: Readonly<Record<string, string>>
}

export type ListedTools =
  | { readonly kind: 'found'; readonly tools: readonly FoundTool[] }
  /** Message for the provider. It repeats no text of the origin, because that text may contain the credentials. */
  | { readonly kind: 'failed'; readonly message: string }

/** Maximum number of pages of a tool list. It ends the loop for an origin whose list never ends. */
const pagesMax = 50

/**
 * Lists all tools of an MCP server over streamable HTTP. Returns the complete list or a failure, because an incomplete list would
 * mark the missing tools as removed.
 */
export async function listOriginTools(
  fetch: GuardedFetch,
  origin: Origin,
  timeoutMs: number,
): Promise<ListedTools> {
  // Imported here, because a start of the service would otherwise take about 3% longer.
  const sdk = await import('@modelcontextprotocol/client')
  const signal = AbortSignal.timeout(timeoutMs)
  const client = new sdk.Client(
    { name: 'tollgate', version: '0.1.0' },
    { listMaxPages: pagesMax, versionNegotiation: { mode: 'auto' } },
  )
  const transport = new sdk.StreamableHTTPClientTransport(new URL(origin.url), {
    fetch,
    requestInit: { headers: origin.headers },
    reconnectionOptions: noReconnection,
  })
  try {
    await client.connect(transport, { signal, timeout: timeoutMs })
    const { tools } = await client.listTools(undefined, { signal, timeout: timeoutMs })
    return checkTools(tools)
  } catch (error) {
    return failed(signal.aborted ? 'It did not answer in time' : reasonOf(error, sdk.SdkHttpError))
  } finally {
    // End the session in the background: the caller does not wait for it.
    void transport
      .terminateSession()
      .catch(() => undefined)
      .finally(() => client.close())
  }
}

const noReconnection = {
  maxRetries: 0,
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1,
}

function checkTools(
  tools: readonly { name: string; description?: string | undefined }[],
): ListedTools {
  if (tools.length > mcpToolsMax) {
    return failed(`It has ${tools.length} tools; ${mcpToolsMax} are possible`)
  }
  const names = new Set(tools.map(({ name }) => name))
  if (names.size < tools.length) return failed('It lists a tool more than once')
  if ([...names].some((name) => !isToolName(name))) {
    return failed(`It names a tool with more than ${mcpToolNameCharsMax} characters, or none`)
  }
  return {
    kind: 'found',
    tools: tools.map(({ name, description }) => ({
      name,
      description: storableDescription(description),
    })),
  }
}

function isToolName(name: string): boolean {
  return name !== '' && name.length <= mcpToolNameCharsMax && isStorableText(name)
}

function storableDescription(description: string | undefined): string | null {
  if (description === undefined || description === '') return null
  return description.slice(0, textCharsMax).toWellFormed().replaceAll('\0', '')
}

function failed(message: string): ListedTools {
  return { kind: 'failed', message }
}

function reasonOf(error: unknown, HttpError: typeof SdkHttpError): string {
  const outbound = outboundCauseOf(error)
  if (outbound !== undefined) return outbound.message
  if (HttpError.isInstance(error)) {
    const { status } = error
    const areCredentialsWrong = status === 401 || status === 403
    return areCredentialsWrong
      ? `It wants other credentials (${status})`
      : `It answered with status ${status}`
  }
  return 'It does not speak MCP over streamable HTTP'
}

/** The MCP client wraps errors of its fetch. Returns the OutboundError inside, if there is one. */
function outboundCauseOf(error: unknown): OutboundError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof OutboundError) return each
  }
  return undefined
}
