import { randomBytes } from 'node:crypto'

/** Leaves room for a random suffix within the 63 characters of a DNS label. */
const slugCharsMax = 48

/** Returns a DNS label that resembles the text: `acme-tools` for `Acme Tools!`. */
export function slugOf(text: string): string {
  const slug = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, slugCharsMax)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? 'mcp' : slug
}

/** Returns a product name derived from the host of the MCP server, for products without a name. */
export function nameOfOrigin(originUrl: string): string {
  return new URL(originUrl).hostname.replaceAll('.', '-')
}

/** Returns the label with a random suffix. */
export function withRandomSuffix(slug: string): string {
  return `${slug}-${randomBytes(4).toString('hex')}`
}
