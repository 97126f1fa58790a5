import { z } from 'zod'
import { listItemsMax, mcpToolNameCharsMax, mcpToolsMax } from '../limits.ts'
import {
  jsonObject,
  longText,
  nameText,
  optionalWebAddress,
  requiredReference,
  shortText,
} from './fields.ts'
import { planFields, planName } from './plan-terms.ts'
import { productSchema } from './products.ts'

/* `/v1/sdk/products/mcp/bootstrap`, `/v1/sdk/products/{productRef}/mcp/plans` and the discovery of tools. */

/** How the tools of a configuration name a plan: for good, whatever becomes of its reference. */
const planKey = requiredReference

const mcpPlanSchema = z.object({
  key: planKey,
  name: planName,
  price: planFields.price.unwrap(),
  currency: planFields.currency.unwrap(),
  /** Missing: usage-based where units cost credits, else recurring. */
  type: z.enum(['recurring', 'one-time', 'usage-based']).optional(),
  billingCycle: planFields.billingCycle,
  billingModel: planFields.billingModel,
  creditsPerUnit: planFields.creditsPerUnit,
  freeUnits: planFields.freeUnits,
  limit: planFields.limit,
  features: planFields.features,
  pricingOptions: planFields.pricingOptions,
})

export type McpPlanInput = z.infer<typeof mcpPlanSchema>

const toolName = requiredReference.max(mcpToolNameCharsMax)
const planKeys = z.array(planKey).max(listItemsMax)

/** When a call is billed whose client cancelled it, from the provider's point of view in the order of what it costs customers. */
export const cancelledCallsPolicies = ['never', 'answered', 'accepted', 'always'] as const
export type CancelledCalls = (typeof cancelledCallsPolicies)[number]

const cancelledCalls = z.enum(cancelledCallsPolicies).meta({
  description:
    'Whether a call is billed that its client cancelled: `never`; `answered`, once the whole answer of the MCP server had arrived ' +
    'at the proxy; `accepted`, once the MCP server had begun to answer; `always`. Results that were handed to the client are ' +
    'always billed. Missing: as the installation is configured, which is `answered` unless the operator changed it',
})

const onlyListedPlans = z.boolean().meta({
  description:
    'The default plan of a product opens every protected tool, also where `planKeys` does not list it. `true` reserves the tool ' +
    'for the plans listed',
})

/** Nobody could call it. */
function isReservedForNobody(tool: {
  readonly noPlan?: boolean | undefined
  readonly planKeys?: readonly string[] | undefined
  readonly onlyListedPlans?: boolean | undefined
}): boolean {
  return (
    tool.onlyListedPlans === true && (tool.noPlan === true || (tool.planKeys ?? []).length === 0)
  )
}

const reservedForNobody = {
  path: ['onlyListedPlans'],
  error:
    '`onlyListedPlans` reserves a tool for the plans in `planKeys`: list at least one, without `noPlan`',
}

const mcpToolSchema = z.object({
  name: toolName,
  description: longText.optional(),
  /** Open to everybody: not limited, not counted. Plans named beside it mean nothing then. */
  noPlan: z.boolean().optional(),
  planKeys: planKeys.optional(),
  /** Older forms of `planKeys`. The plans of a request have no references yet, so none is known. */
  planRefs: planKeys.optional(),
  planIds: planKeys.optional(),
  onlyListedPlans: onlyListedPlans.optional(),
  cancelledCalls: cancelledCalls.optional(),
})

export type McpToolInput = z.infer<typeof mcpToolSchema>

const toolMappingSchema = z.object({
  name: toolName,
  noPlan: z.boolean().optional(),
  /** None: the tool is for the default plan alone. */
  planKeys,
  onlyListedPlans: onlyListedPlans.optional().meta({
    description:
      '`true` reserves the tool for the plans in `planKeys`: without it, the default plan of the product opens every protected ' +
      'tool, also where it is not listed. Missing: as before',
  }),
  cancelledCalls: cancelledCalls
    .nullable()
    .optional()
    .meta({
      description:
        'Whether a call is billed that its client cancelled, as in `tools` of bootstrap. Missing: as before; null: as the ' +
        'installation is configured',
    }),
})

export type ToolMappingInput = z.infer<typeof toolMappingSchema>

/** RFC 9110 names, but none that HTTP or the MCP transport itself needs. */
const authHeaderName = z
  .string()
  .max(128)
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, { error: 'Expected the name of a header' })
  .refine((name) => !reservedHeaders.has(name.toLowerCase()), {
    error: 'This header cannot carry credentials',
  })

const reservedHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'mcp-protocol-version',
  'mcp-session-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const authApiKey = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[\x20-\x7e]+$/, { error: 'Expected printable ASCII' })

const credentials = {
  /** Missing: `Authorization`, with `Bearer` before the key. */
  authHeaderName: authHeaderName.optional(),
  /** Kept encrypted, sent to the origin, never returned. */
  authApiKey: authApiKey.optional(),
}

