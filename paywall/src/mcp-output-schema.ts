import { createHash } from 'node:crypto'

export type ListedTool = {
  readonly name: string
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined
}

/** Schema of the structured content of a refused call. */
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
 * Extends the output schema of each paid tool by the refusal. Without it, clients throw on the structured content of a refusal, and
 * nobody sees its message.
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

/**
 * Gives the schema an `$id`. References such as `#/$defs/City` are relative to the nearest `$id`, so they stay valid inside
 * `anyOf`.
 */
function withBase(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(schema)
  if (schema['$id'] !== undefined || !text.includes('"$ref"')) return schema
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32)
  return { $id: `urn:tollgate:output:${digest}`, ...schema }
}
