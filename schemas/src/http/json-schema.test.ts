import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as customers from './customers.ts'
import * as errors from './errors.ts'
import * as limits from './limits.ts'
import * as meterEvents from './meter-events.ts'
import * as meters from './meters.ts'
import * as plans from './plans.ts'
import * as products from './products.ts'
import * as purchases from './purchases.ts'
import * as usages from './usages.ts'
import * as userInfo from './user-info.ts'

const resources = {
  customers,
  errors,
  limits,
  meterEvents,
  meters,
  plans,
  products,
  purchases,
  usages,
  userInfo,
}

const schemas = Object.entries(resources).flatMap(([resource, exported]) =>
  Object.entries(exported)
    .filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType)
    .map(([name, schema]) => ({ name: `${resource}.${name}`, schema })),
)

describe('the API description has a JSON schema of every schema', () => {
  it.each(schemas)('$name', ({ schema }) => {
    for (const io of ['input', 'output'] as const) {
      const described = z.toJSONSchema(schema, { io })
      expect(described.type ?? described.anyOf).toBeDefined()
    }
  })

  it('covers all resources', () => {
    expect(schemas.length).toBeGreaterThan(35)
  })

  it('describes free-form objects as objects and optional fields as optional', () => {
    const described = z.toJSONSchema(usages.usageSchema, { io: 'input' })
    expect(described.required).toEqual(['customerRef'])
    expect(described.properties?.['metadata']).toMatchObject({ type: 'object' })
  })
})
