import { readFile } from 'node:fs/promises'
import { Ajv, type ValidateFunction } from 'ajv'

type Schema = { [name: string]: unknown }

const specificationId = 'stripe'

/**
 * Validates objects against Stripe's description. Unknown fields are errors. Where an object may replace its id, any object is
 * accepted.
 */
export class StripeSchemas {
  readonly #ajv = new Ajv({ strict: false, validateFormats: false })
  readonly #schemas: Readonly<Record<string, Schema>>
  readonly #validators = new Map<string, ValidateFunction>()

  private constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas
    this.#ajv.addSchema({ $id: specificationId, components: { schemas } })
  }

  static async read(path: string): Promise<StripeSchemas> {
    const text = await readFile(path, 'utf8')
    const { components } = JSON.parse(text) as {
      components: { schemas: Readonly<Record<string, Schema>> }
    }
    return new StripeSchemas(asJsonSchema(components.schemas) as Record<string, Schema>)
  }

  /** Returns one line for each error. Lists are validated by their items, events also by their object. */
  validate(answer: unknown): readonly string[] {
    const { object, data, deleted } = answer as {
      object?: unknown
      data?: unknown
      deleted?: unknown
    }
    if (object === 'list' && Array.isArray(data)) {
      return data.flatMap((each) => this.validate(each))
    }
    if (object === 'event') {
      const about = (data as { readonly object: unknown }).object
      return [...this.validate(about), ...this.#judge('event', answer)]
    }
    if (typeof object !== 'string') return ['It has no name of its kind.']
    return this.#judge(deleted === true ? `deleted_${object}` : object, answer)
  }

  #judge(object: string, answer: unknown): readonly string[] {
    const validate = this.#validatorOf(object)
    if (validate(answer)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message = '', params }) =>
        `${object}${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  #validatorOf(object: string): ValidateFunction {
    const known = this.#validators.get(object)
    if (known !== undefined) return known
    const schema = this.#schemas[object]
    if (schema === undefined) throw new Error(`Stripe has no ${object}.`)
    const reference = `${specificationId}-${object}`
    const absolute = JSON.parse(
      JSON.stringify(schema).replaceAll('"$ref":"#', `"$ref":"${specificationId}#`),
    ) as Schema
    const validate = this.#ajv.compile({ ...absolute, $id: reference, additionalProperties: false })
    this.#validators.set(object, validate)
    return validate
  }
}

/** Converts `nullable` of OpenAPI 3.0 to a JSON Schema type. */
function asJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asJsonSchema)
  if (typeof value !== 'object' || value === null) return value
  const { nullable, ...schema } = value as Schema
  const inner = 'x-expansionResources' in schema ? withAnyObject(schema) : schema
  const entries = Object.entries(inner).map(([name, each]) => [name, asJsonSchema(each)])
  const converted = Object.fromEntries(entries) as Schema
  return nullable === true ? { anyOf: [converted, { type: 'null' }] } : converted
}

function withAnyObject(schema: Schema): Schema {
  return { anyOf: [{ type: 'string' }, { type: 'object' }], description: schema['description'] }
}
