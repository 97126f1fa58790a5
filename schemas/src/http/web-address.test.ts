import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { mcpBootstrapSchema } from './mcp.ts'
import { merchantUpdateSchema } from './merchants.ts'
import { productCreateSchema, productUpdateSchema } from './products.ts'
import { checkoutSessionCreateSchema } from './sessions.ts'

/* All stored addresses that people open. */

const origin = { originUrl: 'https://mcp.example.com' }
const stored: readonly (readonly [string, z.ZodType, object])[] = [
  ['returnUrl', checkoutSessionCreateSchema, { customerRef: 'cus_a' }],
  ['imageUrl', productCreateSchema, { name: 'API' }],
  ['imageUrl', productUpdateSchema, { config: {}, metadata: {} }],
  ['imageUrl', mcpBootstrapSchema, origin],
  ['supportUrl', merchantUpdateSchema, {}],
  ['termsUrl', merchantUpdateSchema, {}],
  ['privacyUrl', merchantUpdateSchema, {}],
]

describe.each(stored)('%s', (name, schema, others) => {
  const isAccepted = (value: unknown): boolean =>
    schema.safeParse({ ...others, [name]: value }).success

  it.each([
    'https://example.com',
    'http://localhost:3000/back?a=1#top',
    'HTTPS://example.com/%20',
    'https://bücher.example/ü',
  ])('accepts %s', (url) => {
    expect(isAccepted(url)).toBe(true)
  })

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://example.com',
    '//example.com',
    '/back',
    'example.com',
    'https:example.com',
    'https:\\\\example.com',
    'https://user:pass@example.com',
    'https://example.com@evil.example',
    'https://exa\nmple.com',
    'https://example.com/\u0001',
    'https://example.com/a b',
    ' https://example.com',
    'https://',
    `https://example.com/${'a'.repeat(20_000)}`,
  ])('refuses %j', (url) => {
    expect(isAccepted(url)).toBe(false)
  })
})
