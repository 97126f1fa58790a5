import { randomBytes } from 'node:crypto'

/** Leaves room for what sets it apart within the 63 characters that DNS gives a label. */
const slugCharsMax = 48

/** A label of DNS that reads like the text: `Acme Tools!` is `acme-tools`. */
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

/** What the host of an origin is called where nobody gave the product a name. */
export function nameOfOrigin(originUrl: string): string {
  return new URL(originUrl).hostname.replaceAll('.', '-')
}

/** The same, apart from others that wanted it too. */
export function setApart(slug: string): string {
  return `${slug}-${randomBytes(4).toString('hex')}`
}
