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

/* Schemas of `/v1/sdk/products/mcp/bootstrap`, `/v1/sdk/products/{productRef}/mcp/plans` and the discovery of tools. */

/** Permanent key with which tools of a configuration name a plan, independent of the plan's reference. */
const planKey = requiredReference

const mcpPlanSchema = z.object({
  key: planKey,
  name: planName,
  price: planFields.price.unwrap(),
  currency: planFields.currency.unwrap(),
  /** Default: usage-based if units cost credits, otherwise recurring. */
  type: z.enum(['recurring', 'one-time', 'usage-based']).optional(),
  billingCycle: planFields.billingCycle,
  billingModel: planFields.billingModel,
  charges: planFields.charges,
  creditsPerUnit: planFields.creditsPerUnit,
  freeUnits: planFields.freeUnits,
  limit: planFields.limit,
  features: planFields.features,
  pricingOptions: planFields.pricingOptions,
})

export type McpPlanInput = z.infer<typeof mcpPlanSchema>

const toolName = requiredReference.max(mcpToolNameCharsMax)
const planKeys = z.array(planKey).max(listItemsMax)

/** When a call that its client cancelled is billed, from the policy that charges customers least to the one that charges most. */
export const cancelledCallsPolicies = ['never', 'answered', 'accepted', 'always'] as const
export type CancelledCalls = (typeof cancelledCallsPolicies)[number]

const cancelledCalls = z.enum(cancelledCallsPolicies).meta({
  description:
    'Whether a call that its client cancelled is billed: `never`; `answered`: if the complete response of the MCP server had arrived ' +
    'at the proxy; `accepted`: if the MCP server had started to respond; `always`. Results that were sent to the client are ' +
    'always billed. Default: the setting of the installation, which is `answered` unless the operator changed it',
})

const onlyListedPlans = z.boolean().meta({
  description:
    'The default plan of a product gives access to every protected tool, even if `planKeys` does not list it. `true` reserves ' +
    'the tool for the listed plans',
})

/** Returns whether no customer could call the tool. */
function isReservedForNoPlan(tool: {
  readonly noPlan?: boolean | undefined
  readonly planKeys?: readonly string[] | undefined
  readonly onlyListedPlans?: boolean | undefined
}): boolean {
  return (
    tool.onlyListedPlans === true && (tool.noPlan === true || (tool.planKeys ?? []).length === 0)
  )
}

const reservedForNoPlan = {
  path: ['onlyListedPlans'],
  error:
    '`onlyListedPlans` reserves a tool for the plans in `planKeys`: list at least one, without `noPlan`',
}

const mcpToolSchema = z.object({
  name: toolName,
  description: longText.optional(),
  /** The tool is open to everybody, neither limited nor counted. Plans beside it are ignored. */
  noPlan: z.boolean().optional(),
  planKeys: planKeys.optional(),
  /** Former forms of `planKeys`. The plans of a request have no references yet, so no reference is known. */
  planRefs: planKeys.optional(),
  planIds: planKeys.optional(),
  onlyListedPlans: onlyListedPlans.optional(),
  cancelledCalls: cancelledCalls.optional(),
})

export type McpToolInput = z.infer<typeof mcpToolSchema>

const toolMappingSchema = z.object({
  name: toolName,
  noPlan: z.boolean().optional(),
  /** An empty list makes the tool available to the default plan only. */
  planKeys,
  onlyListedPlans: onlyListedPlans.optional().meta({
    description:
      '`true` reserves the tool for the plans in `planKeys`. Otherwise the default plan of the product also gives access to ' +
      'it. Missing: unchanged',
  }),
  cancelledCalls: cancelledCalls
    .nullable()
    .optional()
    .meta({
      description:
        'Whether a call that its client cancelled is billed, as in `tools` of bootstrap. Missing: unchanged. Null: the setting ' +
        'of the installation',
    }),
})

export type ToolMappingInput = z.infer<typeof toolMappingSchema>

/** Header names of RFC 9110, except for those that HTTP or the MCP transport itself needs. */
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
  /** Default: `Authorization`, with `Bearer` before the key. */
  authHeaderName: authHeaderName.optional(),
  /** Stored encrypted, sent to the origin, never returned. */
  authApiKey: authApiKey.optional(),
}

const plans = z.array(mcpPlanSchema).max(listItemsMax).optional()

