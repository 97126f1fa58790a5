import type { ReactElement } from 'react'
import { resolveSchema, type ApiDescription, type Schema } from './description-document.ts'
import { InlineMarkdown } from './markdown.tsx'

type SchemaProps = { readonly description: ApiDescription; readonly schema: Schema }

/** Maximum depth of listed fields. Examples show deeper levels. */
const depthMax = 4

/** Lists the fields of a body, or of each alternative of a body. */
export function SchemaFields({
  description,
  schema: given,
  depth = 0,
}: SchemaProps & { readonly depth?: number }): ReactElement | null {
  const schema = resolveSchema(description, given)
  const kinds = alternatives(schema)
  if (kinds.length > 1) {
    const described = kinds.filter((kind) => hasFields(description, kind))
    return (
      <>
        {described.map((kind, index) => (
          <div key={index}>
            {described.length > 1 && <p className="quiet small">Form {index + 1}</p>}
            <SchemaFields description={description} schema={kind} depth={depth} />
          </div>
        ))}
      </>
    )
  }
  const { items, properties = {}, required = [] } = merged(description, kinds[0] ?? schema)
  if (items !== undefined) {
    return <SchemaFields description={description} schema={items} depth={depth} />
  }
  const names = Object.keys(properties)
  if (names.length === 0 || depth > depthMax) return null
  return (
    <ul className="fields-list">
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          isRequired={required.includes(name)}
          description={description}
          schema={properties[name]!}
          depth={depth}
        />
      ))}
    </ul>
  )
}

type FieldProps = SchemaProps & {
  readonly name: string
  readonly isRequired: boolean
  readonly depth: number
  /** Description of the field if it differs from the description in the schema. */
  readonly words?: string | undefined
}

export function Field(props: FieldProps): ReactElement {
  const { name, isRequired, description, schema: given, depth, words } = props
  const schema = resolveSchema(description, given)
  const text = words ?? schema.description
  return (
    <li>
      <code className="field-name">{name}</code>{' '}
      <span className="quiet small">{typeText(description, schema)}</span>{' '}
      {isRequired && <span className="required small">required</span>}
      {text !== undefined && (
        <p className="small">
          <InlineMarkdown text={text} />
        </p>
      )}
      {hasFields(description, schema) && depth < depthMax && (
        <details>
          <summary className="small">Fields of {name}</summary>
          <SchemaFields description={description} schema={schema} depth={depth + 1} />
        </details>
      )}
    </li>
  )
}

function hasFields(description: ApiDescription, given: Schema): boolean {
  const schema = merged(description, resolveSchema(description, given))
  if (Object.keys(schema.properties ?? {}).length > 0) return true
  return [...(schema.items === undefined ? [] : [schema.items]), ...alternatives(schema)].some(
    (each) => each !== given && each !== schema && hasFields(description, each),
  )
}

/** Returns the alternatives of a schema, without `null`. */
function alternatives(schema: Schema): readonly Schema[] {
  const kinds = schema.anyOf ?? schema.oneOf
  return kinds === undefined ? [schema] : kinds.filter(({ type }) => type !== 'null')
}

function merged(description: ApiDescription, given: Schema): Schema {
  const schema = resolveSchema(description, given)
  if (schema.allOf === undefined) return schema
  const parts = schema.allOf.map((part) => merged(description, part))
  return {
    ...schema,
    properties: Object.assign(
      {},
      schema.properties,
      ...parts.map((part) => part.properties),
    ) as Record<string, Schema>,
    required: [...(schema.required ?? []), ...parts.flatMap((part) => part.required ?? [])],
  }
}

/** Returns the type and its limits, as in `string, 1 to 256 characters, default "usd"`. */
function typeText(description: ApiDescription, schema: Schema): string {
  return [typeName(description, schema), ...limitTexts(schema)].join(', ')
}

function typeName(description: ApiDescription, given: Schema): string {
  const schema = resolveSchema(description, given)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(' | ')
  const kinds = schema.anyOf ?? schema.oneOf
  if (kinds !== undefined) {
    return [...new Set(kinds.map((kind) => typeName(description, kind)))].join(' | ')
  }
  if (schema.items !== undefined) return `array of ${typeName(description, schema.items)}`
  if (schema.type === undefined) return schema.properties === undefined ? 'any' : 'object'
  return typeof schema.type === 'string' ? schema.type : schema.type.join(' | ')
}

/** Limits at or above this number tell a client nothing and are omitted. */
const shownNumberMax = Number.MAX_SAFE_INTEGER

function limitTexts(schema: Schema): readonly string[] {
  const { minLength, maxLength, minItems, maxItems, format } = schema
  const low = schema.minimum ?? schema.exclusiveMinimum
  const high = schema.maximum ?? schema.exclusiveMaximum
  return [
    ...(format === undefined ? [] : [format]),
    ...rangeTexts(minLength, maxLength, 'characters'),
    ...rangeTexts(minItems, maxItems, 'entries'),
    ...rangeTexts(
      low !== undefined && low > -shownNumberMax ? low : undefined,
      high !== undefined && high < shownNumberMax ? high : undefined,
      '',
    ),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ]
}

function rangeTexts(low: number | undefined, high: number | undefined, unit: string): string[] {
  const words = (text: string): string[] => [`${text} ${unit}`.trim()]
  if (low !== undefined && high !== undefined) return words(`${low} to ${high}`)
  if (low !== undefined) return words(`at least ${low}`)
  return high === undefined ? [] : words(`at most ${high}`)
}
