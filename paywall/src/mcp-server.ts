import { customerHeader } from './http-options.ts'

/**
 * The part of a handler's second parameter that the paywall reads: `extra` in `@modelcontextprotocol/sdk`, `ctx` in
 * `@modelcontextprotocol/server`.
 */
export type McpContext = {
  /** Set by `@modelcontextprotocol/sdk`. */
  readonly signal?: AbortSignal
  readonly authInfo?: McpAuthInfo
  readonly requestInfo?: {
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
  }
  /** Set by `@modelcontextprotocol/server`. */
  readonly mcpReq?: { readonly signal: AbortSignal }
  readonly http?: {
    readonly req?: { readonly headers: { get(name: string): string | null } }
    readonly authInfo?: McpAuthInfo
  }
}

/** The result of the server's own authentication of the caller. */
type McpAuthInfo = {
  readonly clientId: string
  readonly extra?: Readonly<Record<string, unknown>>
}

/** An `McpServer` or a low-level `Server` of either SDK. */
export type McpServerLike =
  { readonly server: { setRequestHandler: unknown } } | { setRequestHandler: unknown }

type McpRequest = {
  readonly params?: {
    readonly name?: string
    readonly arguments?: unknown
    readonly _meta?: Readonly<Record<string, unknown>>
  }
}

type Handler = (request: McpRequest, context: McpContext) => unknown

export type Interceptors = Readonly<
  Record<string, (request: McpRequest, context: McpContext, handler: Handler) => Promise<unknown>>
>

/** Wraps every handler that is registered for these methods from now on. Throws an Error if a method already has a handler. */
export function interceptHandlers(server: McpServerLike, interceptors: Interceptors): void {
  const target = ('server' in server ? server.server : server) as {
    setRequestHandler: (...given: unknown[]) => unknown
    assertCanSetRequestHandler: (method: string) => void
  }
  for (const method of Object.keys(interceptors)) target.assertCanSetRequestHandler(method)
  const setRequestHandler = target.setRequestHandler.bind(target)
  target.setRequestHandler = (method, ...given) => {
    const intercept = interceptors[nameOf(method)]
    const handler = given.at(-1)
    if (intercept === undefined || typeof handler !== 'function') {
      return setRequestHandler(method, ...given)
    }
    const intercepted: Handler = (request, context) =>
      intercept(request, context, handler as Handler)
    return setRequestHandler(method, ...given.slice(0, -1), intercepted)
  }
}

/** Returns the method name. One SDK passes a string, the other a zod schema (version 3 or 4) whose `method` is a literal. */
function nameOf(method: unknown): string {
  if (typeof method === 'string') return method
  const { shape, _def } = method as { shape?: Shape; _def?: { shape?: Shape | (() => Shape) } }
  const found = shape ?? _def?.shape
  const { method: literal } = (typeof found === 'function' ? found() : found) ?? {}
  const { value, values } = literal?._zod?.def ?? literal?._def ?? {}
  return String(value ?? values?.[0] ?? literal?.value)
}

type Shape = {
  readonly method?: {
    readonly value?: unknown
    readonly _def?: Literal
    readonly _zod?: { readonly def?: Literal }
  }
}

type Literal = { readonly value?: unknown; readonly values?: readonly unknown[] }

export function customerOfContext({ requestInfo, http }: McpContext): string | undefined {
  const value = requestInfo?.headers[customerHeader] ?? http?.req?.headers.get(customerHeader)
  return (Array.isArray(value) ? value[0] : value) ?? undefined
}

export function signalOf({ signal, mcpReq }: McpContext): AbortSignal | undefined {
  return mcpReq?.signal ?? signal
}
