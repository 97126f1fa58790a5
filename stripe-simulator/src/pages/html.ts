import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const readPublic = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Stylesheet of all pages: that of the hosted pages and the simulator's own. Its URL changes with its content. */
export const stylesheet = `${readPublic('../control-plane/public/pages.css')}
${readPublic('public/simulator.css')}`
const digest = createHash('sha256').update(stylesheet).digest('hex').slice(0, 16)

/** Returns the text escaped for HTML content and attribute values. */
export function escapeHtml(text: string): string {
  const names: Record<string, string> = {
    '&': 'amp',
    '<': 'lt',
    '>': 'gt',
    '"': 'quot',
    "'": '#39',
  }
  return text.replaceAll(/[&<>"']/g, (letter) => `&${names[letter]};`)
}

/** Returns a whole page; `content` is HTML. */
export function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/_simulator/pages.css?${digest}">
<header class="sandbox">Stripe simulator. No money moves.</header>
<main class="wide">
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</html>
`
}

/** Returns hidden fields of a form. */
export function hiddenFields(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
    .join('\n')
}