const plans = z.array(mcpPlanSchema).max(listItemsMax).optional()

/** Its address is judged apart, with a code of its own. */
const originUrl = longText.min(1)

export const mcpBootstrapSchema = z.object({
  originUrl,
  /** Missing: made of the origin's host. */
  name: nameText.optional(),
  description: longText.optional(),
  imageUrl: optionalWebAddress.optional(),
  productType: shortText.optional(),
  metadata: jsonObject.optional(),
  /** The wanted subdomain; another one close to it where it is taken. */
  mcpDomain: shortText.optional(),
  ...credentials,
  /** Missing: one free plan with the key `free`. */
  plans,
  /** Missing: the origin is asked, and its tools are open to every plan. */
  tools: z
    .array(mcpToolSchema.refine((tool) => !isReservedForNobody(tool), reservedForNobody))
    .max(mcpToolsMax)
    .optional(),
  /** Means nothing unless it names one of the plans. */
  defaultPlanKey: shortText.optional(),
})

export type McpBootstrapInput = z.infer<typeof mcpBootstrapSchema>

export const mcpConfigureSchema = z.object({
  originUrl: originUrl.optional().meta({
    description:
      'Where scheme, host or port change, the credentials kept for the origin are deleted: give `authApiKey` again in the ' +
      'same request',
  }),
  authHeaderName: credentials.authHeaderName,
  authApiKey: authApiKey.nullable().optional().meta({
    description:
      'Missing: as before, unless `originUrl` names another server; null: the origin needs none any more',
  }),
  /** Given: these instead of all others, apart from a free plan where none of these is free. */
  plans,
  /** The tools named change, the others stay as they are. */
  toolMapping: z
    .array(toolMappingSchema.refine((tool) => !isReservedForNobody(tool), reservedForNobody))
    .max(mcpToolsMax)
    .optional(),
  defaultPlanKey: shortText.optional(),
})

export type McpConfigureInput = z.infer<typeof mcpConfigureSchema>

const mcpServerSchema = z.object({
  reference: z.string(),
  subdomain: z.string(),
  mcpProxyUrl: z.string(),
  /** The origin. */
  url: z.string(),
  defaultPlanRef: z.string().optional(),
})

export type McpServerBody = z.infer<typeof mcpServerSchema>

const planMapSchema = z.record(z.string(), z.object({ reference: z.string(), name: z.string() }))

const knownToolSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  access: z.enum(['public', 'every-plan', 'plans']).meta({
    description:
      'Who may call it. `public`: everybody; `every-plan`: holders of any plan of the product; `plans`: holders of `planRefs` ' +
      'and, unless `onlyListedPlans` is true, of the default plan',
  }),
  planRefs: z.array(z.string()),
  onlyListedPlans: z.boolean(),
  /** Missing: as the installation is configured. */
  cancelledCalls: z.enum(cancelledCallsPolicies).optional(),
})

export type KnownToolBody = z.infer<typeof knownToolSchema>

const warningSchema = z.object({
  code: z.enum(['default_plan_opens_tool']),
  tool: z.string(),
  message: z.string(),
})

export type McpWarningBody = z.infer<typeof warningSchema>

const configured = {
  product: productSchema,
  mcpServer: mcpServerSchema,
  /** By key, the free plan included. */
  planMap: planMapSchema,
  /** All tools that are known of the server. */
  tools: z.array(knownToolSchema),
  /** What is configured as it was asked, and perhaps not meant. */
  warnings: z.array(warningSchema).optional(),
}

export const mcpConfiguredSchema = z.object(configured)

export type McpConfiguredBody = z.infer<typeof mcpConfiguredSchema>

const discoverySchema = z.object({
  status: z.enum(['found', 'failed']),
  /** Why the origin's tools are not known. */
  message: z.string().optional(),
})

const namedTools = z.array(z.object({ name: z.string(), description: z.string().optional() }))

export const mcpBootstrappedSchema = z.object({
  ...configured,
  /** Whether the origin was asked for its tools and named them. */
  toolsAutoMapped: z.boolean(),
  autoMappedTools: namedTools.optional(),
  /** Present when the origin was asked. A failure keeps nothing from being made: discover again later. */
  discovery: discoverySchema.optional(),
})

export type McpBootstrappedBody = z.infer<typeof mcpBootstrappedSchema>

export const mcpDiscoveredSchema = z.object({
  tools: z.array(knownToolSchema),
  /** Names of tools that the origin has and did not have before, and the other way round. */
  added: z.array(z.string()),
  removed: z.array(z.string()),
})

export type McpDiscoveredBody = z.infer<typeof mcpDiscoveredSchema>

/** Injected by the proxy: never gated, never counted. The last two are older names. */
export const virtualTools: ReadonlySet<string> = new Set([
  'get_user_info',
  'upgrade',
  'manage_account',
  'upgrade_plan',
  'manage_purchase',
])

/** The meter that counts the calls of a tool. */
export function toolMeterName(tool: string): string {
  return `tool:${tool}`
}
