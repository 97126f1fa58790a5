import type { JsonObject } from '@tollgate/schemas/json-object'
import { virtualTools } from '@tollgate/schemas/http/mcp'
import { userInfoResponseSchema, type UserInfoResponse } from '@tollgate/schemas/http/user-info'
import { accountViewUri } from '../apps/apps-extension.ts'
import type { ServedServer, ServedTool } from '../servers/served-server.ts'
import { accountViewData } from './account-view-data.ts'
import type { ClientCapabilities, VirtualCall } from './gate.ts'
import type { Links, LinkPurpose } from './links.ts'
import { messageOf, type ServiceCalls } from '../services/service-calls.ts'

/** The tools that the proxy adds to every list, in this order. */
const listedVirtualTools: readonly JsonObject[] = [
  {
    name: 'get_user_info',
    title: 'Account and usage',
    description:
      'Shows the plan, its usage and what remains of it for the customer who is signed in. Use it when asked about the plan, limits or usage.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: 'upgrade',
    title: 'Choose a plan',
    description:
      'Returns a link to a page where the customer can choose and buy a plan, or add credits. Show the link to the user.',
    inputSchema: {
      type: 'object',
      properties: {
        planRef: {
          type: 'string',
          description: 'Reference of the plan to buy. Without it the page offers all plans.',
        },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'manage_account',
    title: 'Manage the account',
    description:
      'Returns a link to the page where the customer can see purchases, payments and receipts, and can cancel. Show the link to the user.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
]

/** Tools whose results are shown by the view. The view itself calls no tools, so no tool is visible to it. */
const viewedTools: ReadonlySet<unknown> = new Set(['upgrade', 'manage_account'])

const viewMeta: JsonObject = {
  ui: { resourceUri: accountViewUri, visibility: ['model'] },
  // Member that held the URI before version 2026-01-26 of the extension.
  'ui/resourceUri': accountViewUri,
}

const listedWithViews: readonly JsonObject[] = listedVirtualTools.map((tool) =>
  viewedTools.has(tool['name']) ? { ...tool, _meta: viewMeta } : tool,
)

export function listedVirtualToolsFor({
  showsApps,
}: Pick<ClientCapabilities, 'showsApps'>): readonly JsonObject[] {
  return showsApps ? listedWithViews : listedVirtualTools
}

/**
 * Tool names in paywall messages, for clients that implement these tools themselves. The proxy answers calls of a name if the
 * origin does not list it.
 */
const recoveryTools: ReadonlySet<string> = new Set(['topup', 'activate_plan'])

const purposes: ReadonlyMap<string, LinkPurpose> = new Map([
  ['upgrade', 'checkout'],
  ['upgrade_plan', 'checkout'],
  ['activate_plan', 'checkout'],
  ['topup', 'topup'],
  ['manage_account', 'portal'],
  ['manage_purchase', 'portal'],
])

export function isVirtualTool({ tools }: ServedServer, toolName: string): boolean {
  return (
    virtualTools.has(toolName) || (recoveryTools.has(toolName) && !isListed(tools.get(toolName)))
  )
}

function isListed(tool: ServedTool | undefined): boolean {
  return tool !== undefined && tool.hasVanished !== true
}

export type VirtualToolsParts = {
  readonly controlPlane: ServiceCalls
  readonly links: Links
  readonly timeoutMs: number
}

export async function callVirtualTool(
  parts: VirtualToolsParts,
  { server, customerRef, toolName, arguments: given, client }: VirtualCall,
): Promise<JsonObject> {
  const purpose = purposes.get(toolName)
  if (purpose === undefined) return userInfo(parts, server, customerRef)
  const { planRef } = given
  if (planRef !== undefined && !isReference(planRef)) {
    return failure(`\`planRef\` must be a string of at most ${referenceCharsMax} characters`)
  }
  const named = purpose === 'checkout' ? planRef : undefined
  // Each link is stored and audited, so unknown plan references must not create one link each.
  if (named !== undefined && !isOnOffer(server, named)) {
    return failure(`No plan on offer has the reference ${named}`)
  }
  const [url, info] = await Promise.all([
    parts.links.urlOf({ server, customerRef, purpose, planRef: named }),
    client.showsApps ? readUserInfo(parts, server, customerRef) : undefined,
  ])
  if (url === '') return failure('No link can be made now. Try again in a few seconds.')
  if (!client.showsApps) return linkText(url)
  const kind = purpose === 'portal' ? 'account' : 'upgrade'
  const view = { kind, url, server, planRef: named, info } as const
  return { ...linkText(url), structuredContent: accountViewData(view) }
}

function isOnOffer({ plans }: ServedServer, planRef: string): boolean {
  return plans.some(({ reference, isOffered }) => isOffered && reference === planRef)
}

/** Returns undefined if the control plane cannot be read. The view is then shown without this information. */
async function readUserInfo(
  { controlPlane, timeoutMs }: VirtualToolsParts,
  server: ServedServer,
  customerRef: string,
): Promise<UserInfoResponse | undefined> {
  const request = { customerRef, productRef: server.productRef }
  const reply = await controlPlane.post(userInfoPath, server, request, timeoutMs)
  if (reply.kind === 'failed' || reply.status !== 200) return undefined
  return userInfoResponseSchema.safeParse(reply.body).data
}

const userInfoPath = '/v1/sdk/user-info'

/** Links are cached by plan reference, so its length is limited. */
const referenceCharsMax = 255

function isReference(given: unknown): given is string {
  return typeof given === 'string' && given.length <= referenceCharsMax
}

function linkText(url: string): JsonObject {
  return textResult(JSON.stringify({ url, message: `Open ${url} and sign in.` }))
}

/** Returns the result of operation 46, without the link that would sign in any person who opens it. */
async function userInfo(
  { controlPlane, links, timeoutMs }: VirtualToolsParts,
  server: ServedServer,
  customerRef: string,
): Promise<JsonObject> {
  const { productRef } = server
  const request = { customerRef, productRef }
  const reply = await controlPlane.post(userInfoPath, server, request, timeoutMs)
  if (reply.kind === 'failed')
    return failure('The account cannot be read now. Try again in a few seconds.')
  if (reply.status !== 200) return failure(messageOf(reply))
  const url = await links.urlOf({ server, customerRef, purpose: 'portal' })
  const verifyUrl = url === '' ? null : url
  return textResult(JSON.stringify({ ...(reply.body as JsonObject), verifyUrl }))
}

function textResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }] }
}

function failure(error: string): JsonObject {
  return { ...textResult(JSON.stringify({ error })), isError: true }
}