/** The address is checked separately, with its own error code. */
const originUrl = longText.min(1)

export const mcpBootstrapSchema = z.object({
  originUrl,
  /** Default: derived from the host of the origin. */
  name: nameText.optional(),
  description: longText.optional(),
  imageUrl: optionalWebAddress.optional(),
  productType: shortText.optional(),
  metadata: jsonObject.optional(),
  /** Requested subdomain. A similar one is used if it is taken. */
  mcpDomain: shortText.optional(),
  ...credentials,
  /** Default: one free plan with the key `free`. */
  plans,
  /** Default: the tools that the origin lists, open to every plan. */
  tools: z
    .array(mcpToolSchema.refine((tool) => !isReservedForNoPlan(tool), reservedForNoPlan))
    .max(mcpToolsMax)
    .optional(),
  /** Ignored unless it names one of the plans. */
  defaultPlanKey: shortText.optional(),
})

export type McpBootstrapInput = z.infer<typeof mcpBootstrapSchema>

export const mcpConfigureSchema = z.object({
  originUrl: originUrl.optional().meta({
    description:
      'If scheme, host or port change, the stored credentials of the origin are deleted. Send `authApiKey` again in the ' +
      'same request',
  }),
  authHeaderName: credentials.authHeaderName,
  authApiKey: authApiKey.nullable().optional().meta({
    description:
      'Missing: unchanged, unless `originUrl` names another server. Null: the origin no longer needs a key',
  }),
  /** These plans replace all others. A free plan is kept if none of these is free. */
  plans,
  /** Only the named tools change. */
  toolMapping: z
    .array(toolMappingSchema.refine((tool) => !isReservedForNoPlan(tool), reservedForNoPlan))
    .max(mcpToolsMax)
    .optional(),
  defaultPlanKey: shortText.optional(),
})

export type McpConfigureInput = z.infer<typeof mcpConfigureSchema>

const mcpServerSchema = z.object({
  reference: z.string(),
  subdomain: z.string(),
  mcpProxyUrl: z.string(),
  /** Address of the origin. */
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
      'Who may call the tool. `public`: everybody. `every-plan`: customers with any plan of the product. `plans`: customers with ' +
      'one of `planRefs` and, unless `onlyListedPlans` is true, with the default plan',
  }),
  planRefs: z.array(z.string()),
  onlyListedPlans: z.boolean(),
  /** Missing if the setting of the installation applies. */
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
  /** Plans by key, including the free plan. */
  planMap: planMapSchema,
  /** All known tools of the server. */
  tools: z.array(knownToolSchema),
  /** Parts of the configuration that were applied as requested but may be unintended. */
  warnings: z.array(warningSchema).optional(),
}

export const mcpConfiguredSchema = z.object(configured)

export type McpConfiguredBody = z.infer<typeof mcpConfiguredSchema>

const discoverySchema = z.object({
  status: z.enum(['found', 'failed']),
  /** Why the origin's tools are unknown. */
  message: z.string().optional(),
})

const namedTools = z.array(z.object({ name: z.string(), description: z.string().optional() }))

export const mcpBootstrappedSchema = z.object({
  ...configured,
  /** True if the tools come from the origin's list. */
  toolsAutoMapped: z.boolean(),
  autoMappedTools: namedTools.optional(),
  /** Present if the origin was queried. A failure does not prevent the creation; discover the tools again later. */
  discovery: discoverySchema.optional(),
})

export type McpBootstrappedBody = z.infer<typeof mcpBootstrappedSchema>

export const mcpDiscoveredSchema = z.object({
  tools: z.array(knownToolSchema),
  /** Names of tools that the origin has added and removed. */
  added: z.array(z.string()),
  removed: z.array(z.string()),
})

export type McpDiscoveredBody = z.infer<typeof mcpDiscoveredSchema>

/** Tools that the proxy adds. They are neither limited nor counted. The last two are former names. */
export const virtualTools: ReadonlySet<string> = new Set([
  'get_user_info',
  'upgrade',
  'manage_account',
  'upgrade_plan',
  'manage_purchase',
])

/** Beginning of the names of meters that count the calls of a tool. */
export const toolMeterPrefix = 'tool:'

/** Returns the name of the meter that counts the calls of a tool. */
export function toolMeterName(tool: string): string {
  return `${toolMeterPrefix}${tool}`
}
