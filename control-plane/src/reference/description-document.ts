/** The parts of the API description that the documentation pages read. */
export type ApiDescription = {
  readonly tags?: readonly Tag[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas?: Readonly<Record<string, Schema>>
    readonly responses?: Readonly<Record<string, Response>>
  }
}

type Tag = { readonly name: string; readonly description?: string }

export type Operation = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response | Reference>>
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly schema: Schema
}

export type Response = { readonly description: string; readonly content?: Content }
type Reference = { readonly $ref: string }

type Content = Readonly<Record<string, MediaType>>
export type MediaType = {
  readonly schema?: Schema
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly exclusiveMaximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

/** An operation with its method and path. For webhooks, the method is `event` and the path is the event type. */
export type PlacedOperation = {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export type Section = {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly operations: readonly PlacedOperation[]
}

/** Returns the operations by tag in the order of the description, and the events that webhooks send as the last section. */
export function sectionsOf(description: ApiDescription): readonly Section[] {
  const placed = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const tagged = (description.tags ?? []).map(({ name, description: words = '' }) => ({
    slug: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    name,
    description: words,
    operations: placed.filter(({ operation }) => operation.tags.includes(name)),
  }))
  const events = Object.entries(description.webhooks).map(([path, { post }]) => ({
    method: 'event',
    path,
    operation: post,
  }))
  return [
    ...tagged.filter(({ operations }) => operations.length > 0),
    {
      slug: 'webhook-events',
      name: 'Webhook events',
      description: 'Events that Tollgate posts to webhook endpoints',
      operations: events,
    },
  ]
}

export function resolveResponse(
  { components }: ApiDescription,
  response: Response | Reference,
): Response {
  if (!('$ref' in response)) return response
  const name = response.$ref.split('/').at(-1) ?? ''
  return components.responses?.[name] ?? { description: name }
}

export function resolveSchema({ components }: ApiDescription, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  return components.schemas?.[schema.$ref.split('/').at(-1) ?? ''] ?? {}
}

/** Returns the value of the first example, or undefined if the media type has none. */
export function firstExample(media: MediaType | undefined): unknown {
  return Object.values(media?.examples ?? {})[0]?.value
}
