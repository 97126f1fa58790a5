import {
  Client as LaterClient,
  StreamableHTTPClientTransport as LaterTransport,
  UnauthorizedError as LaterUnauthorizedError,
} from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { TestOAuthProvider } from './test-oauth-provider.ts'

/** The official clients: the older package, and the newer one with sessions and with automatic negotiation. */
export const clientKinds = ['sdk', 'client with sessions', 'client that negotiates'] as const

export type ClientKind = (typeof clientKinds)[number]

type ToolResult = {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

type ListedTool = {
  readonly name: string
  readonly inputSchema: object
  readonly outputSchema?: object
  readonly _meta?: Readonly<Record<string, unknown>>
}

type ElicitAnswer = {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Record<string, string | number | boolean | string[]>
}

type ElicitRequest = {
  readonly mode?: string
  readonly message: string
  readonly url?: string
}

type CallOptions = {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  readonly onProgress?: (progress: number) => void
}

/** A connected client with the methods that the tests need. */
export type McpClient = {
  readonly kind: ClientKind
  /** The negotiated protocol version. */
  readonly version: string | undefined
  listTools(): Promise<readonly ListedTool[]>
  callTool(name: string, given?: object, options?: CallOptions): Promise<ToolResult>
  /** Returns the text of the resource. */
  readResource(uri: string): Promise<string | undefined>
  /** Subscribes to changes of the tool list, if the protocol has no stream that every client opens. */
  listenToTools(): Promise<void>
  /** Returns how often the client was notified that the tool list changed. */
  readonly listChanges: () => number
  close(): Promise<void>
}

export type ConnectOptions = {
  readonly url: string
  readonly provider?: TestOAuthProvider
  /** Performs the user's actions in the browser. Returns the URL to which the server redirects. */
  readonly signIn?: (authorizationUrl: URL) => Promise<URL>
  /** Answers questions of the server. If absent, the client does not announce that it can ask its user. */
  readonly answer?: (request: ElicitRequest) => ElicitAnswer
  /** Whether the client announces that it opens URLs for its user. */
  readonly opensUrls?: boolean
  /** Whether the client announces that it shows views of tools. */
  readonly showsViews?: boolean
}

const identity = { name: 'tollgate-test', version: '1.0.0' }

/** Connects, and signs the user in if the server requires it. */
export function connect(kind: ClientKind, options: ConnectOptions): Promise<McpClient> {
  return kind === 'sdk' ? connectSdk(options) : connectLater(kind, options)
}

const views = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }

function clientCapabilities({ answer, opensUrls, showsViews }: ConnectOptions) {
  const elicitation = { form: {}, ...(opensUrls === true ? { url: {} } : {}) }
  return {
    ...(answer === undefined ? {} : { elicitation }),
    ...(showsViews === true ? { extensions: views } : {}),
  }
}

function textIn({ contents: [first] }: { contents: readonly object[] }): string | undefined {
  return first !== undefined && 'text' in first ? String(first.text) : undefined
}

async function connectSdk(options: ConnectOptions): Promise<McpClient> {
  const { answer, provider } = options
  const createTransport = () =>
    new StreamableHTTPClientTransport(
      new URL(options.url),
      provider === undefined ? {} : { authProvider: provider },
    )
  const createClient = () => new Client(identity, { capabilities: clientCapabilities(options) })
  let [client, transport] = [createClient(), createTransport()]
  try {
    await client.connect(transport)
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
    const parameters = await signIn(options)
    await transport.finishAuth(parameters.get('code') ?? '')
    ;[client, transport] = [createClient(), createTransport()]
    await client.connect(transport)
  }
  let listChanges = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (listChanges += 1))
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params as ElicitRequest))
  }
  return {
    kind: 'sdk',
    version: transport.protocolVersion,
    listTools: async () => (await client.listTools()).tools as readonly ListedTool[],
    callTool: async (name, given = {}, call = {}) =>
      (await client.callTool(
        { name, arguments: given as Record<string, unknown> },
        CallToolResultSchema,
        requestOptions(call),
      )) as ToolResult,
    readResource: async (uri) => textIn(await client.readResource({ uri })),
    listenToTools: () => Promise.resolve(),
    listChanges: () => listChanges,
    close: () => client.close(),
  }
}

async function connectLater(
  kind: Exclude<ClientKind, 'sdk'>,
  options: ConnectOptions,
): Promise<McpClient> {
  const { answer, provider } = options
  const createTransport = () =>
    new LaterTransport(
      new URL(options.url),
      provider === undefined ? {} : { authProvider: provider },
    )
  let listChanges = 0
  const createClient = () => {
    const created = new LaterClient(identity, {
      capabilities: clientCapabilities(options),
      versionNegotiation: { mode: kind === 'client with sessions' ? 'legacy' : 'auto' },
    })
    created.setNotificationHandler(
      'notifications/tools/list_changed',
      () => void (listChanges += 1),
    )
    if (answer !== undefined) {
      created.setRequestHandler('elicitation/create', ({ params }) =>
        answer(params as ElicitRequest),
      )
    }
    return created
  }
  let [client, transport] = [createClient(), createTransport()]
  try {
    await client.connect(transport)
  } catch (error) {
    if (!(error instanceof LaterUnauthorizedError)) throw error
    await transport.finishAuth(await signIn(options))
    ;[client, transport] = [createClient(), createTransport()]
    await client.connect(transport)
  }
  return {
    kind,
    version: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools as readonly ListedTool[],
    callTool: async (name, given = {}, call = {}) =>
      (await client.callTool(
        { name, arguments: given as Record<string, unknown> },
        requestOptions(call),
      )) as ToolResult,
    readResource: async (uri) => textIn(await client.readResource({ uri })),
    listenToTools: async () => {
      if (kind === 'client that negotiates') await client.listen({ toolsListChanged: true })
    },
    listChanges: () => listChanges,
    close: () => client.close(),
  }
}

async function signIn({ provider, signIn }: ConnectOptions): Promise<URLSearchParams> {
  const url = provider?.authorizationUrl
  if (provider === undefined || url === undefined || signIn === undefined) {
    throw new Error('The server asks for a sign-in that this test does not expect')
  }
  return provider.readCallback(await signIn(url))
}

function requestOptions({ signal, timeoutMs, onProgress }: CallOptions) {
  return {
    timeout: timeoutMs ?? 20_000,
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined
      ? {}
      : { onprogress: ({ progress }: { progress: number }) => onProgress(progress) }),
  }
}
