import { send, type Draw, type Maker } from './random-source.ts'

/* Requests to every described operation: its example, with some fields changed at random. */

type Schema = { readonly example?: unknown; readonly examples?: readonly unknown[] }
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly example?: unknown
  readonly schema: Schema & { readonly examples?: readonly unknown[] }
}
type Operation = {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content?: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
    >
  }
}

export type ApiDescription = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/**
 * Operations whose answers depend on time, on jobs or on other servers, that limit how often they are sent, or that would revoke the
 * key of the run.
 */
const leftOut: ReadonlySet<string> = new Set([
  ...['signIn', 'setPassword', 'changePassword', 'inviteUser', 'createPasswordLink'],
  ...['openCliSession', 'exchangeCliSession', 'completeCliSession', 'cancelCliSession'],
  ...['revokeApiKey', 'rotateApiKey', 'getApiDescription', 'discoverMcpTools'],
  ...['listBillingRuns', 'listReconciliations', 'listEvents', 'listAuditEntries', 'getUsage'],
  ...['getUsageBreakdown', 'listWebhookDeliveries', 'testWebhookEndpoint', 'createWebhookReplay'],
  ...['createWebhookEndpoint', 'updateWebhookEndpoint', 'replayWebhookDelivery'],
  ...['listCreditTransactions', 'getOverview', 'authorizeClient', 'registerCustomerClient'],
])

export function describedRequests(description: ApiDescription): Maker {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => !leftOut.has(operationId))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  return (draw) => {
    const { method, path, operation } = draw.random.pick(operations)
    const headers = Object.fromEntries(
      (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'header' && draw.random.chance(0.3))
        .map(({ name }) => [name, `key-${draw.random.integer(1, 9)}`]),
    )
    return send(method, addressOf(draw, path, operation), bodyOf(draw, operation), headers)
  }
}

function addressOf(draw: Draw, path: string, { parameters = [] }: Operation): string {
  const query: string[] = []
  let filled = path
  for (const parameter of parameters) {
    const { name, in: place, required = false } = parameter
    const value = referenceOf(draw, name) ?? exampleOf(parameter)
    if (place === 'path') filled = filled.replace(`{${name}}`, encoded(value))
    if (place === 'query' && draw.random.chance(required ? 0.95 : 0.4)) {
      const sent = draw.random.chance(0.15) ? draw.random.pick(['', '-1', 'x', '999999']) : value
      query.push(`${name}=${encoded(sent)}`)
    }
  }
  if (draw.random.chance(0.05)) query.push('unheardOf=1')
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

function exampleOf({ example, schema }: Parameter): string {
  const shown = example ?? schema.examples?.[0] ?? 'x'
  return typeof shown === 'string' ? shown : JSON.stringify(shown)
}

/** Encodes a value, but not the braces of a mask. */
function encoded(value: string): string {
  return encodeURIComponent(value)
    .replaceAll('%7B', '{')
    .replaceAll('%7D', '}')
    .replaceAll('%3A', ':')
}

/** Returns a known reference for a field that holds one. */
function referenceOf(draw: Draw, name: string): string | undefined {
  const { random, known } = draw
  switch (name) {
    case 'customerRef':
    case 'reference':
      return draw.customer()
    case 'productRef':
      return draw.product()
    case 'planRef':
      return draw.plan().planRef
    case 'purchaseRef':
      return draw.purchase()
    case 'meterRef':
      return draw.meter()
    case 'endpointId':
      return random.pick([...known.endpoints.slice(-3), 'we_UNKNOWN1'])
    case 'sessionId':
      return random.pick([...known.sessions.slice(-3), 'x'])
    default:
      return undefined
  }
}

function bodyOf(draw: Draw, { requestBody }: Operation): unknown {
  const { random } = draw
  const examples = Object.values(requestBody?.content?.['application/json']?.examples ?? {})
  if (examples.length === 0) return undefined
  const { value } = random.pick(examples)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return changed(draw, value as Record<string, unknown>)
}

const wrongValues: readonly unknown[] = [
  null,
  '',
  0,
  -1,
  1.5,
  1e15,
  true,
  'x',
  [],
  {},
  'ä'.repeat(300),
]

function changed(draw: Draw, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { random } = draw
  const body = Object.entries(fields)
    .filter(() => !random.chance(0.08))
    .map(([name, value]): [string, unknown] => {
      if (random.chance(0.08)) return [name, random.pick(wrongValues)]
      // Meters of tools are created at the same time, so that their order in lists is random.
      if (name === 'tools' || name === 'toolMapping') return [name, firstOf(value)]
      if (typeof value !== 'string') return [name, value]
      if (/^\d{4}-\d\d-\d\dT/.test(value)) return [name, '{now+3600}']
      if (name === 'email') return [name, `described${draw.number}@acme.example`]
      return [name, referenceOf(draw, name) ?? value]
    })
  if (random.chance(0.05)) body.push(['unheardOf', { deep: [1] }])
  return Object.fromEntries(body)
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, 1) : value
}
