import type { JsonObject } from '@tollgate/schemas/json-object'
import { virtualTools } from '@tollgate/schemas/http/mcp'
import type { ServedServer } from '../servers/served-server.ts'
import type { Links, LinkPurpose } from './links.ts'
import { messageOf, type ServiceCalls } from './service-calls.ts'

/** The tools that the proxy adds to every list, in this order. */
export const listedVirtualTools: readonly JsonObject[] = [
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

/** Names in paywall messages that clients with tools of their own know. The proxy answers for them where the origin does not. */
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
  return virtualTools.has(toolName) || (recoveryTools.has(toolName) && !tools.has(toolName))
}

export type VirtualToolsParts = {
  readonly controlPlane: ServiceCalls
  readonly links: Links
  readonly timeoutMs: number
}

export async function callVirtualTool(
  parts: VirtualToolsParts,
  server: ServedServer,
  customerRef: string,
  toolName: string,
  given: JsonObject,
): Promise<JsonObject> {
  const purpose = purposes.get(toolName)
  if (purpose === undefined) return userInfo(parts, server, customerRef)
  const { planRef } = given
  if (planRef !== undefined && !isReference(planRef)) {
    return failure(`\`planRef\` must be a string of at most ${referenceCharsMax} characters`)
  }
  const isCheckout = purpose === 'checkout'
  const asked = { server, customerRef, purpose, planRef: isCheckout ? planRef : undefined }
  const url = await parts.links.urlOf(asked)
  return url === ''
    ? failure('No link can be made now. Try again in a few seconds.')
    : linkText(url)
}

/** Links are kept by what they are for. */
const referenceCharsMax = 255

function isReference(given: unknown): given is string {
  return typeof given === 'string' && given.length <= referenceCharsMax
}

function linkText(url: string): JsonObject {
  return textResult(JSON.stringify({ url, message: `Open ${url} and sign in.` }))
}

/** Operation 46, without the link that would sign in whoever opens it. */
async function userInfo(
  { controlPlane, links, timeoutMs }: VirtualToolsParts,
  server: ServedServer,
  customerRef: string,
): Promise<JsonObject> {
  const { productRef } = server
  const asked = { customerRef, productRef }
  const reply = await controlPlane.post('/v1/sdk/user-info', server, asked, timeoutMs)
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
