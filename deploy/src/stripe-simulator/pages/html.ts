/** Text that stands in HTML as it is. */
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

/** A whole page; `content` is HTML. */
export function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
  input, button { padding: .5rem; margin: .25rem 0 1rem }
  .note { color: #666 } .wrong { color: #b00 }
</style>
<main>
<h1>${escapeHtml(title)}</h1>
${content}
<p class="note">This is Tollgate's simulator of Stripe. No money moves.</p>
</main>
</html>
`
}

/** Fields that go along with a form unseen. */
export function hidden(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
    .join('\n')
}
