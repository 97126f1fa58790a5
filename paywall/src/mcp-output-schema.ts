import { createHash } from 'node:crypto'

export type ListedTool = {
  readonly name: string
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
}

/** What a refused call has as structured content. */
const gateSchema = {
  type: 'object',
  properties: {
    kind: { enum: ['payment_required', 'activation_required'] },
    product: { type: 'string' },
    checkoutUrl: { type: 'string' },
    message: { type: 'string' },
  },
  required: ['kind', 'product', 'checkoutUrl', 'message'],
}

/**
 * Adds the refusal to the output schema of each gated tool that has one: clients throw on structured content that does not
 * match, before anybody could read it.
 */
export function widenTools(
  tools: readonly ListedTool[],
  isPublic: (name: string) => boolean,
): readonly ListedTool[] {
  return tools.map((tool) =>
    tool.outputSchema === undefined || isPublic(tool.name)
      ? tool
      : { ...tool, outputSchema: widen(tool.outputSchema) },
  )
}

function widen(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { $schema, ...own } = schema
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    anyOf: [withBase(own), gateSchema],
  }
}

/** References such as `#/$defs/City` go from the nearest `$id`, which keeps them right at their new place. */
function withBase(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(schema)
  if (schema['$id'] !== undefined || !text.includes('"$ref"')) return schema
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return { $id: `urn:tollgate:output:${digest}`, ...schema }
}
